// Starts the real parts for tests and benchmarks: the built server, Debian's Chromium with volunteers in it, and the
// researcher's Python. dispose() ends every process that this file starts.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { StudyRow } from "@hyperflock/worker-runtime/rows";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";

export type { StudyRow, TrialRow } from "@hyperflock/worker-runtime/rows";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const SERVER = join(ROOT, "build/release/bin/hyperflock-server");
/** Only suites that need packs build them. */
const PACKS = join(ROOT, "build/packs");
// A test process that is killed with SIGKILL cannot end its server. So on Linux the kernel kills the server then.
const SETPRIV = "/usr/bin/setpriv";
const TIED = existsSync(SETPRIV) ? [SETPRIV, "--pdeathsig", "KILL", "--"] : [];
const PYTHON = join(ROOT, "build/venv/bin/python");

export interface Credentials {
  readonly admin_token: string;
  readonly researcher_token: string;
  readonly enrolment_code: string;
  readonly join_url: string;
  readonly compute: string;
  readonly console: string;
}

export interface ServerOptions {
  readonly args?: readonly string[];
  /** A command that runs the server. The server's command line is added to its arguments. */
  readonly wrapper?: readonly string[];
  /** A state folder that remains when the server ends. Without it, the server gets a temporary folder. */
  readonly state?: string;
  /** The folder of the pages. Without it, the server serves those of this build. */
  readonly app?: string;
}

/** Reserves two ports for this process, even while no server listens on them. `release` frees them. */
async function holdPorts(): Promise<{ readonly ports: readonly number[]; release(): void }> {
  const script = join(ROOT, "tests/e2e/held_ports.py");
  const holder = spawn(PYTHON, [script, "2"], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(createInterface(holder.stdout), "line")) as [string];
  const ports = line.split(" ").map(Number);
  return { ports, release: () => holder.stdin.end() };
}

/** A running `hyperflock-server`; it can be killed and started again on the same ports and state. */
export class Server {
  #process: ChildProcess | undefined;
  readonly #computePort: number;
  readonly #consolePort: number;
  readonly #releasePorts: () => void;
  #stderr = "";
  readonly state: string;
  readonly #args: readonly string[];
  readonly #wrapper: readonly string[];
  readonly #app: string;
  readonly #ownsState: boolean;

  private constructor(
    state: string,
    ownsState: boolean,
    held: Awaited<ReturnType<typeof holdPorts>>,
    options: ServerOptions,
  ) {
    this.state = state;
    this.#ownsState = ownsState;
    [this.#computePort = 0, this.#consolePort = 0] = held.ports;
    this.#releasePorts = held.release;
    this.#args = options.args ?? [];
    this.#wrapper = options.wrapper ?? [];
    this.#app = options.app ?? join(ROOT, "build/web");
  }

  static async start(options: ServerOptions = {}): Promise<Server> {
    const state = options.state ?? (await mkdtemp(join(tmpdir(), "hyperflock-")));
    const server = new Server(state, options.state === undefined, await holdPorts(), options);
    await server.restart().catch((error: unknown) => {
      server.#releasePorts();
      throw error;
    });
    return server;
  }

  get pid(): number {
    if (this.#process?.pid === undefined) throw new Error("the server is not running");
    return this.#process.pid;
  }
  get compute(): string {
    return `http://127.0.0.1:${this.#computePort}`;
  }
  get console(): string {
    return `http://127.0.0.1:${this.#consolePort}`;
  }
  /** The newest 256 KiB of the server's log (JSON lines). */
  get log(): string {
    return this.#stderr;
  }

  async credentials(): Promise<Credentials> {
    return JSON.parse(await readFile(join(this.state, "credentials.json"), "utf8")) as Credentials;
  }

  /** Returns the join link. `origin` is the origin of a proxy in front of this server, if there is one. */
  async joinUrl(origin = this.compute): Promise<string> {
    return `${origin}/join#${(await this.credentials()).enrolment_code}`;
  }

  async restart(): Promise<void> {
    if (!existsSync(SERVER)) throw new Error("The server is not built: ./run build");
    const ready = join(this.state, "ready.json");
    await rm(ready, { force: true });
    const [command = SERVER, ...before] = [...TIED, ...this.#wrapper, SERVER];
    const child = spawn(
      command,
      [
        ...before,
        ...["serve", "--state", this.state],
        ...["--compute", `127.0.0.1:${this.#computePort}`],
        ...["--console", `127.0.0.1:${this.#consolePort}`],
        ...["--app", this.#app, "--runtime", join(ROOT, "build/runtime")],
        ...(existsSync(PACKS) ? ["--packs", PACKS] : []),
        ...["--credentials-file", join(this.state, "credentials.json"), "--ready-file", ready],
        ...this.#args,
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    this.#process = child;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-262_144);
    });
    await until("the server's file of its ports", async () => {
      if (child.exitCode !== null) throw new Error(`the server did not start:\n${this.#stderr}`);
      return existsSync(ready);
    });
  }

  /** Ends this server's process and waits for it. */
  async kill(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(signal);
    await ended;
    this.#process = undefined;
  }

  async dispose(): Promise<void> {
    await this.kill("SIGTERM");
    this.#releasePorts();
    if (this.#ownsState) await rm(this.state, { recursive: true, force: true });
  }

  /** Sends a request to the console with the researcher's token. */
  async api<T>(path: string, init: RequestInit = {}): Promise<T> {
    const { researcher_token } = await this.credentials();
    const response = await fetch(`${this.console}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${researcher_token}`, ...init.headers },
    });
    const body = (await response.json()) as T & { error?: { code: string; message: string } };
    if (!response.ok) throw new Error(`${path}: ${response.status} ${body.error?.code}`);
    return body;
  }

  async newestStudy(): Promise<StudyRow | undefined> {
    return (await this.api<{ studies: StudyRow[] }>("/api/studies")).studies[0];
  }

  /** Waits until no device is connected, so that nothing computes and nobody takes the next trial. */
  async untilNobodyIsConnected(): Promise<void> {
    await until("the end of each connection", async () => {
      const { workers } = await this.api<{ workers: unknown[] }>("/api/workers");
      return workers.length === 0;
    });
  }
}

export interface Volunteer {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The URLs of all requests of the page and its threads. The service worker's own, by which it keeps them, are left out. */
  readonly requests: string[];
  readonly errors: string[];
}

/** Crashes a tab's renderer, as if memory were exhausted. No code of the page runs afterwards. */
export async function crash(tab: Pick<Volunteer, "context" | "page">): Promise<void> {
  const crashed = tab.page.waitForEvent("crash");
  const session = await tab.context.newCDPSession(tab.page);
  session.send("Page.crash").catch(() => {}); // no answer comes, because the renderer has ended
  await crashed;
}

/** Opens the join page as a phone would show it and taps Start. */
export async function joinVolunteer(browser: Browser, joinUrl: string): Promise<Volunteer> {
  const context = await browser.newContext({
    locale: "en-US",
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
  });
  const volunteer = await openVolunteer(context, joinUrl);
  await tapStart(volunteer.page);
  return volunteer;
}

export async function openVolunteer(context: BrowserContext, joinUrl: string): Promise<Volunteer> {
  const page = await context.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  context.on("request", (request) => {
    if (request.serviceWorker() === null) requests.push(request.url());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(joinUrl);
  return { context, page, requests, errors };
}

export async function tapStart(page: Page): Promise<void> {
  await page.locator('.panel[data-phase="idle"]').waitFor();
  await page.locator('[data-action="start"]').click();
}

export interface PythonRun {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Resolves to the exit status. */
  readonly done: Promise<number>;
}

/** Runs the project's Python with a researcher's credentials in its environment. */
export async function runPython(
  server: Server,
  args: readonly string[],
  options: { echo?: boolean; env?: Record<string, string> } = {},
): Promise<PythonRun> {
  const { researcher_token } = await server.credentials();
  const child = spawn(PYTHON, ["-u", ...args], {
    cwd: ROOT,
    env: {
      ...process.env,
      HYPERFLOCK_URL: server.console,
      HYPERFLOCK_TOKEN: researcher_token,
      ...options.env,
    },
    stdio: options.echo ? "inherit" : ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const done = new Promise<number>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? (signal ? 128 : 1))),
  );
  return { child, output: () => output, done };
}

/**
 * Runs a script that queues a study and prints the study's id as its last line. Returns the id. Without `token` it runs
 * as the first researcher.
 */
export async function queueStudy(
  server: Server,
  args: readonly string[],
  token?: string,
): Promise<number> {
  const queued = await runPython(
    server,
    args,
    token === undefined ? {} : { env: { HYPERFLOCK_TOKEN: token } },
  );
  if ((await queued.done) !== 0) throw new Error(queued.output());
  return Number(queued.output().trim().split("\n").at(-1));
}

/** Calls `probe` every 100 ms until it returns a value. Throws an error that names `what` after `timeoutMs`. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  timeoutMs = LIMIT_MS,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value as T;
    if (Date.now() > end) throw new Error(`timed out after ${timeoutMs} ms: ${what}`);
    await sleep(100);
  }
}
