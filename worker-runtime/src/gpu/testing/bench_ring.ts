// Measures the cost of the ring and its executor, compared with the same work without a ring in the same run: node
// bench_ring.ts --host node|chromium [--out FILE]. Runs in Node, on the main thread.

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openDawn } from "../thread/node_gpu.ts";
import { openRingPage } from "./chromium.fixture.ts";
import { dawnModule, startThread } from "./dawn.fixture.ts";
import { type Figures, measure } from "./figures.fixture.ts";

const { values } = parseArgs({ options: { host: { type: "string" }, out: { type: "string" } } });

async function inNode(): Promise<Figures> {
  const rig = startThread();
  try {
    return await measure(rig.ring, await openDawn(dawnModule));
  } finally {
    await rig.close();
  }
}

async function inChromium(): Promise<Figures> {
  const page = await openRingPage();
  try {
    return await page.run<Figures>({}, { kind: "measure" });
  } finally {
    await page.close();
  }
}

const host = values.host ?? "node";
const figures = await (host === "chromium" ? inChromium() : inNode());
const report = {
  host,
  ...figures,
  readback_ratio: figures.readback_ms / figures.hand_readback_ms,
  dispatch_ratio: figures.dispatch_us / figures.hand_dispatch_us,
};
const text = `${JSON.stringify(report, null, 2)}\n`;
process.stdout.write(text);
if (values.out !== undefined) writeFileSync(values.out, text);
process.exit(0);
