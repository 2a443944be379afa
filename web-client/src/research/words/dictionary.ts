// Every text of the researcher's page, as one type: a language that lacks a text does not compile. Page thread; pure
// data.

import type { StudyPart } from "../model/route.ts";
import type {
  AttemptState,
  DeliveryState,
  StudyState,
  TrialState,
  WebhookEvent,
} from "../model/rows.ts";
import type { FilterCode } from "../trials/filter.ts";
import type { PlotWords } from "./plots/dictionary.ts";

/** Codes for which the page has its own sentence. For any other code it shows the message that came with it. */
export const problemCodes = [
  "unauthorized",
  "rate_limited",
  "unreachable",
  "bad_answer",
  "unknown_study",
  "not_found",
  "storage_unavailable",
  "draining",
] as const;
export type ProblemCode = (typeof problemCodes)[number];

/** Why an event was not delivered to a webhook. For any other code the page shows the server's sentence. */
export type DeliveryProblem =
  | "bad_webhook"
  | "webhook_refused"
  | "webhook_unresolved"
  | "webhook_unreachable"
  | "webhook_timeout"
  | "webhook_tls"
  | "webhook_answer"
  | "webhook_status"
  | "too_many_deliveries";

/** The reason why a study has no best trial. `running`: it may still get one. The others are codes of rest.md. */
export type NoBest = "running" | "no_complete_trial" | "no_feasible_trial";

/** Why an administrator lets nothing of a study run (rest.md). */
export type HeldCode =
  | "owner_suspended"
  | "project_frozen"
  | "bundle_barred"
  | "approval_pending"
  | "approval_refused";

export interface Words {
  readonly tag: string;
  readonly pageTitle: (page: string) => string;
  readonly skip: string;

  readonly signIn: {
    readonly heading: string;
    readonly lead: string;
    readonly token: string;
    readonly hint: string;
    readonly button: string;
    readonly checking: string;
    readonly signOut: string;
    readonly signedInAs: (name: string) => string;
  };

  readonly problems: Readonly<Record<ProblemCode, string>>;
  readonly askingAgain: string;
  /** Names the request that was refused, so that the researcher can tell the operator. */
  readonly requestId: (id: string) => string;
  readonly loading: string;

  readonly studies: {
    readonly heading: string;
    readonly empty: string;
    readonly emptyHint: string;
    readonly best: string;
    readonly none: string;
    readonly progress: (done: string, total: string) => string;
    readonly removed: (name: string) => string;
    readonly older: string;
  };

  readonly studyStates: Readonly<Record<StudyState, string>>;
  readonly studyPaused: string;
  /** Why an administrator lets nothing of a study run: the state in few words, a sentence, and the reason's label. */
  readonly held: {
    readonly states: Readonly<Record<"stopped" | "awaiting" | "refused", string>>;
    readonly texts: Readonly<Record<HeldCode | "other", string>>;
    readonly reason: (reason: string) => string;
  };
  readonly operate: {
    readonly link: string;
    readonly heading: string;
    readonly lead: string;
    readonly reason: string;
    readonly reasonHint: string;
    /** The button that leaves everything as it is. */
    readonly no: string;
    /** Questions before something ends: a title, and what will happen and to whom. */
    readonly ask: {
      readonly refuse: {
        readonly title: (study: string) => string;
        readonly text: (study: string, owner: string) => string;
      };
      readonly suspend: {
        readonly title: (name: string) => string;
        readonly text: (name: string, studies: string) => string;
      };
      readonly turnDown: {
        readonly title: (name: string) => string;
        readonly text: (name: string) => string;
      };
      readonly freeze: {
        readonly title: (project: string) => string;
        readonly text: (project: string, researchers: string) => string;
      };
      readonly bar: { readonly title: string; readonly text: string };
    };
    /** What a change has done, for a screen reader. */
    readonly done: {
      readonly approved: (study: string) => string;
      readonly refused: (study: string) => string;
      readonly active: (name: string) => string;
      readonly suspended: (name: string) => string;
      readonly turnedDown: (name: string) => string;
      readonly quotaSet: (name: string) => string;
      readonly frozen: (project: string) => string;
      readonly unfrozen: (project: string) => string;
      readonly barred: string;
      readonly lifted: string;
      readonly ceilingSet: string;
      readonly shareSet: string;
    };
    /** The table of people. */
    readonly people: {
      readonly heading: string;
      readonly room: (size: string) => string;
      readonly noRoom: string;
      readonly find: string;
      readonly matching: (count: string) => string;
      readonly none: string;
      readonly more: string;
      readonly columns: Readonly<
        Record<"name" | "state" | "studies" | "trials" | "stored" | "records", string>
      >;
      readonly actions: string;
      readonly states: Readonly<Record<"active" | "pending" | "refused" | "suspended", string>>;
      readonly admin: string;
      readonly inProjects: (projects: string) => string;
      readonly note: (note: string) => string;
      readonly usedOf: (used: string, limit: string) => string;
      readonly usedOfAny: (used: string) => string;
      readonly parts: Readonly<
        Record<"data" | "artifacts" | "checkpoints", (size: string) => string>
      >;
      readonly suspend: string;
      readonly letBack: string;
      readonly letIn: string;
      readonly turnDown: string;
      readonly quota: {
        readonly change: string;
        readonly title: (name: string) => string;
        readonly text: string;
        readonly fields: Readonly<Record<"studies" | "trials" | "bytes", string>>;
        readonly set: string;
      };
    };
    readonly noProjects: string;
    readonly researchersOf: (names: string) => string;
    readonly nobody: string;
    readonly others: (count: string) => string;
    readonly warnings: {
      readonly heading: string;
      readonly texts: Readonly<
        Record<
          | "backup_failed"
          | "standby_behind"
          | "draining"
          | "disk_full"
          | "no_room"
          | "read_only"
          | "writer_hangs",
          string
        >
      >;
      readonly other: string;
    };
    readonly awaiting: string;
    readonly noneAwaiting: string;
    readonly byIn: (owner: string, project: string, trials: string) => string;
    readonly approve: string;
    readonly refuse: string;
    readonly projects: string;
    readonly frozen: string;
    readonly open: string;
    readonly freeze: string;
    readonly unfreeze: string;
    readonly barred: string;
    readonly noneBarred: string;
    readonly sha256: string;
    readonly sha256Hint: string;
    readonly bar: string;
    readonly lift: string;
    readonly ceilings: string;
    readonly ceilingsNote: string;
    readonly scopes: Readonly<Record<"server" | "researcher" | "project", string>>;
    readonly scope: string;
    readonly name: string;
    readonly nameHint: string;
    readonly minutes: string;
    readonly devices: string;
    readonly megabytes: string;
    readonly approval: string;
    readonly approvals: Readonly<Record<"unset" | "yes" | "no", string>>;
    readonly unset: string;
    readonly noLimit: string;
    readonly set: string;
    readonly shares: string;
    readonly sharesNote: string;
    readonly noShares: string;
    readonly weight: string;
    readonly weightHint: string;
    readonly usualWeight: string;
    readonly guaranteed: string;
    readonly guaranteedHint: string;
    readonly lends: string;
    readonly lendsHint: string;
    readonly lendsNothing: string;
    readonly everyProject: string;
    readonly setShare: string;
  };
  readonly trialStates: Readonly<Record<TrialState, string>>;
  readonly attemptStates: Readonly<Record<AttemptState, string>>;
  readonly classes: Readonly<Record<"phone" | "tablet" | "desktop" | "node", string>>;

  readonly study: {
    readonly back: string;
    readonly numbered: (number: string) => string;
    readonly progress: string;
    readonly counts: {
      readonly complete: string;
      readonly pruned: string;
      readonly failed: string;
      readonly open: string;
      readonly attempts: string;
    };
    /**
     * How long the study will still take with `devices` devices, and how much computing time it needs on all devices
     * together; or the reason why this is unknown.
     */
    readonly estimate: {
      readonly left: (time: string, devices: string) => string;
      readonly work: (time: string) => string;
      readonly why: Readonly<
        Record<"paused" | "held" | "no_total" | "no_run" | "no_device" | "other", string>
      >;
    };
    readonly direction: Readonly<Record<"minimize" | "maximize", string>>;
    /** The range in which the values lie (R73), by which of its limits the study states. */
    readonly range: {
      readonly between: (low: string, high: string) => string;
      readonly atLeast: (low: string) => string;
      readonly atMost: (high: string) => string;
      readonly any: string;
      /** The sentence about the ranges of one value or several. */
      readonly text: (ranges: string) => string;
    };
    readonly best: string;
    readonly bestTrial: (number: string) => string;
    readonly bests: string;
    readonly bestOfSeveral: (count: string) => string;
    readonly noneBest: string;
    readonly noBest: Readonly<Record<NoBest, string>>;
    /** Texts for a study that has paused itself: a heading, the cause (`count` failures), and how to continue. */
    readonly stopped: string;
    readonly stoppedWhy: (trial: string, count: string) => string;
    readonly stoppedHow: string;
    readonly webhook: {
      readonly heading: string;
      readonly host: string;
      readonly none: string;
      readonly event: string;
      readonly events: Readonly<Record<WebhookEvent, string>>;
      readonly at: string;
      readonly outcome: string;
      readonly outcomes: Readonly<Record<DeliveryState, string>>;
      readonly attempts: string;
      readonly status: string;
      readonly nextAt: string;
      readonly problems: Readonly<Record<DeliveryProblem, string>>;
    };
    readonly running: string;
    readonly nothingRuns: string;
    readonly runningTrial: (number: string) => string;
    readonly chart: string;
    readonly chartEmpty: string;
    readonly chartSummary: (count: string, low: string, high: string, best: string) => string;
    readonly trialAxis: string;
    readonly series: string;
    readonly seriesNote: string;
    readonly seriesEmpty: string;
    readonly seriesAll: (count: string) => string;
    readonly seriesSummary: (name: string, trials: string, low: string, high: string) => string;
    readonly logScale: string;
    readonly trials: string;
    readonly details: string;
    readonly entry: string;
    readonly seed: string;
    readonly runtime: string;
    /** The label for back ends, and below it their names. */
    readonly backend: string;
    readonly backends: Readonly<Record<"none" | "auto" | "webgpu" | "webgl2" | "cpu", string>>;
    /** Says that no connected device matches. `devices` is the number of devices, `missing` is what they lack. */
    readonly unmatched: (devices: string, missing: string) => string;
    /** Says why the next trial waits although devices match. */
    readonly waits: Readonly<
      Record<"busy" | "own_priority" | "ceiling", string> & {
        readonly others_first: (ahead: string, weight: string, weights: string) => string;
      }
    >;
    readonly missing: Readonly<
      Record<
        | "no_webgpu"
        | "no_webgl2"
        | "no_graphics_card"
        | "no_f16"
        | "small_buffers"
        | "little_memory"
        | "few_cores",
        (devices: string) => string
      >
    > & { readonly other: (devices: string, code: string) => string };
    readonly project: string;
    readonly owner: string;
    readonly createdAt: string;
    readonly finishedAt: string;
    /** The label of the priority, what it means, and the button that changes it. */
    readonly priority: string;
    readonly priorityHint: string;
    readonly prioritize: string;
    readonly pause: string;
    readonly resume: string;
    readonly cancel: string;
    readonly cancelTitle: string;
    readonly cancelText: string;
    readonly cancelYes: string;
    readonly cancelNo: string;
    readonly remove: string;
    readonly removeTitle: string;
    readonly removeLead: string;
    readonly removeTrials: (count: string) => string;
    readonly removeFiles: string;
    readonly removeInputs: string;
    readonly removeText: string;
    readonly removeYes: string;
    readonly removeNo: string;
    readonly replay: (count: string) => string;
    readonly csv: string;
    readonly json: string;
    readonly full: (rows: string) => string;
    readonly announce: (name: string, state: string) => string;
  };

  /** The views of a study. */
  readonly parts: {
    readonly label: string;
    readonly names: Readonly<Record<StudyPart, string>>;
    /** Says that a view's script was not loaded. */
    readonly failed: string;
    readonly reload: string;
  };

  readonly front: {
    readonly heading: string;
    readonly note: string;
    readonly single: string;
    readonly marks: Readonly<Record<"best" | "other" | "infeasible", string>>;
    readonly pair: (x: string, y: string) => string;
    readonly summary: (dots: string, best: string, x: string, y: string) => string;
    readonly near: (trial: string, values: string) => string;
    readonly allPairs: (count: string) => string;
    readonly inTable: string;
    readonly more: (count: string) => string;
  };

  readonly parallel: {
    readonly note: string;
    readonly summary: (lines: string, axes: string) => string;
    readonly matching: (count: string, all: string) => string;
    readonly sampled: (lines: string) => string;
    readonly moreAxes: (axes: string) => string;
  };

  readonly slice: {
    readonly note: string;
    readonly objective: string;
    readonly nothing: string;
    readonly matching: (count: string) => string;
    readonly summary: (dots: string, x: string, y: string) => string;
    readonly all: (count: string) => string;
  };

  /** The plots of a study. */
  readonly plots: PlotWords;

  /** The ranges that a reader chooses on the axes of plots. */
  readonly ranges: {
    readonly chosen: (name: string, range: string) => string;
    readonly between: (least: string, most: string) => string;
    readonly from: (least: string) => string;
    readonly upTo: (most: string) => string;
    readonly numbers: string;
    readonly nothing: string;
    readonly remove: string;
    readonly removeOf: (name: string) => string;
    readonly choose: string;
    readonly ends: Readonly<Record<"least" | "most", string>>;
  };

  readonly table: {
    readonly filter: string;
    readonly all: string;
    readonly caption: string;
    readonly columns: {
      readonly trial: string;
      readonly state: string;
      readonly value: string;
      readonly valueNumbered: (number: string) => string;
      readonly device: string;
      readonly run: string;
      readonly attempts: string;
      readonly finished: string;
    };
    readonly sortBy: string;
    readonly ascending: string;
    readonly descending: string;
    readonly empty: string;
    readonly emptyFilter: string;
    readonly matching: (count: string) => string;
    readonly matchingOf: (count: string, total: string) => string;
    /** The state of a complete trial that violates its constraints. */
    readonly infeasible: string;
    /** The filter by an expression, and what may be wrong with it: `what` is the part that was not understood. */
    readonly expression: string;
    readonly expressionHint: string;
    readonly names: string;
    readonly problems: Readonly<Record<FilterCode, (what: string) => string>>;
    readonly problemAt: (place: string) => string;
    readonly choose: (shown: string, all: string) => string;
    readonly allColumns: string;
    readonly firstColumns: string;
    /** The line below the table, with the full text of the active cell. */
    readonly cellHint: string;
    readonly cell: (trial: string, column: string) => string;
    readonly copy: string;
    readonly copied: string;
    readonly copyByHand: string;
  };

  readonly trial: {
    readonly heading: (number: string) => string;
    readonly value: string;
    readonly noValue: string;
    readonly constraints: string;
    readonly notMet: string;
    readonly parameters: string;
    readonly seed: string;
    readonly device: string;
    readonly time: string;
    readonly load: string;
    readonly curve: string;
    readonly curveEmpty: string;
    readonly curveSummary: (count: string, first: string, last: string) => string;
    readonly stepAxis: string;
    readonly series: string;
    readonly seriesNotFinite: string;
    readonly seriesSummary: (name: string, low: string, high: string, last: string) => string;
    readonly summary: string;
    readonly attributes: string;
    readonly points: string;
    readonly step: string;
    readonly reported: string;
    readonly attempts: string;
    readonly attempt: (id: string) => string;
    readonly codeVersion: string;
    readonly error: string;
    readonly cause: string;
    readonly code: string;
    readonly message: string;
    readonly traceback: string;
    readonly started: string;
    readonly finished: string;
    readonly files: string;
    readonly filesNote: string;
    readonly download: string;
    readonly downloadNamed: (name: string) => string;
    readonly rejected: (who: string, when: string) => string;
    readonly rejectedByServer: (when: string) => string;
    /** Why the server rejects an attempt, by its code. */
    readonly serverReasons: Readonly<Record<string, string>>;
    /** The state of an attempt whose result the server does not believe. */
    readonly suspect: string;
    /** Why the server does not believe a result, by the code of the attempt's error (R73, R74). */
    readonly suspicions: Readonly<Record<string, string>>;
    readonly rejectTrial: string;
    readonly rejectDevice: string;
    readonly rejectTrialTitle: string;
    readonly rejectDeviceTitle: string;
    readonly rejectText: string;
    readonly rejectElsewhere: string;
    readonly rejectKept: string;
    readonly rejectBan: string;
    readonly rejectReason: string;
    readonly rejectNo: string;
    readonly rejectYes: string;
  };

  readonly join: {
    readonly heading: string;
    readonly connected: (count: string) => string;
    readonly computing: (count: string) => string;
    readonly text: string;
    readonly make: string;
    readonly link: string;
    readonly copy: string;
    readonly copied: string;
    readonly copyByHand: string;
    readonly qr: string;
  };
}
