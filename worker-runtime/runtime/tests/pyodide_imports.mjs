// Imports every module of a gathered piece, runs CODE, and prints one JSON line:
//   node pyodide_imports.mjs RUNTIME_FOLDER PIECE "CODE"
// {"modules": their number, "errors": {name: sentence}, "said": the value of the variable `said` after CODE}.
// Node.js, main thread. It reads only the gathered folder.
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const SITE_PACKAGES = "/lib/python3.14/site-packages";
const [runtime, piece, code] = process.argv.slice(2);

const IMPORT_ALL = `
import importlib, pkgutil, warnings
warnings.simplefilter("ignore")

def modules(name):
    yield name
    for found in pkgutil.iter_modules([f"${SITE_PACKAGES}/{name.replace('.', '/')}"], name + "."):
        yield from modules(found.name) if found.ispkg else [found.name]

names, errors = list(modules("${piece}")), {}
for name in names:
    try:
        importlib.import_module(name)
    except Exception as error:
        errors[name] = f"{type(error).__name__}: {error}"
`;

async function main() {
  const { pieces } = JSON.parse(readFileSync(join(runtime, "index.json"), "utf8"));
  const folderOf = (name) => resolve(runtime, basename(pieces[name].base));
  const core = folderOf("pyodide");
  const { loadPyodide } = await import(pathToFileURL(join(core, "pyodide.mjs")).href);
  const python = await loadPyodide({ indexURL: `${core}/`, packageBaseUrl: `${core}/` });
  const bytes = new Uint8Array(readFileSync(join(folderOf(piece), `${piece}.zip`)));
  python.unpackArchive(bytes, "zip", { extractDir: SITE_PACKAGES });
  python.runPython(IMPORT_ALL);
  python.runPython(code);
  const answer = `
import json
json.dumps({"modules": len(names), "errors": errors, "said": said})`;
  console.log(python.runPython(answer));
}

main().catch((error) => {
  console.error(String(error?.message ?? error).slice(0, 4000));
  process.exitCode = 1;
});
