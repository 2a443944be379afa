// Loads packs with all that they need into the gathered runtime, as a worker's python thread does, runs Python code, and
// prints its variable `said` as one JSON line:
//   node pyodide_packs.mjs RUNTIME_FOLDER PACKS_FOLDER "name name" CODE
// Node.js, main thread.
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const SITE_PACKAGES = "/lib/python3.14/site-packages";
const [runtime, folder, names, code] = process.argv.slice(2);

async function main() {
  const { pieces } = JSON.parse(readFileSync(join(runtime, "index.json"), "utf8"));
  const { packs } = JSON.parse(readFileSync(join(folder, "packs.json"), "utf8"));
  const folderOf = (root, piece) => resolve(root, basename(piece.base));
  const core = folderOf(runtime, pieces.pyodide);
  const { loadPyodide } = await import(pathToFileURL(join(core, "pyodide.mjs")).href);
  const python = await loadPyodide({
    indexURL: `${core}/`,
    packageBaseUrl: `${core}/`,
    stdout: (line) => process.stderr.write(`${line}\n`),
  });
  const unpack = (root, piece) => {
    const bytes = readFileSync(join(folderOf(root, piece), piece.files[0].name));
    python.unpackArchive(new Uint8Array(bytes), "zip", { extractDir: SITE_PACKAGES });
  };
  for (const name of ["numpy", "six", "worker"]) unpack(runtime, pieces[name]);
  const wanted = new Set(names.split(" "));
  for (const name of wanted) {
    unpack(folder, packs[name]);
    for (const need of packs[name].needs) wanted.add(need);
  }
  python.runPython("from hyperflock_worker import compat, runner; compat.install()");
  python.runPython(code);
  console.log(python.runPython("import json; json.dumps(said)"));
}

main().catch((error) => {
  console.error(String(error?.message ?? error).slice(-4000));
  process.exitCode = 1;
});
