// The oldest browsers in which trials compute (server/docs/browsers.md). The builds compile the syntax of every script for
// them. Any thread; pure data.

export const MINIMUM = { chrome: 111, edge: 111, firefox: 115, safari: 16.4 } as const;
