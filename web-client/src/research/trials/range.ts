// A range that the reader has chosen on the axis of a plot: numbers between two ends, and other values by their texts. Page
// thread; pure.

export interface Range {
  /** The ends, both of which belong to the range. Without numbers `least` is larger than `most`. */
  readonly least: number;
  readonly most: number;
  /** The texts of other values in the range, such as `None` or `Adam`. */
  readonly others: ReadonlySet<string>;
}

export const isFiniteNumber = (cell: unknown): cell is number =>
  typeof cell === "number" && Number.isFinite(cell);

/** Returns how a value that is no finite number is written. */
export function otherText(cell: unknown): string {
  return typeof cell === "boolean" ? (cell ? "True" : "False") : (cell ?? "None").toString();
}

/** Returns whether a cell is in the range. A missing one never is. */
export function isWithin({ least, most, others }: Range, cell: unknown): boolean {
  return isFiniteNumber(cell)
    ? least <= cell && cell <= most
    : cell !== undefined && others.has(otherText(cell));
}
