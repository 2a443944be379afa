// Sends `POST /api/project`, which returns what is computed and for whom. On a first visit, no other request is made before
// the volunteer taps Start. Page thread.

import type { ProjectView } from "@hyperflock/worker-runtime/page";
import type { ProjectProblem } from "../i18n/dictionary.ts";
import { count, isRecord } from "./answer.ts";
import { type Downloads, parseDownloads } from "./download/download.ts";

const TIMEOUT_MS = 15_000;
const MAX_NAME_CHARS = 200;

export type ProjectLoad =
  | { readonly kind: "loading" }
  | {
      readonly kind: "ready";
      readonly project: ProjectView;
      /** What a start downloads; missing if the server does not say. */
      readonly downloads?: Downloads;
    }
  | { readonly kind: "problem"; readonly problem: ProjectProblem };

export type FetchLike = (path: string, init: RequestInit) => Promise<Response>;

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_NAME_CHARS) : null;
}

/** Returns the answer's body as a `ProjectView`, or null if it is invalid. */
export function parseProject(body: unknown): ProjectView | null {
  if (!isRecord(body) || !isRecord(body.project)) {
    return null;
  }
  const name = text(body.project.name);
  const owner = text(body.project.owner);
  const studies = count(body.project.studies);
  const trialsDone = count(body.project.trials_done);
  const trialsTotal = count(body.project.trials_total);
  if (
    name === null ||
    owner === null ||
    studies === null ||
    trialsDone === null ||
    trialsTotal === null
  ) {
    return null;
  }
  return { name, owner, studies, trialsDone, trialsTotal };
}

function problemOf(status: number): ProjectProblem {
  switch (status) {
    case 400: // the code is malformed
    case 403:
    case 422:
      return "bad_code";
    case 429:
      return "rate_limited";
    default:
      return "server";
  }
}

export async function fetchProject(code: string, fetchLike: FetchLike): Promise<ProjectLoad> {
  let response: Response;
  try {
    response = await fetchLike("/api/project", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    return { kind: "problem", problem: "unreachable" };
  }
  if (!response.ok) {
    return { kind: "problem", problem: problemOf(response.status) };
  }
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    return { kind: "problem", problem: "server" };
  }
  const project = parseProject(body);
  if (project === null) {
    return { kind: "problem", problem: "server" };
  }
  const described = isRecord(body) && isRecord(body.project) ? body.project : {};
  const downloads = parseDownloads(described.downloads);
  return { kind: "ready", project, ...(downloads === null ? {} : { downloads }) };
}
