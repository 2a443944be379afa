// ./run bench grid64 trains MNIST's 64 candidates on the platform, with two volunteers that each have their own
// browser, and the same candidates in CPython. It compares accuracies and total times, and reports each device's share
// and the efficiency. While the volunteers train, it traces the join page's main thread, on which no task may take
// long.
//
//     ./run bench grid64 --data FOLDER --images 10000         # the full benchmark; takes hours without a graphics card
//     ./run bench grid64 --channels 4,16                      # 8 candidates on small digits, for a quick look

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import type { Browser } from "playwright-core";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { type MainThread, traceMainThread } from "./main_thread.ts";
import { joinVolunteer, runPython, Server } from "./stack.ts";

const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: "build/reports/grid64.json" },
    backend: { type: "string", default: "auto" },
    /** The back end that `auto` must choose on this machine, such as webgpu with a graphics card. */
    expect: { type: "string" },
    channels: { type: "string", default: "4,16,64,256" },
    images: { type: "string", default: "320" },
    data: { type: "string" },
    volunteers: { type: "string", default: "2" },
  },
});
const LONG_TASK_MS = 50;

interface Found {
  readonly trials: number;
  readonly makespan_s: number;
  readonly run_s: number;
  readonly devices: number;
  readonly shares: readonly number[];
  readonly efficiency: number;
  readonly adapters: readonly string[];
  readonly worst_loss: number;
  readonly worst_accuracy: number;
  readonly mean_accuracy: number;
}

await mkdir(dirname(options.out), { recursive: true });
const foundAt = `${options.out}.found`;
const server = await Server.start();
const browsers: Browser[] = [];
let found: Found;
let main: MainThread;
try {
  const joinUrl = await server.joinUrl();
  for (let i = 0; i < Number(options.volunteers); i += 1) {
    browsers.push(await launchChromium({ webgpu: true }));
  }
  const [first] = await Promise.all(browsers.map((browser) => joinVolunteer(browser, joinUrl)));
  if (first === undefined || browsers[0] === undefined) throw new Error("Nobody volunteers.");
  const trace = await traceMainThread(browsers[0], first.page);
  const run = await runPython(
    server,
    [
      "tests/e2e/objectives/on_device.py",
      ...["--backend", options.backend, "--channels", options.channels],
      ...["--images", options.images, "--json", foundAt],
      ...(options.data === undefined ? [] : ["--data", options.data]),
      ...(options.expect === undefined ? [] : ["--expect", options.expect]),
    ],
    { echo: true },
  );
  const status = await run.done;
  main = await trace.end();
  found = JSON.parse(await readFile(foundAt, "utf8")) as Found;
  if (status !== 0) console.log("the grid differs from CPython's");
} finally {
  for (const browser of browsers) await browser.close();
  await server.dispose();
}

const figure = (
  name: string,
  value: number,
  unit: string,
  op = "<=",
  goal: number | null = null,
) => ({
  name,
  value,
  unit,
  op,
  goal,
  peer: null,
});
const report = {
  name: "grid64",
  machine: {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    adapters: found.adapters,
    channels: options.channels,
    images: Number(options.images),
  },
  figures: [
    figure("grid64_candidates", found.trials, "", ">="),
    figure("grid64_mean_accuracy_difference", 100 * found.mean_accuracy, "pp", "<=", 0.3),
    figure("grid64_largest_accuracy_difference", 100 * found.worst_accuracy, "pp", "<=", 2),
    figure("grid64_largest_loss_difference", found.worst_loss, "", "<=", 1e-3),
    figure("grid64_makespan", found.makespan_s, "s"),
    figure("grid64_smallest_share", 100 * (found.shares[0] ?? 0), "%", ">="),
    figure("grid64_efficiency", 100 * found.efficiency, "%", ">="),
    figure("grid64_longest_main_task", main.longestMs, "ms", "<=", LONG_TASK_MS),
    figure("grid64_main_tasks", main.tasks, "", ">="),
  ],
};
await writeFile(options.out, `${JSON.stringify(report, null, 2)}\n`);
