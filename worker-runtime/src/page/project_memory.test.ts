// Tests what the page remembers of its projects, with the mirror alone. (tests/e2e/come_back.test.ts has the database.)

import { beforeEach, expect, test } from "vitest";
import { MAX_PROJECTS, MIRROR_KEY, type MirrorStore, ProjectMemory } from "./project_memory.ts";

let kept: Map<string, string>;
let mirror: MirrorStore;

beforeEach(() => {
  kept = new Map();
  mirror = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
});

const project = (code: string, usedAt = 1) => ({
  code,
  name: `Project ${code}`,
  owner: "o",
  usedAt,
});

test("A project is remembered for the next visit, the newest first, each once.", async () => {
  const memory = new ProjectMemory(mirror);
  expect(await memory.remember(project("a", 1))).toBe(true);
  expect(await memory.remember(project("b", 2))).toBe(true);
  expect(await memory.remember(project("a", 3))).toBe(true);
  const next = new ProjectMemory(mirror);
  expect(next.atOnce()).toEqual({ projects: [project("a", 3), project("b", 2)], damaged: 0 });
  expect(await next.list()).toEqual(next.atOnce());
});

test("One project changes nothing of another, whatever it calls itself.", async () => {
  const memory = new ProjectMemory(mirror);
  await memory.remember(project("a", 1));
  await memory.remember({ ...project("b", 2), name: "Project a" });
  expect(memory.atOnce().projects[1]).toEqual(project("a", 1));
  expect(await memory.remember({ ...project("c d"), name: "x" })).toBe(false);
});

test("A forgotten project is gone, and damaged records go with it.", async () => {
  const memory = new ProjectMemory(mirror);
  const records = [project("a"), { code: 7 }, null, { ...project("b"), usedAt: "1" }, project("c")];
  kept.set(MIRROR_KEY, JSON.stringify(records));
  expect(memory.atOnce()).toEqual({ projects: [project("a"), project("c")], damaged: 3 });
  await memory.forget("a");
  expect(memory.atOnce()).toEqual({ projects: [project("c")], damaged: 0 });
  await memory.forget("c");
  expect(kept.size).toBe(0);
});

test.each(["{", "7", '{"code":"a"}', "[[]]"])("%j is a damaged record", (text) => {
  kept.set(MIRROR_KEY, text);
  expect(new ProjectMemory(mirror).atOnce()).toEqual({ projects: [], damaged: 1 });
});

test("Only so many projects are remembered, and none is dropped for another.", async () => {
  const memory = new ProjectMemory(mirror);
  for (let i = 0; i < MAX_PROJECTS; i += 1) await memory.remember(project(`p${i}`, i + 1));
  expect(await memory.remember(project("more", 99))).toBe(false);
  expect(await memory.remember(project("p0", 100))).toBe(true);
  expect(memory.atOnce().projects).toHaveLength(MAX_PROJECTS);
});

test("Forbidden storage remembers nothing and fails nothing.", async () => {
  const forbidden = () => {
    throw new Error("SecurityError");
  };
  const memory = new ProjectMemory({
    getItem: forbidden,
    setItem: forbidden,
    removeItem: forbidden,
  });
  expect(await memory.remember(project("a"))).toBe(false);
  expect(await memory.list()).toEqual({ projects: [], damaged: 0 });
  await memory.forget("a");
  expect(await memory.deviceOf("a")).toMatchObject({ hasDevice: false });
});
