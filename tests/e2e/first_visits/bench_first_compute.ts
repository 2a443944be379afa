// ./run bench first_compute measures how long a volunteer waits and how much is downloaded. The time begins with the
// tap on Start and ends with the first optimizer.update in the page, which the objective measures. It is measured five
// times with a new browser profile (cold), and five times with a new tab of the same profile (warm). The bytes of both
// visits are counted.

import { parseArgs } from "node:util";
import { CountingProxy } from "../counting_proxy.ts";
import { Server } from "../stack.ts";
import { bytesOf, median, visits, writeReport } from "./visits.ts";

const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: "build/reports/first_compute.json" },
    rounds: { type: "string", default: "5" },
  },
});

const server = await Server.start();
const proxy = await CountingProxy.start(server.compute);
const isAsset = (path: string): boolean =>
  (path.startsWith("/runtime/") || path.startsWith("/app/")) && path !== "/runtime/index.json";

try {
  const script = ["tests/e2e/objectives/first_update.py"];
  const { cold, warm } = await visits(server, proxy, Number(options.rounds), {
    cold: script,
    warm: script,
  });
  const seconds = [cold, warm].map((visited) => median(visited.map((v) => v.seconds)));
  await writeReport(options.out, "first_compute", [
    ["first_compute_cold_s", seconds[0] ?? Number.NaN, "s", 25],
    ["first_compute_warm_s", seconds[1] ?? Number.NaN, "s", 8],
    ["first_visit_mb", median(cold.map((v) => bytesOf(v))) / 1e6, "MB", 12],
    ["warm_visit_asset_bytes", Math.max(...warm.map((v) => bytesOf(v, isAsset))), "B", 0],
  ]);
} finally {
  await proxy.close();
  await server.dispose();
}
