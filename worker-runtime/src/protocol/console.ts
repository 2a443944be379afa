// The console's rows as the researcher's page reads them. Page thread; pure.

export type { Failure, Point } from "./messages.ts";
export { RowError, readRow } from "./read_row.ts";
export * from "./rows.ts";
