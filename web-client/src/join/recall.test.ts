import type { Memories } from "@hyperflock/worker-runtime/page";
import { expect, it } from "vitest";
import { isKept, recall } from "./recall.ts";

const project = { code: "a", name: "A", owner: "o", usedAt: 1 };
const nothing: Memories = { projects: [], damaged: 0 };
const memory = (mirror: Memories, database: Memories) => ({
  atOnce: () => mirror,
  list: async () => database,
});

it("takes the remembered projects in place of a missing code", async () => {
  const both: Memories = { projects: [project, { ...project, code: "b" }], damaged: 1 };
  const { code, memories } = await recall({ kind: "missing" }, memory(nothing, both));
  expect(code).toEqual({ kind: "codes", codes: ["a", "b"], isMemory: true });
  expect(memories).toEqual(both);
});

it("does not wait for the database if the mirror has a project", async () => {
  const { atOnce } = memory({ projects: [project], damaged: 0 }, nothing);
  const never = { atOnce, list: () => new Promise<Memories>(() => {}) };
  expect((await recall({ kind: "missing" }, never)).code).toMatchObject({ codes: ["a"] });
});

it("leaves a link and a missing memory as they are", async () => {
  const link = { kind: "codes", codes: ["new"] } as const;
  const has = memory({ projects: [project], damaged: 3 }, nothing);
  expect(await recall(link, has)).toEqual({
    code: link,
    memories: { projects: [project], damaged: 0 },
  });
  expect((await recall({ kind: "missing" }, memory(nothing, nothing))).code.kind).toBe("missing");
});

it("believes the browser's promise only", async () => {
  const asked: string[] = [];
  const storage = {
    persist: async () => asked.push("persist") > 0,
    persisted: async () => asked.push("persisted") < 0,
  };
  expect([await isKept(storage, true), await isKept(storage, false)]).toEqual([true, false]);
  expect(asked).toEqual(["persist", "persisted"]);
  expect(await isKept(undefined, true)).toBe(false);
  const refuses = () => Promise.reject(new Error("SecurityError"));
  expect(await isKept({ persist: refuses, persisted: refuses }, true)).toBe(false);
});
