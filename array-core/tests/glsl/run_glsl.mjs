// run_glsl.mjs FOLDER [--every N] [NAME] runs the cases that glsl_cases wrote by WebGL2 in Chromium, and compares every
// byte of every storage. With --every N, it runs about one case in N, always the same ones. Node, main thread.
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { launchChromium } from "../../../worker-runtime/node/chromium.ts";
import { chosenCases } from "../wgsl/chosen_cases.mjs";
import { compare, tally } from "../wgsl/compare.mjs";

const PAGE = "../../../worker-runtime/src/gpu/testing/glsl_page.fixture.ts";
const BATCH = 32;

const { cases, slice, only } = chosenCases("run_glsl.mjs");

const bundle = await build({
  configFile: false,
  logLevel: "error",
  build: {
    write: false,
    minify: false,
    target: "esnext",
    rolldownOptions: { input: fileURLToPath(new URL(PAGE, import.meta.url)) },
  },
});
const browser = await launchChromium({ webgl2: true });
const page = await browser.newPage();
await page.addScriptTag({ content: bundle.output[0].code });
const device = await page.evaluate(() => globalThis.device());

/** Returns what is wrong with a case's result. */
function problemsOf(one, { problem, after }) {
  if (problem !== "") return [problem];
  const problems = [];
  tally.worst = 0;
  for (const [i, b] of one.buffers.entries()) {
    const got = new Uint8Array(Buffer.from(after[i], "base64"));
    const difference = compare(b.dtype, slice(b.before), slice(b.after), got, one);
    if (difference) problems.push(`slot ${b.slot}: ${difference}`);
  }
  return problems;
}

let passed = 0;
let failed = 0;
for (let at = 0; at < cases.length; at += BATCH) {
  const batch = cases.slice(at, at + BATCH);
  const sent = batch.map(({ stages, scratch, uniforms, buffers }) => ({
    stages,
    scratch,
    uniforms,
    buffers: buffers.map(({ slot, before }) => ({
      slot,
      before: Buffer.from(slice(before)).toString("base64"),
    })),
  }));
  const results = await page.evaluate((list) => globalThis.runCases(list), sent);
  for (const [i, one] of batch.entries()) {
    const problems = problemsOf(one, results[i]);
    if (problems.length === 0) {
      passed++;
      if (only && one.ulp > 0) console.log(`${one.name}: worst ${tally.worst} of ${one.ulp}`);
      continue;
    }
    failed++;
    if (failed <= 60) console.log(`FAILED ${one.name}: ${problems.slice(0, 3).join("; ")}`);
    if (only) console.log(one.stages.join("\n----\n"));
  }
}
await browser.close();
console.log(`glsl cases on ${device}: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
