// A volunteer without a browser: the join page's agent and python thread, in Node. `hyperflock up --volunteers` and
// `hyperflock demo` start it. Node, main thread.
//
//     echo '{"origin": "http://127.0.0.1:8780", "code": "..."}' | node volunteer.js
//
// It computes until its standard input ends. Then it releases its trial. It writes a line of JSON for each change of
// its state.

import { createInterface } from "node:readline";
import { Agent } from "../../src/agent/agent.ts";
import { NO_DATA_LIMITS } from "../../src/governor/data_limits.ts";
import type { FromAgent } from "../../src/page_contract/messages.ts";
import type { TrialView, VolunteerState } from "../../src/page_contract/volunteer_state.ts";
import { actAsBrowser, define } from "./browser_globals.ts";
import { webWorkers } from "./web_worker.ts";

/** The time for which a volunteer that ends may still release its trial. */
const FAREWELL_MS = 3_000;

interface Start {
  readonly origin: string;
  /** The enrolment code of the join link. */
  readonly code: string;
}

/** A line of output. */
interface Told {
  readonly phase: VolunteerState["phase"];
  readonly study: number | null;
  readonly study_name: string | null;
  readonly trial: number | null;
  /** The number of trials that this volunteer has finished, and the time that they took. */
  readonly trials: number;
  readonly seconds: number;
  /** The code of the failure; null if nothing failed. */
  readonly code: string | null;
  readonly message: string | null;
}

let last = "";
let isEnding = false;

// If nobody reads the output, the parent process has ended.
process.stdout.on("error", () => process.exit(1));

function trialOf(state: VolunteerState): TrialView | null {
  return state.phase === "loading" || state.phase === "computing" ? state.trial : null;
}

function tell({ state, contribution }: Extract<FromAgent, { kind: "changed" }>): void {
  const trial = trialOf(state);
  const told: Told = {
    phase: state.phase,
    study: trial?.study ?? null,
    study_name: trial?.studyName ?? null,
    trial: trial?.number ?? null,
    trials: contribution.trials,
    seconds: Math.round(contribution.seconds * 10) / 10,
    code: state.phase === "failed" ? state.code : null,
    message: state.phase === "failed" ? state.message : null,
  };
  const line = JSON.stringify(told);
  if (line !== last) process.stdout.write(`${line}\n`);
  last = line;
}

function hear(message: FromAgent): void {
  if (message.kind === "ended") process.exit(0);
  if (message.kind !== "changed") return;
  tell(message);
  // In these phases the agent has no more work.
  const { phase } = message.state;
  if (!isEnding && (phase === "failed" || phase === "replaced")) process.exitCode = 1;
  if (process.exitCode === 1) process.stdout.write("", () => process.exit(1));
}

function begin({ origin, code }: Start): Agent {
  actAsBrowser(origin, globalThis.fetch);
  const here = import.meta.url;
  define("Worker", webWorkers(origin, new URL("thread.js", here)));
  // Standard output is only for the JSON lines, so the console writes to standard error.
  define("console", new console.Console(process.stderr));
  const agent = new Agent(
    {
      code,
      visible: true,
      careful: false,
      gpuShare: 1,
      processorShare: 1,
      dataLimits: NO_DATA_LIMITS,
    },
    hear,
  );
  agent.start();
  return agent;
}

let agent: Agent | null = null;
const input = createInterface({ input: process.stdin });
input.once("line", (line) => {
  agent = begin(JSON.parse(line) as Start);
});
input.once("close", () => {
  isEnding = true;
  agent?.stop();
  setTimeout(() => process.exit(0), agent === null ? 0 : FAREWELL_MS);
});
// The parent process decides when a volunteer ends, even after a Ctrl-C.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => input.close());
}
