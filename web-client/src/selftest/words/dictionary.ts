// Every text of the self-test page, as one type: a language that lacks a text does not compile. Page thread; pure
// data.

import type { CheckName, FindingState } from "../finding.ts";

/** The name of a check, and advice for a bad finding. */
export interface CheckWords {
  readonly title: string;
  readonly remedy: string;
}

export interface SelfTestWords {
  readonly tag: string;
  readonly pageTitle: string;
  readonly heading: string;
  readonly lead: string;
  readonly verdict: {
    readonly looking: string;
    readonly good: string;
    /** Says that this browser cannot take part. `reason` is a whole sentence. */
    readonly bad: (reason: string) => string;
  };
  readonly device: (deviceClass: string, engine: string) => string;
  readonly columns: {
    readonly check: string;
    readonly state: string;
    readonly detail: string;
    readonly remedy: string;
  };
  readonly caption: string;
  readonly states: Readonly<Record<FindingState, string>>;
  readonly checks: Readonly<Record<CheckName, CheckWords>>;
  readonly python: {
    readonly heading: string;
    readonly text: string;
    readonly button: string;
    readonly again: string;
    readonly runs: string;
    readonly bytes: (loaded: string, total: string) => string;
    readonly done: string;
  };
  readonly send: {
    readonly heading: string;
    readonly text: string;
    readonly withoutCode: string;
    readonly button: string;
    readonly sending: string;
    readonly sent: (number: string) => string;
    readonly refused: (code: string) => string;
  };
  readonly join: string;
}
