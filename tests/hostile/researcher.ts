// The researcher of the hostile trials: a Python process (submit.py) that submits one study after another and reports
// the end of each.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { ROOT, type Server } from "../e2e/stack.ts";

const PYTHON = join(ROOT, "build/venv/bin/python");
const SCRIPT = join(ROOT, "tests/hostile/submit.py");

/** A row of table.py. */
export interface Row {
  readonly name: string;
  /** The required end of the trial: `complete`, or the cause and the code of its failure. */
  readonly end: string;
  readonly short: boolean;
  /** The back end that the study asks for; null if it asks for no device. */
  readonly backend: string | null;
  readonly trials: number;
}

/** The result of a study's only trial. */
export interface End {
  readonly study: number;
  readonly end: string;
  readonly message: string;
  readonly values: readonly number[];
  readonly attempts: number;
  readonly device: string | null;
  readonly run_s: number;
  readonly expected?: number;
}

export function table(): Row[] {
  return JSON.parse(execFileSync(PYTHON, [SCRIPT, "--list"], { encoding: "utf8" })) as Row[];
}

export class Researcher {
  readonly #process: ChildProcess;
  readonly #lines: Interface;
  readonly #ended: Promise<unknown>;
  #stderr = "";

  private constructor(child: ChildProcess, lines: Interface) {
    this.#process = child;
    this.#lines = lines;
    this.#ended = once(child, "exit");
    // If the process has ended, the next request reports it.
    child.stdin?.on("error", () => {});
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-16_384);
    });
  }

  static async start(server: Server): Promise<Researcher> {
    const { researcher_token } = await server.credentials();
    const child = spawn(PYTHON, ["-u", SCRIPT], {
      env: { ...process.env, HYPERFLOCK_URL: server.console, HYPERFLOCK_TOKEN: researcher_token },
      stdio: ["pipe", "pipe", "pipe"],
    });
    if (child.stdout === null) throw new Error("Python has no output.");
    return new Researcher(child, createInterface({ input: child.stdout }));
  }

  attempt(name: string, params: Record<string, string>, limitS: number): Promise<End> {
    return this.#ask({ attempt: name, params, limit_s: limitS });
  }

  neighbour(x: number, limitS: number, backend: string | null = null): Promise<End> {
    return this.#ask({ neighbour: x, limit_s: limitS, backend });
  }

  async #ask(job: object): Promise<End> {
    const answer = once(this.#lines, "line");
    const ended = this.#ended.then(() => null);
    this.#process.stdin?.write(`${JSON.stringify(job)}\n`);
    const line = await Promise.race([answer, ended]);
    if (line === null) throw new Error(`submit.py ended:\n${this.#stderr}`);
    return JSON.parse(String(line[0])) as End;
  }

  close(): void {
    this.#process.stdin?.end();
    this.#process.kill();
  }
}
