// Runs one attempt in the gathered runtime, as a worker's python thread does, and prints one JSON line:
//   node pyodide_smoke.mjs RUNTIME_FOLDER CHAINER_VERSION spec.json bundle.zip images.npy
// Node.js, main thread. It reads only the gathered folder and the three files.
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const SITE_PACKAGES = "/lib/python3.14/site-packages";
const [runtime, chainer, specFile, bundleFile, imagesFile] = process.argv.slice(2);

async function main() {
  const timings = {};
  const timed = async (name, work) => {
    const started = performance.now();
    const result = await work();
    timings[name] = Math.round(performance.now() - started);
    return result;
  };
  const { pieces } = JSON.parse(readFileSync(join(runtime, "index.json"), "utf8"));
  const folderOf = (piece) => resolve(runtime, basename(pieces[piece].base));

  const core = folderOf("pyodide");
  const { loadPyodide } = await import(pathToFileURL(join(core, "pyodide.mjs")).href);
  const output = [];
  const python = await timed("load_pyodide_ms", () =>
    loadPyodide({
      indexURL: `${core}/`,
      packageBaseUrl: `${core}/`,
      stdout: (t) => output.push(t),
    }),
  );
  for (const piece of ["numpy", "six", `chainer-${chainer}`, "worker"]) {
    await timed(`unpack_${piece}_ms`, () => {
      const [entry] = pieces[piece].files;
      const bytes = new Uint8Array(readFileSync(join(folderOf(piece), entry.name)));
      python.unpackArchive(bytes, "zip", { extractDir: SITE_PACKAGES });
    });
  }
  await timed("import_numpy_ms", () => python.runPython("import numpy"));
  const run = await timed("import_runner_ms", () =>
    python.runPython("from hyperflock_worker import compat, runner; runner.run_attempt"),
  );
  await timed("import_chainer_ms", () => python.runPython("compat.install(); import chainer"));

  const reports = [];
  let progress = 0;
  let started = 0;
  python.registerJsModule("_hyperflock_bridge", {
    call: () => '{"ok": true, "value": false}',
    report: (step, value) => {
      if (reports.length === 0) timings.first_step_ms = Math.round(performance.now() - started);
      reports.push([step, value]);
    },
    progress: () => {
      progress += 1;
    },
  });
  // Bundle and data are JavaScript objects and buffers, as in the message that a worker gets.
  const bundle = new Uint8Array(readFileSync(bundleFile));
  const data = { images: ["npy", new Uint8Array(readFileSync(imagesFile))] };
  started = performance.now();
  const outcome = await timed("attempt_ms", () =>
    run(readFileSync(specFile, "utf8"), bundle, data),
  );
  const sources = python.runPython(`
import json, sys
json.dumps(sorted(
    name for name, module in sys.modules.items()
    if str(getattr(module, "__file__", None) or "").endswith(".py")
    and module.__spec__.origin != "frozen"
))`);
  console.log(
    JSON.stringify({
      outcome: JSON.parse(outcome),
      reports,
      progress,
      output,
      timings,
      source_modules: JSON.parse(sources),
      modules: python.runPython("len(sys.modules)"),
    }),
  );
}

main().catch((error) => {
  console.error(String(error?.message ?? error).slice(0, 4000));
  process.exitCode = 1;
});
