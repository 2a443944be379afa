// Tests what the administrators' view sends and reads.

import { describe, expect, it } from "vitest";
import { Formatter } from "../../i18n/format.ts";
import { FakeConsole } from "../../stories/fake_console.ts";
import { researchStories } from "../../stories/research_states.ts";
import { ConsoleApi } from "../api.ts";
import { type PersonRow, peopleOf as readPeople, studyOf } from "../model/rows.ts";
import { operatedOf } from "../research_store.ts";
import { stateText } from "../view_model.ts";
import { en } from "../words/en.ts";
import { ceilingOf } from "./ceiling_form.ts";
import { afterPress, FIRST_VIEW, fractionOf, peopleOf } from "./people_table.ts";
import { changedQuota, quotaTexts } from "./quota_form.ts";
import { shareOf } from "./share_form.ts";

function form(fields: Readonly<Record<string, string>>): FormData {
  const out = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    out.set(name, value);
  }
  return out;
}

describe("A share of the form", () => {
  it("has the usual weight for an empty field, and one project a line", () => {
    const given = { scope: "project", name: " Birds ", weight: "", lends: "Moon\n\n * \n" };
    expect(shareOf(form(given))).toEqual({
      scope: "project",
      name: "Birds",
      weight: null,
      guaranteed: 0,
      lends: ["Moon", "*"],
    });
  });

  it("lends nothing for a researcher", () => {
    const given = { scope: "researcher", name: "ada", weight: "200", guaranteed: "3", lends: "*" };
    expect(shareOf(form(given))).toEqual({
      scope: "researcher",
      name: "ada",
      weight: 200,
      guaranteed: 3,
      lends: [],
    });
  });
});

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

describe("A quota of the form", () => {
  const before = { studies: 20, trials: 1_000_000, bytes: 10_737_418_240 };

  it("has only what was changed, so that a rounded size changes nothing", () => {
    expect(quotaTexts(before)).toEqual({ studies: "20", trials: "1000000", bytes: "10.74" });
    expect(changedQuota(form(quotaTexts(before)), before)).toEqual({});
    const texts = { ...quotaTexts(before), trials: "64" };
    expect(changedQuota(form(texts), before)).toEqual({ trials: 64 });
  });

  it("has sizes in bytes, and no limit for an empty field", () => {
    const given = { studies: "", trials: "0", bytes: "0.5" };
    expect(changedQuota(form(given), before)).toEqual({ studies: 0, trials: 0, bytes: 5e8 });
  });

  it("shows no exponents", () => {
    for (const bytes of [0, 1, 999, 52_428_800, Number.MAX_SAFE_INTEGER]) {
      const text = quotaTexts({ studies: 0, trials: 0, bytes }).bytes;
      expect(Number.isFinite(Number(text)), text).toBe(true);
    }
  });
});

describe("The table of people", () => {
  const { people } = readPeople({
    researchers: researchStories.operate.rows.people,
    room: 1,
    more: false,
  });
  const names = (rows: readonly PersonRow[]) => rows.map(({ name }) => name);

  it("begins with those who wait for a decision", () => {
    expect(names(peopleOf(people, FIRST_VIEW))).toEqual([
      "heidi",
      "root",
      "Aoki Lab",
      "grace",
      "ivan",
    ]);
  });

  it("finds a part of a name in any case, and one state alone", () => {
    expect(names(peopleOf(people, { ...FIRST_VIEW, find: " LAB" }))).toEqual(["Aoki Lab"]);
    expect(names(peopleOf(people, { ...FIRST_VIEW, state: "suspended" }))).toEqual(["grace"]);
    expect(peopleOf(people, { ...FIRST_VIEW, find: "lab", state: "pending" })).toEqual([]);
  });

  it.each(["studies", "trials", "stored", "records"] as const)(
    "shows who uses most %s at the first press",
    (column) => {
      const pressed = afterPress(FIRST_VIEW, column);
      expect(names(peopleOf(people, pressed)).slice(0, 2)).toEqual(["Aoki Lab", "grace"]);
      expect(names(peopleOf(people, afterPress(pressed, column))).at(-1)).toBe("Aoki Lab");
    },
  );

  it("sorts names from the first letter on", () => {
    const pressed = afterPress({ ...FIRST_VIEW, descending: true }, "name");
    expect(names(peopleOf(people, pressed))).toEqual([
      "Aoki Lab",
      "grace",
      "heidi",
      "ivan",
      "root",
    ]);
  });

  it("says which part of a limit is used", () => {
    expect([fractionOf(3, 20), fractionOf(30, 20), fractionOf(3, 0)]).toEqual([0.15, 1, null]);
  });
});

it("The view has what waits, and all people, projects, bars and ceilings", async () => {
  const operated = await operatedOf(new FakeConsole(researchStories.operate.rows));
  expect(operated.warnings).toEqual(["backup_failed", "of_a_later_server"]);
  expect(operated.awaiting.map(({ study }) => study)).toEqual([7]);
  expect(operated.people.map(({ name, reason }) => [name, reason !== ""])).toEqual([
    ["root", false],
    ["Aoki Lab", false],
    ["grace", true],
    ["heidi", false],
    ["ivan", true],
  ]);
  expect(operated).toMatchObject({ morePeople: false, room: 50e9 });
  expect(operated.projects.map(({ name, isFrozen }) => [name, isFrozen])).toEqual([
    ["First project", false],
    ["Birds", true],
  ]);
  expect(operated.barred).toHaveLength(1);
  expect(operated.ceilings[1]).toMatchObject({ name: "Birds", timeLimitMs: null, devices: 0 });
  expect(operated.shares.map(({ name, weight, lends }) => [name, weight, lends.length])).toEqual([
    ["Birds", null, 2],
    ["Aoki Lab", 400, 0],
  ]);
});

it("Says that there are more people, but not beyond what the page can show", async () => {
  const [one] = researchStories.operate.rows.people ?? [];
  const people = Array.from({ length: 5_001 }, (_, i) => ({ ...one, researcher: i + 1 }));
  const api = new FakeConsole({ ...researchStories.operate.rows, people });
  const few = await operatedOf(api, 500);
  expect([few.people.length, few.morePeople]).toEqual([500, true]);
  const most = await operatedOf(api, 5_000);
  expect([most.people.length, most.morePeople]).toEqual([5_000, false]);
});

it("Reads a reason as long as the server takes", async () => {
  const reason = "理".repeat(500);
  const { people = [], projects = [], barred = [], ...rows } = researchStories.operate.rows;
  const operated = await operatedOf(
    new FakeConsole({
      ...rows,
      people: [{ ...people[2], reason }],
      projects: [{ ...projects[1], frozen: { at: 1, reason } }],
      barred: [{ ...barred[0], reason }],
    }),
  );
  expect(operated.people[0]?.reason).toBe(reason);
  expect(operated.projects[0]?.reason).toBe(reason);
  expect(operated.barred[0]?.reason).toBe(reason);
  const row = researchStories.study_running.rows.studies[0];
  expect(studyOf({ ...row, held: { code: "project_frozen", reason } }).held?.reason).toBe(reason);
});

it.each([
  [200, { status: "ready" }, []],
  [200, { status: "ready", warnings: ["backup_failed"] }, ["backup_failed"]],
  [503, { error: { code: "disk_full", message: "Full." } }, ["disk_full"]],
])("Says what is wrong with the server: %i %o", async (status, body, codes) => {
  const api = new ConsoleApi("hfa_x", async () => new Response(JSON.stringify(body), { status }));
  expect(await api.warnings()).toEqual(codes);
});

it.each([
  [500, { error: { code: "internal", message: "No." } }],
  [200, { status: "ready", warnings: [1] }],
  [200, { status: "ready", warnings: "x" }],
])("Fails for another answer about the server: %i %o", async (status, body) => {
  const api = new ConsoleApi("hfa_x", async () => new Response(JSON.stringify(body), { status }));
  await expect(api.warnings()).rejects.toThrow();
});

it("Each change is one request", async () => {
  const sent: unknown[] = [];
  const api = new ConsoleApi("hfa_x", async (path, { method, body }) => {
    sent.push([method, path, JSON.parse(String(body))]);
    return new Response("{}");
  });
  await api.approve(3);
  await api.refuse(3, "no");
  await api.changePerson(2, { state: "suspended", reason: "hot" });
  await api.changePerson(2, { state: "active" });
  await api.changePerson(2, { quota: { trials: 64 } });
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
  const share = { name: "ada", weight: 200, guaranteed: 3, lends: [] };
  await api.setShare({ ...share, scope: "researcher" });
  await api.setShare({ ...share, scope: "project", weight: null });
  expect(sent).toEqual([
    ["POST", "/api/studies/3/approve", {}],
    ["POST", "/api/studies/3/refuse", { reason: "no" }],
    ["POST", "/api/researchers/2", { state: "suspended", reason: "hot" }],
    ["POST", "/api/researchers/2", { state: "active" }],
    ["POST", "/api/researchers/2", { quota: { trials: 64 } }],
    ["POST", "/api/projects/1/freeze", { reason: "hot" }],
    ["POST", "/api/projects/1/unfreeze", {}],
    ["POST", "/api/barred/ab", { reason: "" }],
    ["POST", "/api/barred/ab/lift", {}],
    [
      "POST",
      "/api/ceilings",
      { scope: "server", time_limit_ms: null, devices: 4, data_bytes: null, approval: true },
    ],
    ["POST", "/api/shares", { scope: "researcher", name: "ada", weight: 200, guaranteed: 3 }],
    ["POST", "/api/shares", { ...share, scope: "project", weight: null }],
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

it("Sizes are in a unit that suits them", () => {
  const format = new Formatter("en");
  const sizes = [812, 3_400, 12e6, 10_737_418_240, 2e12, 9e15].map((bytes) => format.size(bytes));
  expect(sizes).toEqual(["812 byte", "3.4 kB", "12 MB", "10.7 GB", "2 TB", "9,000 TB"]);
});
