// `POST /api/device-reports`: the table, to the operator. Only from a tap. Page thread.

import { type CheckName, checkNames, type Finding } from "./finding.ts";

const kTimeoutMs = 15_000;

export interface Report {
  readonly class: string;
  readonly engine: string;
  readonly findings: ReadonlyMap<CheckName, Finding>;
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
  const checks = checkNames.flatMap((name) => {
    const found = report.findings.get(name);
    return found === undefined ? [] : [{ name, ...found }];
  });
  try {
    const response = await fetchLike("/api/device-reports", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        code,
        report: { class: report.class, engine: report.engine, checks },
      }),
      credentials: "omit",
      signal: AbortSignal.timeout(kTimeoutMs),
    });
    const body: unknown = await response.json();
    const number = Reflect.get(Object(body), "report");
    if (response.status === 201 && typeof number === "number") {
      return { kind: "sent", number };
    }
    const refused = Reflect.get(Object(Reflect.get(Object(body), "error")), "code");
    return { kind: "refused", code: typeof refused === "string" ? refused : "bad_answer" };
  } catch {
    return { kind: "refused", code: "unreachable" };
  }
}
