// What no trial can do without, beyond threads and memory, which page_contract/probe.ts examines. Each of these exists in
// every browser of the stated minimum, but may be switched off: by Lockdown Mode, by a setting, by an extension. Each has
// a code and sentences on the join page and on the self-test page. Any thread.

export type MissingCode = "no_webassembly" | "no_crypto" | "no_websocket" | "no_streams";

/** The parts of the global scope that are read. */
export interface RequiredScope {
  readonly WebAssembly?: object;
  readonly crypto?: { readonly subtle?: unknown };
  readonly WebSocket?: unknown;
  readonly ReadableStream?: unknown;
  readonly TransformStream?: unknown;
}

interface Requirement {
  readonly code: MissingCode;
  readonly isThere: (scope: RequiredScope) => boolean;
}

const REQUIREMENTS: readonly Requirement[] = [
  { code: "no_webassembly", isThere: ({ WebAssembly: engine }) => typeof engine === "object" },
  { code: "no_crypto", isThere: ({ crypto }) => typeof crypto?.subtle === "object" },
  { code: "no_websocket", isThere: ({ WebSocket: socket }) => typeof socket === "function" },
  {
    code: "no_streams",
    isThere: ({ ReadableStream: readable, TransformStream: transform }) =>
      typeof readable === "function" && typeof transform === "function",
  },
];

/** Returns the codes of what this scope lacks, the most telling first. */
export function missingOf(scope: RequiredScope): readonly MissingCode[] {
  return REQUIREMENTS.filter(({ isThere }) => !isThere(scope)).map(({ code }) => code);
}
