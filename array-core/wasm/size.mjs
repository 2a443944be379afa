// What a volunteer downloads for array-core: the module and its own loader's sources, gzip -9. Fails above the bar. The
// last line is one JSON object, for ./run bench array-core.
//   node size.mjs arraycore.wasm
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const BAR_BYTES = 600_000;
const LOADER = ["arraycore_module.ts", "arraycore_host.ts"];

const [module] = process.argv.slice(2);
const loader = LOADER.map((name) =>
  readFileSync(new URL(`../../worker-runtime/src/python/${name}`, import.meta.url)),
);
const packed = (bytes) => gzipSync(bytes, { level: 9 }).length;
const wasm = readFileSync(module);
const total = packed(wasm) + loader.reduce((sum, bytes) => sum + packed(bytes), 0);
console.log(
  `arraycore.wasm ${wasm.length} bytes, gzip ${packed(wasm)}; with its loader ${total} of ${BAR_BYTES}`,
);
if (total > BAR_BYTES) {
  console.error("array-core is larger than its bar.");
  process.exitCode = 1;
}
console.log(JSON.stringify({ wasm_and_js_gzip_bytes: total, wasm_gzip_bytes: packed(wasm) }));
