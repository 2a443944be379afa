// Measures Graphile Worker: `node graphile.mjs CONNECTION MODE JOBS RATE`, of which MODE is `single`
// or `batched`. First it drains JOBS jobs that do nothing, and then it adds jobs at RATE a second
// for 10 seconds, from another process. Prints one JSON object: jobs_per_s, and the milliseconds from
// before a job is added until it runs.
import { fork } from "node:child_process";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const [connectionString, mode, jobs, rate] = process.argv.slice(2);
const WORKERS = 32;
const PACED_S = 10;
// What its documentation advises for many short jobs.
const BATCHED = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

const logger = new Logger(() => () => {});
const now_ms = () => Number(process.hrtime.bigint()) / 1e6; // the same clock in each process

if (mode === "add") {
  await add();
  process.exit(0);
}

const pool = new pg.Pool({ connectionString, max: WORKERS + 2 });
let left = 0;
let drained = () => {};
const waits = [];
const taskList = {
  nothing: (payload) => {
    if (payload.added_ms !== undefined) waits.push(now_ms() - payload.added_ms);
    left -= 1;
    if (left === 0) drained();
  },
};
const preset = {
  worker: { concurrentJobs: WORKERS, ...(mode === "batched" ? BATCHED : {}) },
};

const first = await run({ pgPool: pool, preset, logger, taskList });
await first.stop(); // it has made its tables

await pool.query(
  `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
     SELECT ('nothing', '{}'::json, NULL, NULL, 25, NULL, NULL, NULL)::graphile_worker.job_spec
     FROM generate_series(1, $1)))`,
  [Number(jobs)],
);
left = Number(jobs);
const done = new Promise((resolve) => {
  drained = resolve;
});
const begun = performance.now();
const runner = await run({ pgPool: pool, preset, logger, taskList });
await done;
// A job is done when its row is gone.
for (;;) {
  const { rows } = await pool.query("SELECT FROM graphile_worker._private_jobs LIMIT 1");
  if (rows.length === 0) break;
}
const seconds = (performance.now() - begun) / 1000;

const paced = Number(rate) * PACED_S;
left = paced;
const finished = new Promise((resolve) => {
  drained = resolve;
});
fork(fileURLToPath(import.meta.url), [connectionString, "add", jobs, rate]);
await finished;
await runner.stop();
await pool.end();
waits.sort((a, b) => a - b);
const at = (share) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))];
console.log(
  JSON.stringify({ jobs_per_s: Number(jobs) / seconds, p50_ms: at(0.5), p99_ms: at(0.99) }),
);

async function add() {
  const adding = new pg.Pool({ connectionString, max: 64 });
  const utils = await makeWorkerUtils({ pgPool: adding, logger });
  const count = Number(rate) * PACED_S;
  const all = [];
  const start = performance.now();
  while (all.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - start) / 1000) * Number(rate)));
    while (all.length < due) all.push(utils.addJob("nothing", { added_ms: now_ms() }));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(all);
  await utils.release();
  await adding.end();
}
