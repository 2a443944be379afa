// Sends the table of findings to the operator with `POST /api/device-reports`, only after a tap. Page thread.

import type { Check } from "./finding.ts";

const TIMEOUT_MS = 15_000;

export interface Report {
  readonly class: string;
  readonly engine: string;
  readonly checks: readonly Check[];
}

export type Sent =
  | { readonly kind: "sent"; readonly number: number }
  | { readonly kind: "refused"; readonly code: string };

type FetchLike = (path: string, init: RequestInit) => Promise<Response>;

export async function sendReport(
  code: string,
  report: Report,
  fetchLike: FetchLike,
): Promise<Sent> {
  let response: Response;
  try {
    response = await fetchLike("/api/device-reports", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code, report }),
      credentials: "omit",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    return { kind: "refused", code: "unreachable" };
  }
  // A proxy between page and server may answer with its own page, which is not JSON.
  const body: unknown = await response.json().catch(() => null);
  const number = Reflect.get(Object(body), "report");
  if (response.status === 201 && typeof number === "number") {
    return { kind: "sent", number };
  }
  const refused = Reflect.get(Object(Reflect.get(Object(body), "error")), "code");
  return { kind: "refused", code: typeof refused === "string" ? refused : "bad_answer" };
}
