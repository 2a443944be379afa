// From what is known to what is shown: one pure function of the volunteer's state, the project, the clock
// and the language. Components only lay out its answer. Page thread.

import type {
  Contribution,
  TrialView,
  VolunteerSnapshot,
  VolunteerState,
} from "@hyperflock/worker-runtime/page";
import { type Dictionary, type FailureCode, failureCodes } from "../i18n/dictionary.ts";
import type { Formatter } from "../i18n/format.ts";
import type { Point } from "../ui/curve.ts";
import type { ProjectLoad } from "./project_api.ts";

/** Sets colour and icon; words always say the same. */
export type Tone = "ready" | "busy" | "active" | "paused" | "problem";

/** What the one large button does. */
export type Action = "start" | "stop" | "reload_project";

export interface ProgressView {
  /** 0 to 1, or null while the size is unknown. */
  readonly fraction: number | null;
  readonly text: string;
}

export interface ParamView {
  readonly name: string;
  readonly value: string;
}

export interface TrialCard {
  readonly study: string;
  readonly owner: string;
  readonly counter: string;
  readonly params: readonly ParamView[];
  readonly points: readonly Point[];
  /** Null until it computes. */
  readonly elapsed: string | null;
}

export interface PanelView {
  readonly phase: VolunteerState["phase"] | "project_loading" | "project_problem";
  readonly tone: Tone;
  readonly title: string;
  readonly text: string | null;
  /** What the volunteer can do about it. */
  readonly advice: string | null;
  /** Small print: a failure's code. */
  readonly note: string | null;
  /** What a screen reader hears when it changes; holds no ticking number. */
  readonly announcement: string;
  readonly progress: ProgressView | null;
  readonly trial: TrialCard | null;
  readonly action: { readonly kind: Action; readonly label: string } | null;
  /** Show the costs above the button: only before the first tap. */
  readonly showFacts: boolean;
  /** Offer the join link for another browser. */
  readonly offerLink: boolean;
}

export interface ContributionView {
  readonly trials: string;
  readonly time: string;
}

export interface ViewInput {
  readonly project: ProjectLoad;
  /** Null until there is a code to volunteer with. */
  readonly snapshot: VolunteerSnapshot | null;
  readonly nowMs: number;
  readonly words: Dictionary;
  readonly format: Formatter;
}

type PanelParts = Pick<PanelView, "phase" | "tone" | "title"> & Partial<PanelView>;

function panel(parts: PanelParts): PanelView {
  const said = [parts.title, parts.text, parts.advice].filter((part) => part != null);
  return {
    text: null,
    advice: null,
    note: null,
    announcement: said.join(" "),
    progress: null,
    trial: null,
    action: null,
    showFacts: false,
    offerLink: false,
    ...parts,
  };
}

function trialCard(
  trial: TrialView,
  { nowMs, words, format }: ViewInput,
  runs: boolean,
): TrialCard {
  return {
    study: trial.studyName,
    owner: words.trial.forOwner(trial.owner),
    // Trials are numbered from 0; people count from 1.
    counter: words.trial.counter(format.integer(trial.number + 1), format.integer(trial.total)),
    params: Object.entries(trial.params).map(([name, value]) => ({
      name,
      value: format.param(value),
    })),
    points: trial.points,
    elapsed: runs ? format.duration(nowMs - trial.startedAt) : null,
  };
}

function isFailureCode(code: string): code is FailureCode {
  return (failureCodes as readonly string[]).includes(code);
}

function connectingPanel(
  retryAt: number | null,
  attempt: number,
  { nowMs, words, format }: ViewInput,
): PanelView {
  const { states, actions } = words;
  const stop = { kind: "stop", label: actions.stop } as const;
  if (retryAt === null && attempt <= 1) {
    return panel({ phase: "connecting", tone: "busy", ...states.connecting, action: stop });
  }
  const waits = retryAt !== null && retryAt > nowMs;
  const notice = waits ? states.unreachable(format.countdown(retryAt - nowMs)) : states.retryingNow;
  return panel({
    phase: "connecting",
    tone: "paused",
    ...notice,
    announcement: states.retryingNow.title,
    action: stop,
  });
}

function statePanel(state: VolunteerState, input: ViewInput): PanelView {
  const { words, format } = input;
  const { states, actions, unsupported } = words;
  const { phase } = state;
  const stop = { kind: "stop", label: actions.stop } as const;
  switch (phase) {
    case "idle":
      return panel({
        phase,
        tone: "ready",
        title: words.facts.heading,
        announcement: "",
        note: words.beforeTap,
        action: { kind: "start", label: actions.start },
        showFacts: true,
      });
    case "unsupported":
      return panel({
        phase,
        tone: "problem",
        title: unsupported.title,
        text: unsupported.reasons[state.reason],
        advice: unsupported.remedies[state.reason],
        offerLink: state.reason !== "insecure_context",
      });
    case "joining":
      return panel({ phase, tone: "busy", ...states.joining, action: stop });
    case "connecting":
      return connectingPanel(state.retryAt, state.attempt, input);
    case "waiting":
      return panel({
        phase,
        tone: "paused",
        title: states.waiting.title,
        text: states.waiting[state.reason],
        action: stop,
      });
    case "loading": {
      const known = state.totalBytes > 0;
      const trial = trialCard(state.trial, input, false);
      return panel({
        phase,
        tone: "busy",
        ...states.loading,
        progress: {
          fraction: known ? Math.min(1, state.loadedBytes / state.totalBytes) : null,
          text: known
            ? words.trial.bytes(format.bytes(state.loadedBytes), format.bytes(state.totalBytes))
            : format.bytes(state.loadedBytes),
        },
        trial,
        announcement: `${states.loading.title}. ${trial.counter}, ${trial.study}`,
        action: stop,
      });
    }
    case "computing": {
      const trial = trialCard(state.trial, input, true);
      return panel({
        phase,
        tone: "active",
        title: states.computing,
        note: input.snapshot?.awake === true ? states.screenKeptOn : states.keepScreenOn,
        trial,
        announcement: `${states.computing}. ${trial.counter}, ${trial.study}`,
        action: stop,
      });
    }
    case "paused":
      return panel({ phase, tone: "paused", ...states.hidden, action: stop });
    case "stopped":
      return panel({
        phase,
        tone: "ready",
        ...states.stopped,
        action: { kind: "start", label: actions.startAgain },
      });
    case "replaced":
      return panel({
        phase,
        tone: "paused",
        ...states.replaced,
        action: { kind: "start", label: actions.useThisTab },
      });
    case "failed":
      return panel({
        phase,
        tone: "problem",
        title: states.failed,
        text: isFailureCode(state.code) ? states.failures[state.code] : state.message,
        note: states.failureCode(state.code),
        action: { kind: "start", label: actions.tryAgain },
      });
    default:
      return state satisfies never;
  }
}

function projectPanel(project: ProjectLoad, words: Dictionary): PanelView | null {
  switch (project.kind) {
    case "loading":
      return panel({ phase: "project_loading", tone: "busy", ...words.projectLoading });
    case "ready":
      return null;
    case "problem": {
      const { problem } = project;
      const mayPass =
        problem === "rate_limited" || problem === "unreachable" || problem === "server";
      return panel({
        phase: "project_problem",
        tone: "problem",
        ...words.projectProblems[problem],
        action: mayPass ? { kind: "reload_project", label: words.actions.tryAgain } : null,
      });
    }
    default:
      return project satisfies never;
  }
}

/** The panel with the button. A browser that cannot compute says so even before the project is known. */
export function panelView(input: ViewInput): PanelView {
  const state = input.snapshot?.state ?? { phase: "idle" };
  if (state.phase === "idle") {
    return projectPanel(input.project, input.words) ?? statePanel(state, input);
  }
  return statePanel(state, input);
}

/** Null until there is something to show. */
export function contributionView(
  contribution: Contribution | undefined,
  format: Formatter,
): ContributionView | null {
  if (contribution === undefined || (contribution.trials === 0 && contribution.seconds < 1)) {
    return null;
  }
  return {
    trials: format.integer(contribution.trials),
    time: format.duration(contribution.seconds * 1000),
  };
}

/** Whether the view changes with the clock alone, so that a timer has to run. */
export function needsClock(state: VolunteerState | undefined): boolean {
  return state?.phase === "computing" || (state?.phase === "connecting" && state.retryAt !== null);
}
