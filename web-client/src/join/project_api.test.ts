import { describe, expect, it } from "vitest";
import { fetchProject, parseProject } from "./project_api.ts";

const BODY = {
  project: { name: "Digits", owner: "Aoki Lab", studies: 1, trials_done: 3, trials_total: 8 },
};

const answering = (status: number, body: string) => async () => new Response(body, { status });

describe("fetchProject", () => {
  it("posts the code and nothing else", async () => {
    const asked: [string, RequestInit][] = [];
    const load = await fetchProject("hfe_1", async (path, init) => {
      asked.push([path, init]);
      return new Response(JSON.stringify(BODY));
    });
    expect(load).toEqual({
      kind: "ready",
      project: { name: "Digits", owner: "Aoki Lab", studies: 1, trialsDone: 3, trialsTotal: 8 },
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.[0]).toBe("/api/project");
    expect(asked[0]?.[1]).toMatchObject({
      method: "POST",
      body: '{"code":"hfe_1"}',
      credentials: "omit",
    });
    expect(asked[0]?.[1].signal).toBeInstanceOf(AbortSignal);
  });

  it.each([
    [400, "bad_code"],
    [403, "bad_code"],
    [422, "bad_code"],
    [429, "rate_limited"],
    [500, "server"],
    [503, "server"],
  ] as const)("turns status %i into %s", async (status, problem) => {
    expect(await fetchProject("c", answering(status, "{}"))).toEqual({ kind: "problem", problem });
  });

  it("says when nobody answers", async () => {
    const load = await fetchProject("c", () => Promise.reject(new TypeError("failed to fetch")));
    expect(load).toEqual({ kind: "problem", problem: "unreachable" });
  });

  it("does not trust an answer of another shape", async () => {
    for (const body of ["<html>", "[]", "{}", '{"project": null}']) {
      expect(await fetchProject("c", answering(200, body))).toEqual({
        kind: "problem",
        problem: "server",
      });
    }
  });
});

describe("parseProject", () => {
  it("ignores unknown fields", () => {
    expect(parseProject({ ...BODY, more: 1 })).not.toBeNull();
  });

  it.each(["name", "owner", "studies", "trials_done", "trials_total"])("needs %s", (field) => {
    expect(parseProject({ project: { ...BODY.project, [field]: undefined } })).toBeNull();
    expect(parseProject({ project: { ...BODY.project, [field]: -1 } })).toBeNull();
  });

  it("cuts a name that would fill the page", () => {
    const name = "x".repeat(1000);
    expect(parseProject({ project: { ...BODY.project, name } })?.name).toHaveLength(200);
  });
});
