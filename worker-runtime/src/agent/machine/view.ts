// Makes the view of the machine's state that the volunteer sees. Pure; agent thread.

import type {
  StoppedByOperator,
  TrialView,
  VolunteerState,
} from "../../page_contract/volunteer_state.ts";
import type { Attempt } from "./attempt.ts";
import type { Machine } from "./machine.ts";

/** Returns the view. `timeOrigin` converts the machine's clock to Unix times. */
export function viewOf(machine: Machine, timeOrigin: number): VolunteerState {
  const { mode, attempt } = machine;
  switch (mode.kind) {
    case "idle":
      return { phase: "joining" };
    case "stopped":
    case "replaced":
      return { phase: mode.kind };
    case "failed":
      return { phase: "failed", code: mode.code, message: mode.message };
    case "hidden":
      return { phase: "paused", reason: "hidden", ...(machine.isKept ? { kept: true } : {}) };
    case "working":
      break;
    default:
      mode satisfies never;
  }
  if (attempt !== null) return attemptView(machine, attempt, timeOrigin);
  if (machine.device === null) return { phase: "joining" };
  if (machine.isConnected) {
    const reason = machine.waiting ?? "no_work";
    const { refused } = machine;
    const why = refused === null || reason !== "no_matching_work" ? {} : { refused };
    return { phase: "waiting", reason, ...why, ...stoppedOf(machine) };
  }
  const { failures, retryAt } = machine.connecting;
  return {
    phase: "connecting",
    attempt: failures,
    retryAt: retryAt === null ? null : timeOrigin + retryAt,
  };
}

// Returns the view of an attempt. Without a connection the trial goes on, so it is still shown as running until its end.
function attemptView(machine: Machine, attempt: Attempt, timeOrigin: number): VolunteerState {
  const trial = trialView(attempt, timeOrigin);
  const stopped = stoppedOf(machine);
  if (attempt.result !== null && !machine.isConnected) {
    return { phase: "delivering", trial, ...stopped };
  }
  if (attempt.runningAt !== null) return { phase: "computing", trial, ...stopped };
  const { loaded, total } = machine.assets;
  return { phase: "loading", loadedBytes: loaded, totalBytes: total, trial, ...stopped };
}

function stoppedOf({ stoppedStudy }: Machine): StoppedByOperator {
  return stoppedStudy === null ? {} : { stoppedStudy };
}

function trialView(attempt: Attempt, timeOrigin: number): TrialView {
  const { lease } = attempt;
  return {
    study: lease.study,
    studyName: lease.study_name,
    owner: lease.owner,
    number: lease.trial,
    total: lease.asked === true ? null : lease.total,
    params: { ...paramsForDisplay(lease.params), ...attempt.suggested },
    startedAt: timeOrigin + (attempt.runningAt ?? attempt.leasedAt),
    points: attempt.curve,
  };
}

function paramsForDisplay(text: string): Record<string, unknown> {
  try {
    const params: unknown = JSON.parse(text);
    return typeof params === "object" && params !== null ? { ...params } : {};
  } catch {
    return {};
  }
}
