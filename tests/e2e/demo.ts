// ./run demo [SCRIPT.py] [ARGS] starts a server, two volunteers in headless Chromium who tap Start on the join page,
// and a researcher's script. The default script trains a grid of eight small networks on scikit-learn's digits in those
// browsers.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { launchChromium } from "../../worker-runtime/node/chromium.ts";
import { joinVolunteer, ROOT, runPython, Server } from "./stack.ts";

const began = performance.now();
const asked = process.argv.slice(2);
const script = asked[0]?.endsWith(".py") ? asked : ["python/examples/digits_grid.py", ...asked];
const state = join(ROOT, "build/demo-state");
await rm(state, { recursive: true, force: true });
await mkdir(state, { recursive: true });

const server = await Server.start({
  state,
  args: ["--project", "Digits demo", "--researcher", "the demo"],
});
let status = 1;
let stopping = false;
const browser = await launchChromium();

async function stop(code: number): Promise<never> {
  if (!stopping) {
    stopping = true;
    await browser.close();
    await server.dispose();
  }
  process.exit(code);
}
process.once("SIGINT", () => void stop(130));
process.once("SIGTERM", () => void stop(143));

try {
  const joinUrl = await server.joinUrl();
  console.log(`server      ${server.compute} (volunteers), ${server.console} (researchers)`);
  console.log(`join page   ${joinUrl}`);
  const study = await runPython(server, script, {
    echo: true,
    env: { HYPERFLOCK_JOIN_URL: joinUrl },
  });
  for (const name of ["first", "second"]) {
    await joinVolunteer(browser, joinUrl);
    console.log(`volunteer   the ${name} tapped Start in headless Chromium`);
  }
  status = await study.done;
  const seconds = Math.round((performance.now() - began) / 1000);
  if (status === 0) {
    console.log(
      `demo        finished in ${seconds} s. Run it yourself: ./run serve, then open the join link on a phone.`,
    );
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error(server.log);
}
await stop(status);
