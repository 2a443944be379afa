// Tests what the administrator's view sends and reads.

import { describe, expect, it } from "vitest";
import { FakeConsole } from "../stories/fake_console.ts";
import { researchStories } from "../stories/research_states.ts";
import { ConsoleApi } from "./api.ts";
import { ceilingOf } from "./model/ceiling_form.ts";
import { studyOf } from "./model/rows.ts";
import { operatedOf } from "./research_store.ts";
import { stateText } from "./view_model.ts";
import { en } from "./words/en.ts";

function form(fields: Readonly<Record<string, string>>): FormData {
  const out = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    out.set(name, value);
  }
  return out;
}

describe("A ceiling of the form", () => {
  it("has the limits in the server's units, and null for empty fields", () => {
    const given = {
      scope: "project",
      name: " Birds ",
      minutes: "1.5",
      devices: "0",
      approval: "no",
    };
    expect(ceilingOf(form(given))).toEqual({
      scope: "project",
      name: "Birds",
      timeLimitMs: 90_000,
      devices: 0,
      dataBytes: null,
      approval: false,
    });
  });

  it("has no name for the whole server", () => {
    const ceiling = ceilingOf(
      form({ scope: "server", name: "Birds", megabytes: "2", approval: "" }),
    );
    expect(ceiling).not.toHaveProperty("name");
    expect(ceiling).toMatchObject({ dataBytes: 2_000_000, approval: null });
  });
});

it("The view has what waits, and all projects, bars and ceilings", async () => {
  const operated = await operatedOf(new FakeConsole(researchStories.operate.rows));
  expect(operated.awaiting.map(({ study }) => study)).toEqual([7]);
  expect(operated.projects.map(({ name, isFrozen }) => [name, isFrozen])).toEqual([
    ["First project", false],
    ["Birds", true],
  ]);
  expect(operated.barred).toHaveLength(1);
  expect(operated.ceilings[1]).toMatchObject({ name: "Birds", timeLimitMs: null, devices: 0 });
});

it("Each change is one request", async () => {
  const sent: unknown[] = [];
  const api = new ConsoleApi("hfa_x", async (path, { method, body }) => {
    sent.push([method, path, JSON.parse(String(body))]);
    return new Response("{}");
  });
  await api.approve(3);
  await api.refuse(3, "no");
  await api.freeze(1, "hot");
  await api.unfreeze(1);
  await api.bar("ab", "");
  await api.lift("ab");
  await api.setCeiling({
    scope: "server",
    timeLimitMs: null,
    devices: 4,
    dataBytes: null,
    approval: true,
  });
  expect(sent).toEqual([
    ["POST", "/api/studies/3/approve", {}],
    ["POST", "/api/studies/3/refuse", { reason: "no" }],
    ["POST", "/api/projects/1/freeze", { reason: "hot" }],
    ["POST", "/api/projects/1/unfreeze", {}],
    ["POST", "/api/barred/ab", { reason: "" }],
    ["POST", "/api/barred/ab/lift", {}],
    [
      "POST",
      "/api/ceilings",
      { scope: "server", time_limit_ms: null, devices: 4, data_bytes: null, approval: true },
    ],
  ]);
});

it.each([
  ["owner_suspended", en.held.states.stopped],
  ["approval_pending", en.held.states.awaiting],
  ["approval_refused", en.held.states.refused],
  ["of_a_later_server", en.held.states.stopped],
])("A study that is held says so: %s", (code, text) => {
  const row = researchStories.study_running.rows.studies[0];
  expect(stateText(studyOf({ ...row, held: { code } }), en)).toBe(text);
  expect(stateText(studyOf(row), en)).toBe(en.studyStates.running);
});
