// Sends `GET /api/device/contribution`, which returns what the server has counted for this browser's device in a project.
// Only a device that has joined asks, so a first visit sends no such request before Start. Page thread.

import { count, isRecord } from "../answer.ts";

const TIMEOUT_MS = 15_000;
const MAX_PROJECTS = 64;

type FetchLike = (path: string, init: RequestInit) => Promise<Response>;

/** What accepted results were in a span of time. */
export interface Span {
  readonly trials: number;
  readonly ms: number;
  /** The results that were better than all of their study before them. */
  readonly improved: number;
}

export interface Spans {
  readonly today: Span;
  /** The last seven days, today's included. */
  readonly week: Span;
  readonly all: Span;
}

export interface Given {
  /** When the server's day began, in Unix milliseconds. */
  readonly todaySince: number;
  readonly projects: readonly (Spans & { readonly name: string })[];
}

function spanOf(value: unknown): Span | null {
  const span = isRecord(value) ? value : {};
  const [trials, ms, improved] = [count(span.trials), count(span.ms), count(span.improved)];
  return trials === null || ms === null || improved === null ? null : { trials, ms, improved };
}

/** Returns the answer's body as a `Given`, or null if it is invalid. */
export function parseGiven(body: unknown): Given | null {
  const answer = isRecord(body) ? body : {};
  const todaySince = count(answer.today_since);
  if (todaySince === null || !Array.isArray(answer.projects)) {
    return null;
  }
  const projects = answer.projects.slice(0, MAX_PROJECTS).map((value: unknown) => {
    const project = isRecord(value) ? value : {};
    const [today, week] = [spanOf(project.today), spanOf(project.week)];
    const all = spanOf(project.all);
    return today === null || week === null || all === null || typeof project.name !== "string"
      ? null
      : { name: project.name, today, week, all };
  });
  const good = projects.filter((project) => project !== null);
  return good.length === projects.length ? { todaySince, projects: good } : null;
}

/** Returns null if the server cannot be reached, or does not know the device. */
export async function fetchGiven(
  authorization: string,
  fetchLike: FetchLike,
): Promise<Given | null> {
  try {
    const response = await fetchLike("/api/device/contribution", {
      headers: { Authorization: authorization },
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return response.ok ? parseGiven(await response.json()) : null;
  } catch {
    return null;
  }
}
