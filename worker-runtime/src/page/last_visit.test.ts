// Tests what a visit stores for the next one. (The page's thread, with a fake storage.)

import { beforeEach, expect, test } from "vitest";
import type { VolunteerState } from "../page_contract/volunteer_state.ts";
import { LastVisit, type NoteStore } from "./last_visit.ts";

const trial = {
  study: 3,
  studyName: "mnist",
  owner: "ada",
  number: 7,
  total: 9,
  params: {},
  startedAt: 0,
  points: [],
};
const computing: VolunteerState = { phase: "computing", trial };

let kept: Map<string, string>;
let store: NoteStore;

beforeEach(() => {
  kept = new Map();
  store = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
});

const nextVisit = () => new LastVisit(store).read();

test("A tab that was killed in the middle of a trial is told of it at the next visit.", () => {
  new LastVisit(store).note(computing);
  expect(nextVisit()).toEqual({ during: "trial", study: 3, studyName: "mnist", number: 7 });
});

test("So is one that was dropped in the background.", () => {
  const visit = new LastVisit(store);
  visit.note(computing);
  visit.note({ phase: "paused", reason: "hidden" });
  expect(nextVisit()).toEqual({ during: "hidden" });
});

test.each<VolunteerState>([
  { phase: "waiting", reason: "no_work" },
  { phase: "stopped" },
  { phase: "paused", reason: "by_choice" },
  { phase: "failed", code: "c", message: "m" },
])("$phase leaves no note.", (state) => {
  const visit = new LastVisit(store);
  visit.note(computing);
  visit.note(state);
  expect(nextVisit()).toBeNull();
});

test("A page that is closed in good order leaves none, and work that begins removes an old one.", () => {
  const visit = new LastVisit(store);
  visit.note(computing);
  visit.close();
  expect(nextVisit()).toBeNull();
  new LastVisit(store).note(computing);
  new LastVisit(store).begin();
  expect(nextVisit()).toBeNull();
});

test("A page that was left stores nothing, until the browser shows it again.", () => {
  const visit = new LastVisit(store);
  visit.note(computing);
  visit.close();
  visit.note({ phase: "paused", reason: "hidden" });
  visit.note(computing);
  expect(nextVisit()).toBeNull();
  visit.reopen();
  visit.note(computing);
  expect(nextVisit()).toMatchObject({ during: "trial" });
});

test("A tab that computes nothing leaves another tab's note alone.", () => {
  new LastVisit(store).note(computing);
  const idle = new LastVisit(store);
  idle.note({ phase: "elsewhere" });
  idle.close();
  expect(nextVisit()).not.toBeNull();
});

test.each(["", "{", "7", "null", '{"during":"trial"}', '{"during":"trial","study":"3"}'])(
  "%j is no note",
  (text) => {
    kept.set("hyperflock.running", text);
    expect(nextVisit()).toBeNull();
  },
);

test("Forbidden storage is no failure.", () => {
  const forbidden = () => {
    throw new Error("SecurityError");
  };
  const visit = new LastVisit({ getItem: forbidden, setItem: forbidden, removeItem: forbidden });
  expect(visit.read()).toBeNull();
  visit.note(computing);
  visit.close();
});
