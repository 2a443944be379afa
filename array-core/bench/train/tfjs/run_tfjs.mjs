// Trains the bench's networks with TensorFlow.js in Chromium and prints one JSON object a line, like ../steps.py.
//
//   node run_tfjs.mjs [--backend webgpu] [--seconds 5] resnet18:16 resnet18:64 ...
//
// TensorFlow.js is read from node_modules next to this file (npm ci), or from the folder that the environment variable
// TFJS names.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { launchChromium } from "../../../../worker-runtime/node/chromium.ts";

const here = dirname(fileURLToPath(import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    backend: { type: "string", default: "webgpu" },
    seconds: { type: "string", default: "5" },
    blocks: { type: "string", default: "5" },
    block: { type: "string", default: "10" },
  },
});

function script(name, folder) {
  const places = [
    join(process.env.TFJS ?? "", name),
    join(here, "node_modules/@tensorflow", folder, "dist", name),
  ];
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error(`${name} is not there: npm ci in ${here}`);
  return readFileSync(found);
}

const page = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>TensorFlow.js</title>
<script src="tf.js"></script><script src="webgpu.js"></script>`;
const files = {
  "/": ["text/html", page],
  "/tf.js": ["text/javascript", script("tf.min.js", "tfjs")],
  "/webgpu.js": ["text/javascript", script("tf-backend-webgpu.min.js", "tfjs-backend-webgpu")],
  "/page.mjs": ["text/javascript", readFileSync(join(here, "page.mjs"))],
};
const server = createServer((request, response) => {
  const [type, body] = files[request.url] ?? [];
  if (body === undefined) response.writeHead(404).end();
  else response.writeHead(200, { "Content-Type": type }).end(body);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

const browser = await launchChromium({ webgpu: values.backend === "webgpu" });
let failed = 0;
try {
  const tab = await browser.newPage();
  // WebGPU reports refused commands only on the console, and a step whose commands are refused seems fast. So messages
  // on the console count as failures.
  tab.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    if (!/WebGPU|GPU|invalid|error/i.test(message.text())) return;
    failed += 1;
    console.error(message.text());
  });
  await tab.goto(`http://127.0.0.1:${server.address().port}/`);
  const device = await tab.evaluate(
    async (backend) => (await import("/page.mjs")).open(backend),
    values.backend,
  );
  const [seconds, blocks, block] = [values.seconds, values.blocks, values.block].map(Number);
  for (const each of positionals) {
    const [name, batch] = each.split(":");
    const before = failed;
    const made = await tab.evaluate(
      async ([model, size, options]) => (await import("/page.mjs")).measure(model, size, options),
      [name, Number(batch), { seconds, blocks, block }],
    );
    console.log(JSON.stringify({ ...made, device, errors: failed - before }));
  }
} finally {
  await browser.close();
  server.close();
}
