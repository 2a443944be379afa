// The numbers behind a plot as a table, which the page shows and saves as CSV. Page thread; pure.

import { textCell } from "../../model/export.ts";
import { otherText } from "../../trials/range.ts";

/** A cell: a number with all its digits, or a text. undefined: the plot has nothing there. */
export type PlotCell = number | string | undefined;

export interface PlotTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly PlotCell[])[];
}

/** Returns a value of a trial as a cell. */
export function plotCell(value: unknown): PlotCell {
  return value === undefined || typeof value === "number" ? value : otherText(value);
}

const cellOf = (cell: PlotCell) => (typeof cell === "number" ? String(cell) : textCell(cell ?? ""));

/** Writes the table as CSV (RFC 4180). */
export function tableCsv({ columns, rows }: PlotTable): string {
  const lines = [columns.map(textCell), ...rows.map((row) => row.map(cellOf))];
  return `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`;
}
