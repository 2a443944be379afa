// The console's rows in the form that the researcher's page reads. Page thread; pure.

export type { Failure, Point } from "./messages.ts";
export { RowError, readRow } from "./read_row.ts";
export * from "./rows.ts";
