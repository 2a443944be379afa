// What the reader has chosen in the trials table, as one object, and the rows that follow from it. Page thread.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { StudyRow, TrialRow, TrialState } from "../model/rows.ts";
import type { StudyData } from "../model/study_data.ts";
import { type Column, cellReader, columnKey, columnsOf, firstKeys } from "./columns.ts";
import { compiled, FilterError, type Predicate, parsed } from "./filter.ts";
import { readerNamed } from "./names.ts";
import { byNumber, type Keys, keysOf, ordered, type Sort, sortAfterPress } from "./order.ts";
import { isWithin, type Range } from "./range.ts";

export type FilterState = TrialState | "all";

export interface TableChoice {
  readonly state: FilterState;
  /** The text of the filter as the reader typed it. */
  readonly filter: string;
  readonly sort: Sort;
  /** The keys of the shown columns; null: those that are shown at first. */
  readonly shown: ReadonlySet<string> | null;
  /** The ranges that the reader has chosen in plots, by their columns' keys. Trials outside of one do not match. */
  readonly ranges: ReadonlyMap<string, Range>;
  /** The active cell, by its trial and its column's key. Trial -1 is the row of headings. */
  readonly active: { readonly trial: number; readonly key: string } | null;
}

export const FIRST_CHOICE: TableChoice = {
  state: "all",
  filter: "",
  sort: { key: "trial", descending: false },
  shown: null,
  ranges: new Map(),
  active: null,
};

/** The predicate of a filter's text, or what is wrong with it. */
type Filter =
  | { readonly keeps: Predicate<TrialRow> | null; readonly problem: null }
  | { readonly keeps: null; readonly problem: FilterError };

export class TrialsStore {
  readonly choice: Signal<TableChoice> = signal(FIRST_CHOICE);
  /** All columns that the study's trials have. */
  readonly columns: ReadonlySignal<readonly Column[]>;
  /** The columns that are shown. */
  readonly shown: ReadonlySignal<readonly Column[]>;
  /** Why the filter's text is not understood; null if it is. Then the last filter that was understood still holds. */
  readonly problem: ReadonlySignal<FilterError | null>;
  /** The rows that match, in order. */
  readonly rows: ReadonlySignal<readonly TrialRow[]>;

  /** For each row of the study's data, in their order, 1 if it matches, and else 0. */
  readonly matches: ReadonlySignal<Uint8Array>;

  readonly #data: Signal<StudyData>;
  readonly #study: Signal<StudyRow | null>;
  readonly #filter: ReadonlySignal<Filter>;
  #lastGood: { readonly study: number; readonly keeps: Predicate<TrialRow> | null } | null = null;

  constructor(data: Signal<StudyData>, study: Signal<StudyRow | null>) {
    this.#data = data;
    this.#study = study;
    const trials = computed(() => data.value.trials);
    // Each refresh brings a new list of the same names. As one text they compare as equal.
    const names = computed(() => JSON.stringify(study.value?.names ?? []));
    this.columns = computed(() => columnsOf(JSON.parse(names.value) as string[], trials.value));
    const chosen = computed(() => this.choice.value.shown);
    this.shown = computed(() => {
      const keys = chosen.value ?? new Set(firstKeys(this.columns.value));
      return this.columns.value.filter(
        (column) => column.kind === "trial" || keys.has(columnKey(column)),
      );
    });
    const text = computed(() => this.choice.value.filter);
    // As a text, the best trials of two refreshes compare as equal.
    const best = computed(() => {
      const { best: one = null, bestTrials = [] } = study.value ?? {};
      return (one === null ? bestTrials : [one.trial]).join();
    });
    this.#filter = computed(() => this.#filterOf(text.value, best));
    this.problem = computed(() => this.#filter.value.problem);
    const places = computed(() => byNumber(trials.value));
    const sortKey = computed(() => this.choice.value.sort.key);
    const keys = computed((): Keys | null => {
      const column = this.columns.value.find((one) => columnKey(one) === sortKey.value);
      return column === undefined || column.kind === "trial"
        ? null
        : keysOf(trials.value, cellReader(column));
    });
    const descending = computed(() => this.choice.value.sort.descending);
    // All rows are sorted, and then filtered: so a filter that is typed sorts nothing again.
    const sorted = computed(() => {
      if (keys.value !== null) {
        return ordered(places.value, keys.value, descending.value);
      }
      return descending.value ? places.value.slice().reverse() : places.value;
    });
    const state = computed(() => this.choice.value.state);
    // Rows are read in the order in which they lie in memory, which takes a fraction of the time of any other order.
    const ranges = computed(() => this.choice.value.ranges);
    this.matches = computed(() => {
      const within = [...ranges.value].flatMap(([key, range]) => {
        const column = this.columns.value.find((one) => columnKey(one) === key);
        return column === undefined ? [] : [{ read: cellReader(column), range }];
      });
      const only = state.value;
      const { keeps } = this.#filter.value.problem === null ? this.#filter.value : this.#kept();
      return Uint8Array.from(trials.value, (row) =>
        Number(
          (only === "all" || row.state === only) &&
            (keeps === null || keeps(row)) &&
            within.every(({ read, range }) => isWithin(range, read(row))),
        ),
      );
    });
    this.rows = computed(() => {
      const rows = trials.value;
      const isMatch = this.matches.value;
      const found: TrialRow[] = [];
      for (const place of sorted.value) {
        if (isMatch[place] === 1) {
          found.push(rows[place] as TrialRow);
        }
      }
      return found;
    });
  }

  /** Changes what the reader has chosen. */
  choose(change: Partial<TableChoice>): void {
    this.choice.value = { ...this.choice.value, ...change };
  }

  pressColumn(key: string): void {
    this.choose({ sort: sortAfterPress(this.choice.value.sort, key, this.#maximized()) });
  }

  /** Shows or hides a column. */
  showColumn(key: string, isShown: boolean): void {
    const keys = new Set(this.shown.value.map(columnKey));
    if (isShown) {
      keys.add(key);
    } else {
      keys.delete(key);
    }
    this.choose({ shown: keys });
  }

  /** Chooses a range of a column; null chooses all of it. */
  chooseRange(key: string, range: Range | null): void {
    const ranges = new Map(this.choice.value.ranges);
    if (range === null) {
      ranges.delete(key);
    } else {
      ranges.set(key, range);
    }
    this.choose({ ranges });
  }

  /** Forgets what the reader has chosen, because another study is shown. */
  clear(): void {
    this.#lastGood = null;
    this.choice.value = FIRST_CHOICE;
  }

  /** Returns the keys of the columns whose largest value is the best. */
  #maximized(): ReadonlySet<string> {
    const goals = this.#study.value?.directions ?? [];
    return new Set(goals.flatMap((goal, i) => (goal === "maximize" ? [`value:${i}`] : [])));
  }

  #kept(): { readonly keeps: Predicate<TrialRow> | null } {
    return this.#lastGood?.study === this.#data.value.study ? this.#lastGood : { keeps: null };
  }

  #filterOf(text: string, best: ReadonlySignal<string>): Filter {
    if (text.trim() === "") {
      this.#lastGood = null;
      return { keeps: null, problem: null };
    }
    const columns = this.columns.value;
    const params = new Set(columns.flatMap((one) => (one.kind === "param" ? [one.name] : [])));
    const values = columns.filter(({ kind }) => kind === "value").length;
    // Only a filter that names them depends on the best trials.
    const known = {
      params,
      values,
      get best() {
        return new Set(best.value.split(",").filter(Boolean).map(Number));
      },
    };
    try {
      const keeps = compiled(parsed(text), (name) => readerNamed(name, known));
      this.#lastGood = { study: this.#data.value.study, keeps };
      return { keeps, problem: null };
    } catch (error) {
      if (error instanceof FilterError) {
        return { keeps: null, problem: error };
      }
      throw error;
    }
  }
}
