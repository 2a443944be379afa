// ./run bench first_sklearn measures how long a volunteer waits for the first finished fit of scikit-learn, and what the
// packs add to a visit. The time begins with the tap on Start and ends after the fit, which the objective measures. It
// is measured with a new browser profile (cold), and for another study with the same packs in a new tab (warm).

import { parseArgs } from "node:util";
import { CountingProxy } from "../counting_proxy.ts";
import { Server } from "../stack.ts";
import { bytesOf, median, visits, writeReport } from "./visits.ts";

const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: "build/reports/first_sklearn.json" },
    rounds: { type: "string", default: "5" },
  },
});

const server = await Server.start();
const proxy = await CountingProxy.start(server.compute);
const PACK = /^\/runtime\/(scikit-learn|scipy|joblib|threadpoolctl)-[0-9a-f]{16}\//;
const isPack = (path: string): boolean => PACK.test(path);

try {
  const script = ["tests/e2e/objectives/first_fit.py"];
  const { cold, warm } = await visits(server, proxy, Number(options.rounds), {
    cold: [...script, "svc"],
    warm: [...script, "forest"],
  });
  const seconds = [cold, warm].map((visited) => median(visited.map((v) => v.seconds)));
  await writeReport(options.out, "first_sklearn", [
    ["first_sklearn_s", seconds[0] ?? Number.NaN, "s", 12],
    ["second_sklearn_s", seconds[1] ?? Number.NaN, "s", 3],
    ["sklearn_packs_mb", median(cold.map((v) => bytesOf(v, isPack))) / 1e6, "MB", 16],
    ["second_sklearn_packs_bytes", Math.max(...warm.map((v) => bytesOf(v, isPack))), "B", 0],
  ]);
} finally {
  await proxy.close();
  await server.dispose();
}
