// Every text of the join page, as one type: a language that lacks a text does not compile. Page thread; pure
// data.

import type { UnsupportedReason, VolunteerState } from "@hyperflock/worker-runtime/page";
import type { AppWords } from "../app_shell/words.ts";
import type { InAppName, System } from "../join/in_app.ts";
import type { LimitsWords } from "./limits_words.ts";

export type WaitReason = Extract<VolunteerState, { phase: "waiting" }>["reason"];

/** The reason why the project cannot be shown before the volunteer taps Start. */
export type ProjectProblem = "no_code" | "bad_code" | "rate_limited" | "unreachable" | "server";

/** Failure codes for which the page has its own sentence. For any other code it shows the message that came with it. */
export const failureCodes = [
  "agent_failed",
  "bad_enrolment_code",
  "bad_token",
  "banned",
  "blob_unavailable",
  "client_too_old",
  "device_revoked",
  "full",
  "rate_limited",
  "server_too_old",
  "unknown_runtime",
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** A heading and the sentence below it. */
export interface Notice {
  readonly title: string;
  readonly text: string;
}

export interface Dictionary {
  /** BCP 47 tag, for `lang` and Intl. */
  readonly tag: string;
  readonly pageTitle: string;
  /** The label of the list of languages. */
  readonly language: string;
  /** Said if the texts of a language could not be fetched. */
  readonly languageFailed: string;
  /** Says that no native speaker has reviewed these texts. */
  readonly notReviewed?: string;

  readonly intro: {
    readonly eyebrow: string;
    readonly heading: (project: string) => string;
    readonly headingWhileLoading: string;
    readonly what: (owner: string, project: string) => string;
    readonly sandbox: string;
  };

  /** Says what taking part costs, before the volunteer taps Start. */
  readonly facts: {
    readonly heading: string;
    readonly download: {
      readonly about: (size: string) => string;
      readonly between: (least: string, most: string) => string;
      readonly little: (size: string) => string;
      /** `amount` is one of the three before. */
      readonly title: (amount: string) => string;
      readonly text: string;
      /** Said instead, if the amount is that of the studies that run. */
      readonly exact: string;
    };
    readonly power: Notice;
    readonly open: Notice;
    readonly stop: Notice;
  };

  readonly actions: {
    readonly start: string;
    readonly stop: string;
    readonly pause: string;
    readonly resume: string;
    /** The label of a switch: stop after the present trial. */
    readonly finish: string;
    readonly startAgain: string;
    readonly tryAgain: string;
    readonly useThisTab: string;
    readonly copyLink: string;
    readonly copied: string;
    readonly copyByHand: string;
    readonly linkLabel: string;
    readonly openOutside: (browser: string) => string;
    readonly stayHere: string;
  };
  readonly beforeTap: string;

  readonly states: {
    readonly joining: Notice;
    readonly connecting: Notice;
    readonly unreachable: (wait: string) => Notice;
    readonly retryingNow: Notice;
    readonly waiting: { readonly title: string } & Readonly<Record<WaitReason, string>>;
    readonly loading: Notice;
    readonly computing: string;
    /** Shown while a finished trial's result cannot be sent. */
    readonly delivering: Notice;
    readonly finishing: string;
    readonly computingOffline: string;
    readonly offline: Notice;
    readonly hidden: Notice;
    readonly pausedByChoice: Notice;
    /** Instead of `pausedByChoice`, as long as the running trial is kept in memory. */
    readonly pausedKept: Notice;
    /** Says during another pause that the running trial is kept in memory. */
    readonly trialKept: string;
    readonly stopped: Notice;
    readonly finished: Notice;
    /** Shown while another tab computes. The volunteer may let this tab take over. */
    readonly elsewhere: Notice;
    readonly forgetting: Notice;
    readonly forgotten: Notice;
    readonly notForgotten: Notice;
    readonly replaced: Notice;
    /** Sentences shown after the browser ended the volunteer's last visit: during a trial, or while hidden. */
    readonly interruptedTrial: (trial: string, study: string) => string;
    readonly interruptedHidden: string;
    /** Says that an administrator of the server has stopped a study that this device computed. */
    readonly stoppedByOperator: (study: string) => string;
    /** Says that the interrupted trial now runs here again. */
    readonly comesBack: string;
    readonly failed: string;
    readonly failures: Readonly<Record<FailureCode, string>>;
    readonly failureCode: (code: string) => string;
    readonly keepScreenOn: string;
    readonly screenKeptOn: string;
  };

  readonly unsupported: {
    readonly title: string;
    readonly reasons: Readonly<Record<UnsupportedReason, string>>;
    readonly remedies: Readonly<Record<UnsupportedReason, string>>;
  };

  /** Texts for a page that is open in an app's own browser. */
  readonly inApp: {
    readonly title: string;
    readonly text: (app: string) => string;
    readonly textUnknown: string;
    /** Says, for each app, where its menu is. The menu can open the page in another browser. */
    readonly menu: Readonly<Record<InAppName, string>>;
    readonly choose: (browser: string) => string;
    readonly byHand: (browser: string) => string;
    readonly browser: Readonly<Record<System, string>>;
  };

  /** Texts for a device that comes back, or that remembers nothing. */
  readonly memory: {
    readonly heading: string;
    readonly text: string;
    /** Said instead, if the join link is not valid any more. */
    readonly linkEnded: string;
    readonly toFetch: (amount: string) => string;
    readonly given: (trials: string, time: string) => string;
    readonly renamed: (before: string, now: string) => string;
    readonly damaged: string;
    readonly notKept: string;
    readonly forget: string;
    readonly choose: string;
  };
  readonly projectProblems: Readonly<Record<ProjectProblem, Notice>>;
  readonly projectLoading: Notice;

  readonly trial: {
    readonly counter: (number: string, total: string | null) => string;
    readonly forOwner: (owner: string) => string;
    readonly parameters: string;
    readonly curve: string;
    readonly curveEmpty: string;
    readonly curveSummary: (count: number, first: string, last: string) => string;
    readonly latest: string;
    readonly step: (step: string) => string;
    readonly elapsed: string;
    readonly bytes: (loaded: string, total: string) => string;
  };

  readonly contribution: {
    readonly heading: string;
    readonly trials: string;
    readonly time: string;
    readonly thanks: string;
  };

  /** What the server has counted for this browser's devices. */
  readonly given: {
    readonly heading: string;
    /** The server's day, which began at `time`. `isToday`: also on this device's calendar. */
    readonly today: (time: string, isToday: boolean) => string;
    readonly week: string;
    readonly all: string;
    readonly trials: string;
    readonly time: string;
    /** The number of results that were better than all of their study before them. */
    readonly improved: string;
    readonly note: string;
    /** A picture of this to share. */
    readonly card: {
      readonly make: string;
      readonly saved: string;
      readonly failed: string;
      readonly heading: string;
      readonly project: (name: string) => string;
      readonly projects: (count: string) => string;
    };
  };

  readonly project: {
    readonly heading: string;
    readonly runBy: (owner: string) => string;
    readonly progress: (done: string, total: string) => string;
    readonly studies: (count: number, formatted: string) => string;
    readonly noTrials: string;
    readonly choose: string;
  };

  /** The choice of how much of the graphics processor's time trials may use. */
  readonly gpuShare: {
    readonly label: string;
    readonly hint: string;
    readonly shares: Readonly<Record<1 | 0.5 | 0.25, string>>;
  };

  readonly privacy: {
    readonly summary: string;
    readonly items: readonly string[];
  };

  /** The heading of the part about the passphrase, whose other texts are fetched when it is opened. */
  readonly passphrase: string;
  /** Texts about when this device computes. */
  readonly limits: LimitsWords;
  /** Texts about the page as an app. */
  readonly app: AppWords;
  readonly selfTest: string;
  /** Texts of the button that makes the server forget this device. */
  readonly forget: {
    readonly ask: string;
    readonly question: string;
    readonly confirm: string;
    readonly cancel: string;
  };

  readonly footer: string;
}
