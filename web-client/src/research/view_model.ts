// Makes sentences that several parts of the researcher's page share. Page thread; pure, except that it reads signals.

import type { Formatter } from "../i18n/format.ts";
import { shownName } from "../ui/shown_name.ts";
import type { DeviceRow, PlacementRow, StudyRow, StudyState, WorkerRow } from "./model/rows.ts";
import { visibleText } from "./model/visible_text.ts";
import type { Problem, ResearchStore } from "./research_store.ts";
import {
  type DeliveryProblem,
  type NoBest,
  type ProblemCode,
  problemCodes,
  type Words,
} from "./words/dictionary.ts";

function isProblemCode(code: string): code is ProblemCode {
  return (problemCodes as readonly string[]).includes(code);
}

/** Returns the page's own sentence for a known code, and the server's message for any other. */
export function problemText({ code, message }: Problem, words: Words): string {
  return isProblemCode(code) ? words.problems[code] : visibleText(message);
}

/**
 * Returns why an event was not delivered to a webhook, in the page's own words if it knows the code. Returns null if
 * there is no failure.
 */
export function problemOfDelivery(
  { code, message }: { readonly code: string; readonly message: string },
  problems: Words["study"]["webhook"]["problems"],
): string | null {
  if (code === "") {
    return null;
  }
  return Object.hasOwn(problems, code) ? problems[code as DeliveryProblem] : visibleText(message);
}

/** Returns the study's name, or its number until the name is known. */
export function studyName(store: ResearchStore, study: number): string {
  const known = store.study.value;
  return known?.study === study
    ? shownName(known.name)
    : store.words.value.study.numbered(store.format.value.integer(study));
}

/** Returns the sentence about the study that was just deleted; null if there is none. */
export function removedText(store: ResearchStore): string | null {
  const name = store.removed.value;
  return name === null ? null : store.words.value.studies.removed(shownName(name));
}

export function titleOf(store: ResearchStore): string {
  const words = store.words.value;
  const route = store.route.value;
  if (store.session.value.kind !== "in") {
    return words.signIn.heading;
  }
  switch (route.page) {
    case "studies":
      return words.studies.heading;
    case "operate":
      return words.operate.heading;
    case "study":
      return studyName(store, route.study);
    case "trial":
      return words.trial.heading(store.format.value.integer(route.trial));
    default:
      return route satisfies never;
  }
}

/** Returns the text that a screen reader speaks when it changes: states and problems, no quickly changing number. */
export function announcementOf(store: ResearchStore): string {
  const words = store.words.value;
  const session = store.session.value;
  const problem = store.refusal.value ?? store.problem.value;
  if (session.kind === "checking") {
    return words.signIn.checking;
  }
  if (problem !== null) {
    return problemText(problem, words);
  }
  const removed = removedText(store);
  if (removed !== null) {
    return removed;
  }
  const done = store.done.value;
  if (done !== null) {
    return done(words);
  }
  const study = store.study.value;
  return session.kind === "in" && study !== null
    ? words.study.announce(shownName(study.name), words.studyStates[study.state])
    : "";
}

/** Returns what other devices lack, for example `2 without WebGPU, 1 with too little memory`. */
export function missingText(placement: PlacementRow, words: Words, format: Formatter): string {
  const { missing } = words.study;
  const parts = placement.reasons.map(({ code, devices }) => {
    const count = format.integer(devices);
    return Object.hasOwn(missing, code) && code !== "other"
      ? missing[code as Exclude<keyof typeof missing, "other">](count)
      : missing.other(count, visibleText(code));
  });
  return format.list(parts);
}

/** Returns why the next trial waits although devices match; empty if it does not, or if the reason is shown elsewhere. */
export function waitsText(placement: PlacementRow, words: Words, format: Formatter): string {
  const { waits } = words.study;
  if (placement.matching === 0) {
    return "";
  }
  switch (placement.waits) {
    case "busy":
    case "own_priority":
    case "ceiling":
      return waits[placement.waits];
    case "others_first": {
      const { ahead = 0, weight, weights } = placement.share ?? { weight: 0, weights: 0 };
      return waits.others_first(
        format.integer(ahead),
        format.integer(weight),
        format.integer(weights),
      );
    }
    default:
      return "";
  }
}

/** Returns the text for the back end that a study's trials ask for. */
export function backendText(backend: string | null, words: Words): string {
  const { backends } = words.study;
  if (backend === null) {
    return backends.none;
  }
  return Object.hasOwn(backends, backend)
    ? backends[backend as keyof typeof backends]
    : visibleText(backend);
}

/** Returns the study's state in few words. */
export function stateText(study: StudyRow, words: Words): string {
  const { states } = words.held;
  switch (study.held?.code) {
    case undefined:
      return study.isPaused ? words.studyPaused : words.studyStates[study.state];
    case "approval_pending":
      return states.awaiting;
    case "approval_refused":
      return states.refused;
    default:
      return states.stopped;
  }
}

/** Returns the state that gives the chip its colour, and its text. A held study gets the colour of a cancelled one. */
export function chipOf(
  study: StudyRow,
  words: Words,
): { readonly state: StudyState; readonly label: string } {
  return {
    state: study.held === null ? study.state : "cancelled",
    label: stateText(study, words),
  };
}

export function doneOf(study: StudyRow): number {
  return study.complete + study.pruned + study.failed;
}

/** Returns the reason why a study has no best trial; null if it has one. */
export function noBestOf(study: StudyRow): NoBest | null {
  if (study.best !== null || study.bestTrials.length > 0) {
    return null;
  }
  if (study.complete > 0) {
    return "no_feasible_trial";
  }
  return study.state === "running" ? "running" : "no_complete_trial";
}

/** Returns the best value, or the number of best trials, or a sentence that there is none. */
export function bestText(study: StudyRow, words: Words, format: Formatter): string {
  if (study.best !== null) {
    return format.value(study.best.value);
  }
  return study.bestTrials.length > 0
    ? words.study.bestOfSeveral(format.integer(study.bestTrials.length))
    : words.studies.none;
}

export function progressOf(study: StudyRow, words: Words, format: Formatter) {
  const done = doneOf(study);
  return {
    fraction: study.total === 0 ? 0 : Math.min(1, done / study.total),
    text: words.studies.progress(format.integer(done), format.integer(study.total)),
  };
}

/** Returns the ranges in which the study's values lie; null if it states none. */
export function rangeText(study: StudyRow, words: Words, format: Formatter): string | null {
  const { range } = words.study;
  if (study.valueRange.length === 0) {
    return null;
  }
  const ranges = study.valueRange.map(({ low, high }) => {
    if (low === null) {
      return high === null ? range.any : range.atMost(format.value(high));
    }
    return high === null
      ? range.atLeast(format.value(low))
      : range.between(format.value(low), format.value(high));
  });
  return range.text(ranges.join(" / "));
}

/** Returns how long a study will still take, or why that is not known; null if it has ended. */
export function estimateText(study: StudyRow, words: Words, format: Formatter): string | null {
  const told = study.estimate;
  if (told === null) {
    return null;
  }
  const { estimate } = words.study;
  const work = told.deviceMs === null ? [] : [estimate.work(format.duration(told.deviceMs))];
  if (told.leftMs !== null) {
    const left = estimate.left(format.duration(told.leftMs), format.integer(told.devices));
    return format.list([left, ...work]);
  }
  const { why } = estimate;
  return format.list([
    Object.hasOwn(why, told.why) ? why[told.why as keyof typeof why] : why.other,
    ...work,
  ]);
}

function className(name: string, words: Words): string {
  return Object.hasOwn(words.classes, name)
    ? words.classes[name as keyof Words["classes"]]
    : visibleText(name);
}

/** Returns the known facts about a device, for example `Phone · Chrome 138 · webgpu`. */
export function deviceText(device: DeviceRow | WorkerRow, words: Words): string {
  const parts = [className(device.class, words), visibleText(device.engine)];
  if ("backend" in device) {
    parts.push(visibleText(device.backend), visibleText(device.adapter));
  }
  return parts.filter((part) => part !== "").join(" · ");
}
