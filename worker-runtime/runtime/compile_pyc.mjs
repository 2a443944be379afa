// Runs compile_pyc.py inside the same Pyodide that the pages will run. So the compiled files have the magic number and
// the marshal format of that Pyodide. Node.js, main thread. Called by packing.py:
//   node compile_pyc.mjs PYODIDE_FOLDER jobs.json
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [folder, jobsFile] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));

async function main() {
  const core = resolve(folder);
  const { loadPyodide } = await import(pathToFileURL(join(core, "pyodide.mjs")).href);
  const python = await loadPyodide({ indexURL: `${core}/` });
  python.runPython(readFileSync(join(here, "compile_pyc.py"), "utf8"));
  const compile = python.globals.get("compile_archive");
  for (const job of JSON.parse(readFileSync(jobsFile, "utf8"))) {
    const source = python.toPy(new Uint8Array(readFileSync(job.source)));
    const options = python.toPy(job.options);
    const packed = compile(source, options);
    writeFileSync(job.target, packed.toJs());
    for (const proxy of [source, options, packed]) proxy.destroy();
  }
}

main().catch((error) => {
  // The message contains a Python traceback. Its last line says what is wrong.
  const lines = String(error?.message ?? error)
    .trim()
    .split("\n");
  console.error(`error: compiling failed: ${lines.at(-1).slice(0, 500)}`);
  process.exitCode = 1;
});
