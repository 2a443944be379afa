// Runs one attempt of an Optuna study under the gathered runtime, and prints one JSON line:
//   node pyodide_optuna.mjs RUNTIME_FOLDER spec.json bundle.zip '{"NAME": "VALUE AS JSON TEXT", ...}'
// Node.js, main thread. It reads only the gathered folder and the two files.
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const SITE_PACKAGES = "/lib/python3.14/site-packages";
const [runtime, specFile, bundleFile, answers] = process.argv.slice(2);

async function main() {
  const { pieces } = JSON.parse(readFileSync(join(runtime, "index.json"), "utf8"));
  const folderOf = (piece) => resolve(runtime, basename(pieces[piece].base));
  const core = folderOf("pyodide");
  const { loadPyodide } = await import(pathToFileURL(join(core, "pyodide.mjs")).href);
  const output = [];
  const print = (line) => output.push(line);
  const options = {
    indexURL: `${core}/`,
    packageBaseUrl: `${core}/`,
    stdout: print,
    stderr: print,
  };
  const python = await loadPyodide(options);
  const names = ["numpy", "six", "chainer-7.8.1", "worker"];
  for (const piece of [...names, "packaging", "colorlog", "tqdm", "optuna"]) {
    const bytes = new Uint8Array(readFileSync(join(folderOf(piece), `${piece}.zip`)));
    python.unpackArchive(bytes, "zip", { extractDir: SITE_PACKAGES });
  }
  const asked = [];
  const reports = [];
  python.registerJsModule("_hyperflock_bridge", {
    call: (method, payload) => {
      const { name, distribution } = JSON.parse(payload);
      asked.push([method, name ?? null, distribution ?? null]);
      const value = method === "suggest" ? JSON.parse(answers)[name] : false;
      return JSON.stringify({ ok: true, value });
    },
    report: (step, value) => reports.push([step, value]),
    progress: () => {},
  });
  python.runPython("from hyperflock_worker import compat, runner; compat.install()");
  // A trial without Optuna needs these modules too. So the time that is measured next is Optuna's alone.
  python.runPython("import chainer");
  const started = performance.now();
  python.runPython("import hyperflock._trial.optuna_trial");
  const importMs = Math.round(performance.now() - started);
  const loaded = python.runPython(`
import json, sys
json.dumps({
    "optuna": sorted(name for name in sys.modules if name.split(".")[0] == "optuna"),
    "sources": sorted(
        name for name, module in sys.modules.items()
        if str(getattr(module, "__file__", None) or "").endswith(".py")
        and module.__spec__.origin != "frozen"
    ),
})`);
  const run = python.runPython("runner.run_attempt");
  const bundle = new Uint8Array(readFileSync(bundleFile));
  const outcome = JSON.parse(run(readFileSync(specFile, "utf8"), bundle, {}));
  const answer = { ...JSON.parse(loaded), outcome, asked, reports, output, importMs };
  console.log(JSON.stringify(answer));
}

main().catch((error) => {
  console.error(String(error?.message ?? error).slice(0, 4000));
  process.exitCode = 1;
});
