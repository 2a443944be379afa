// Checks that array-core never makes code from text at run time, so that it runs under a policy without 'unsafe-eval'.
// The module must not import a function that makes code, the folder must not contain a script of Emscripten, and the
// loader's sources must not make code either.
//   node no_dynamic_code.mjs FOLDER
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LOADER = ["arraycore_module.ts", "arraycore_host.ts"];
/** Matches Emscripten's imports that run text, call inline JavaScript, or load further code. */
const RUNS_TEXT = /run_script|asm_const|asm_sync|em_js|dlopen|dynlib|load_side|wget|eval/i;
const MAKES_CODE = /\beval\s*\(|\bFunction\s*\(|\bset(?:Timeout|Interval)\s*\(\s*["'`]|\bimport\s*\(/;

const [folder] = process.argv.slice(2);
const problems = [];
for (const name of readdirSync(folder)) {
  if (/\.[cm]?js$/.test(name)) problems.push(`${name}: a script that the loader does not know`);
}
const modules = readdirSync(folder).filter((name) => name.endsWith(".wasm"));
if (modules.length === 0) problems.push(`${folder} has no module`);
let imports = 0;
for (const file of modules) {
  const module = await WebAssembly.compile(readFileSync(join(folder, file)));
  for (const { module: space, name } of WebAssembly.Module.imports(module)) {
    imports += 1;
    if (RUNS_TEXT.test(name)) problems.push(`${file} imports ${space}.${name}`);
  }
}
for (const name of LOADER) {
  const source = readFileSync(
    new URL(`../../worker-runtime/src/python/arraycore/${name}`, import.meta.url),
    "utf8",
  );
  if (MAKES_CODE.test(source)) problems.push(`${name}: makes code of text`);
}
console.log(`${modules.join(", ")}: ${imports} imports, ${problems.length} that make code of text`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
