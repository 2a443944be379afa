// The console's REST (server/docs/rest.md) with a researcher's token, which travels in the header alone. Page thread.

import {
  detailOf,
  joinUrlOf,
  type Me,
  meOf,
  type PlacementRow,
  placementOf,
  RowError,
  type StudyRow,
  studiesOf,
  studyOf,
  type TrialDetail,
  type TrialRow,
  trialsOf,
  type WorkerRow,
  workersOf,
} from "./rows.ts";

const kTimeoutMs = 15_000;
/** Rows of one page of trials. */
export const kPageRows = 500;

export type FetchLike = (path: string, init: RequestInit) => Promise<Response>;

/** Raised when the console did not give what was asked for; `code` is the server's, or `unreachable` or `bad_answer`. */
export class ConsoleError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Api {
  me(): Promise<Me>;
  studies(): Promise<readonly StudyRow[]>;
  study(study: number): Promise<StudyRow>;
  /** Trials that finished after `after`, at most kPageRows, and the cursor behind them. */
  trials(
    study: number,
    after: number,
  ): Promise<{ readonly trials: readonly TrialRow[]; readonly cursor: number }>;
  trial(study: number, trial: number): Promise<TrialDetail>;
  workers(): Promise<readonly WorkerRow[]>;
  placement(study: number): Promise<PlacementRow>;
  cancel(study: number): Promise<StudyRow>;
  pause(study: number): Promise<StudyRow>;
  resume(study: number): Promise<StudyRow>;
  replay(study: number): Promise<StudyRow>;
  /** A new join link of the first project. */
  joinLink(): Promise<string>;
}

function errorOf(body: unknown, status: number): ConsoleError {
  const error = (body as { error?: { code?: unknown; message?: unknown } } | null)?.error;
  return typeof error?.code === "string" && typeof error.message === "string"
    ? new ConsoleError(error.code, error.message)
    : new ConsoleError("bad_answer", `The server answered with status ${status}.`);
}

export class ConsoleApi implements Api {
  readonly #token: string;
  readonly #fetch: FetchLike;

  constructor(token: string, fetchLike: FetchLike) {
    this.#token = token;
    this.#fetch = fetchLike;
  }

  me(): Promise<Me> {
    return this.#ask("GET", "/api/me", meOf);
  }

  studies(): Promise<readonly StudyRow[]> {
    return this.#ask("GET", "/api/studies", studiesOf);
  }

  study(study: number): Promise<StudyRow> {
    return this.#ask("GET", `/api/studies/${study}`, studyOf);
  }

  trials(study: number, after: number) {
    const query = `after=${after}&limit=${kPageRows}`;
    return this.#ask("GET", `/api/studies/${study}/trials?${query}`, trialsOf);
  }

  trial(study: number, trial: number): Promise<TrialDetail> {
    return this.#ask("GET", `/api/studies/${study}/trials/${trial}`, detailOf);
  }

  workers(): Promise<readonly WorkerRow[]> {
    return this.#ask("GET", "/api/workers", workersOf);
  }

  placement(study: number): Promise<PlacementRow> {
    return this.#ask("GET", `/api/studies/${study}/placement`, placementOf);
  }

  cancel(study: number): Promise<StudyRow> {
    return this.#ask("POST", `/api/studies/${study}/cancel`, studyOf);
  }

  pause(study: number): Promise<StudyRow> {
    return this.#ask("POST", `/api/studies/${study}/pause`, studyOf);
  }

  resume(study: number): Promise<StudyRow> {
    return this.#ask("POST", `/api/studies/${study}/resume`, studyOf);
  }

  replay(study: number): Promise<StudyRow> {
    return this.#ask("POST", `/api/studies/${study}/replay`, studyOf);
  }

  joinLink(): Promise<string> {
    return this.#ask("POST", "/api/enrolment", joinUrlOf);
  }

  async #ask<Answer>(
    method: "GET" | "POST",
    path: string,
    read: (body: unknown) => Answer,
  ): Promise<Answer> {
    let response: Response;
    let body: unknown;
    try {
      response = await this.#fetch(path, {
        method,
        headers: { Authorization: `Bearer ${this.#token}` },
        ...(method === "POST" ? { body: "{}" } : {}),
        cache: "no-store",
        credentials: "omit",
        signal: AbortSignal.timeout(kTimeoutMs),
      });
    } catch {
      throw new ConsoleError("unreachable", "The server cannot be reached.");
    }
    try {
      body = await response.json();
    } catch {
      body = null;
    }
    if (!response.ok) {
      throw errorOf(body, response.status);
    }
    try {
      return read(body);
    } catch (error) {
      if (error instanceof RowError) {
        throw new ConsoleError(error.code, error.message);
      }
      throw error;
    }
  }
}
