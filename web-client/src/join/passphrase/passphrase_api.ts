// Sends the requests about passphrases: gives one to a device, and asks what its devices gave together. Page thread.

import { count, isRecord } from "../answer.ts";
import { type Given, parseGiven } from "../given/given_api.ts";

const TIMEOUT_MS = 15_000;

type FetchLike = (path: string, init: RequestInit) => Promise<Response>;

/** What the devices of a passphrase gave together. */
export interface Together {
  readonly devices: number;
  readonly given: Given;
}

/** Why a request did not work: no device has these words, or too many have; the server limits tries; no answer. */
export type PassphraseProblem = "unknown" | "full" | "rate_limited" | "unreachable";

export type Asked<Answer> =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "problem"; readonly problem: PassphraseProblem };

function problemOf(body: unknown): PassphraseProblem {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  switch (error.code) {
    case "unknown_passphrase":
      return "unknown";
    case "passphrase_full":
      return "full";
    case "rate_limited":
      return "rate_limited";
    default:
      return "unreachable";
  }
}

async function ask<Answer>(
  path: string,
  query: unknown,
  headers: Readonly<Record<string, string>>,
  parse: (body: unknown) => Answer | null,
  fetchLike: FetchLike,
): Promise<Asked<Answer>> {
  try {
    const response = await fetchLike(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(query),
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const body: unknown = await response.json();
    const answer = response.ok ? parse(body) : null;
    return answer === null
      ? { kind: "problem", problem: problemOf(body) }
      : { kind: "answer", answer };
  } catch {
    return { kind: "problem", problem: "unreachable" };
  }
}

/** Returns null if the answer is invalid. */
export function parseTogether(body: unknown): Together | null {
  const devices = isRecord(body) ? count(body.devices) : null;
  const given = parseGiven(body);
  return devices === null || given === null ? null : { devices, given };
}

/** Asks what the devices with this passphrase gave. */
export const fetchTogether = (key: string, fetchLike: FetchLike): Promise<Asked<Together>> =>
  ask("/api/passphrase", { key }, {}, parseTogether, fetchLike);

/** Gives a device the passphrase. `isNew`: it is the first one. */
export const joinPassphrase = (
  authorization: string,
  key: string,
  isNew: boolean,
  fetchLike: FetchLike,
): Promise<Asked<true>> =>
  ask(
    "/api/device/passphrase",
    { key, new: isNew },
    { Authorization: authorization },
    () => true,
    fetchLike,
  );
