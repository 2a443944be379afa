// Chooses and sorts the rows of the table of people. Page thread; pure.

import type { PersonRow } from "../model/rows.ts";

export const peopleColumns = ["name", "state", "studies", "trials", "stored", "records"] as const;
export type PeopleColumn = (typeof peopleColumns)[number];

export type PersonState = PersonRow["state"];
export const personStates = ["pending", "active", "suspended", "refused"] as const;

export interface PeopleView {
  /** A part of the names to show; empty shows all. */
  readonly find: string;
  readonly state: PersonState | "all";
  readonly column: PeopleColumn;
  readonly descending: boolean;
}

/** Who waits for a decision comes first. */
export const FIRST_VIEW: PeopleView = {
  find: "",
  state: "all",
  column: "state",
  descending: false,
};

type Order = (a: PersonRow, b: PersonRow) => number;

const ORDERS: Readonly<Record<PeopleColumn, Order>> = {
  name: (a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)),
  state: (a, b) => personStates.indexOf(a.state) - personStates.indexOf(b.state),
  studies: (a, b) => a.used.studies - b.used.studies,
  trials: (a, b) => a.used.trials - b.used.trials,
  stored: (a, b) => a.used.bytes - b.used.bytes,
  records: (a, b) => a.stored.records - b.stored.records,
};

/** Returns the view after the heading of a column was pressed. Numbers begin with the largest. */
export function afterPress(view: PeopleView, column: PeopleColumn): PeopleView {
  const descending =
    view.column === column ? !view.descending : column !== "name" && column !== "state";
  return { ...view, column, descending };
}

/** Returns the chosen rows in the chosen order; rows that are equal in it stay in the server's. */
export function peopleOf(people: readonly PersonRow[], view: PeopleView): readonly PersonRow[] {
  const find = view.find.trim().toLowerCase();
  const order = ORDERS[view.column];
  return people
    .filter(({ name }) => name.toLowerCase().includes(find))
    .filter(({ state }) => view.state === "all" || state === view.state)
    .sort((a, b) => (view.descending ? order(b, a) : order(a, b)));
}

/** Returns which part of a limit is used, from 0 to 1; null if there is no limit. */
export function fractionOf(used: number, limit: number): number | null {
  return limit === 0 ? null : Math.min(1, used / limit);
}
