import { signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import type { StudyRow } from "../model/rows.ts";
import { noTrials, withRows } from "../model/study_data.ts";
import { columnKey } from "./columns.ts";
import { manyTrials, trial } from "./trial.fixture.ts";
import { TrialsStore } from "./trials_store.ts";

function storeOf(trials: ReturnType<typeof manyTrials>) {
  const data = signal(withRows(noTrials(7), trials, trials.length));
  const study = signal<StudyRow | null>(null);
  const store = new TrialsStore(data, study);
  const numbers = () => store.rows.value.map((row) => row.trial);
  return { data, study, store, numbers };
}

describe("the rows of the table", () => {
  it("are those that match the state and the expression, in order", () => {
    const { store, numbers } = storeOf(manyTrials(1_000));
    expect(numbers()).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
    store.choose({ state: "failed" });
    expect(numbers()).toHaveLength(20);
    store.choose({ state: "all", filter: 'optimizer == "SGD" and trial < 10' });
    expect(numbers()).toEqual([1, 4, 7]);
    store.pressColumn("trial");
    expect(numbers()).toEqual([7, 4, 1]);
  });

  it("stay those of the last filter that was understood, while the next is typed", () => {
    const { store, numbers } = storeOf(manyTrials(100));
    store.choose({ filter: "trial < 3" });
    expect(numbers()).toEqual([0, 1, 2]);
    store.choose({ filter: "trial < 3 and" });
    expect(numbers()).toEqual([0, 1, 2]);
    expect(store.problem.value?.code).toBe("ends_early");
    store.choose({ filter: " " });
    expect(numbers()).toHaveLength(100);
    expect(store.problem.value).toBeNull();
  });

  it("get what arrives, in its place", () => {
    const { data, store, numbers } = storeOf([trial(2), trial(0)]);
    store.choose({ filter: "trial > 0" });
    expect(numbers()).toEqual([2]);
    data.value = withRows(data.value, [trial(1), trial(3), trial(2, { values: [9] })], 9);
    expect(numbers()).toEqual([1, 2, 3]);
    expect(store.rows.value[1]?.values).toEqual([9]);
  });

  it("are the same object while nothing of them changes, so that nothing is drawn again", () => {
    const { study, store } = storeOf(manyTrials(50));
    const rows = store.rows.value;
    const columns = store.columns.value;
    study.value = { names: ["lr"] } as unknown as StudyRow;
    const named = store.columns.value;
    study.value = { names: ["lr"] } as unknown as StudyRow;
    expect(store.columns.value).toBe(named);
    expect(columns).not.toBe(named);
    store.choose({ active: { trial: 3, key: "state" } });
    expect(store.rows.value).toBe(rows);
  });

  it("put the best on top first, whichever objective is maximized", () => {
    const trials = [1, 2, 3].map((i) => trial(i, { values: [i, -i] }));
    const { study, store, numbers } = storeOf(trials);
    study.value = { names: [], directions: ["minimize", "maximize"] } as unknown as StudyRow;
    store.pressColumn("value:1");
    expect(numbers()).toEqual([1, 2, 3]);
    store.pressColumn("value:0");
    expect(numbers()).toEqual([1, 2, 3]);
    store.pressColumn("value:0");
    expect(numbers()).toEqual([3, 2, 1]);
  });
});

describe("ranges", () => {
  it("of plots narrow the rows together with the filter, until they are taken away", () => {
    const { store, numbers } = storeOf(manyTrials(40));
    store.chooseRange("param:drop", { least: 0, most: 0.05, others: new Set(["None"]) });
    store.chooseRange("param:optimizer", { least: 1, most: 0, others: new Set(["Adam"]) });
    expect(numbers()).toEqual([0, 3, 12, 24, 36]);
    store.choose({ filter: "trial > 3" });
    expect(numbers()).toEqual([12, 24, 36]);
    store.chooseRange("param:drop", null);
    store.chooseRange("param:of_another_study", { least: 0, most: 1, others: new Set() });
    expect(numbers()).toEqual([6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39]);
  });

  it("of 100,000 trials read each cell once", () => {
    const { store } = storeOf(manyTrials(100_000));
    store.chooseRange("param:width", { least: 8, most: 16, others: new Set() });
    const wanted = manyTrials(100_000).filter(({ trial }) => trial % 13 < 2);
    expect(store.rows.value).toHaveLength(wanted.length);
    expect(store.matches.value.reduce((sum, one) => sum + one, 0)).toBe(wanted.length);
  });
});

describe("the columns", () => {
  it("are chosen one by one, and the trial's number always stays", () => {
    const { store } = storeOf(manyTrials(10));
    const shown = () => store.shown.value.map(columnKey);
    store.showColumn("param:lr", false);
    expect(shown()).not.toContain("param:lr");
    store.showColumn("trial", false);
    expect(shown()).toContain("trial");
    store.showColumn("param:lr", true);
    expect(shown()).toContain("param:lr");
    store.clear();
    expect(store.choice.value.shown).toBeNull();
  });
});
