// `./run python` runs a Python file or module in the worker runtime, with arraycore. Output and exit code are the script's
// own. Other exit codes: 2 for a wrong command line, 70 if the runtime broke, 130 after Ctrl-C. Node, main thread.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { ScriptJob } from "../src/python/script/run_script.ts";
import { runInNode } from "./node_host.ts";
import { type Options, PHONE, parseOptions, USAGE, UsageError } from "./options.ts";
import { bytecodeFolder, testWheels } from "./places.ts";

/** Matches the names of environment variables that the script gets. It gets no others. */
const PASSED = /^(ARRAYCORE|HYPERFLOCK|PYTEST)_/;

async function main(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  const wheels = [...options.wheels];
  if (options.kind === "module" && options.target === "pytest") wheels.push(...testWheels());
  const bytecode = bytecodeFolder(wheels);
  mkdirSync(bytecode, { recursive: true });
  const job = jobOf(options, bytecode);
  const mounts = [...options.mounts, bytecode];
  if (options.kind === "file") mounts.push(dirname(options.target));
  const script = { job, mounts: outermost(mounts), wheels, hasHooks: options.hooks };
  if (options.host === "node") return runInNode(script, options.backend);
  const { runInChromium } = await import("./chromium_host.ts");
  return runInChromium(script, options.backend);
}

function jobOf(options: Options, bytecode: string): ScriptJob {
  const passed = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && PASSED.test(name) ? [[name, value] as const] : [],
  );
  const env: Record<string, string> = Object.fromEntries(passed);
  env.ARRAYCORE_BACKEND = options.backend;
  if (options.phone) env.ARRAYCORE_BUDGET_BYTES = String(PHONE.budgetBytes);
  return {
    kind: options.kind,
    target: options.target,
    args: options.args,
    folder: process.cwd(),
    bytecode,
    path: options.mounts,
    env,
    threads: options.threads,
    hasBaselineSimd: options.baseline,
    memoryBytes: options.phone ? PHONE.memoryBytes : null,
    gpu: options.phone ? PHONE.gpu : {},
  };
}

/** Returns the folders that are not inside another folder of the list. */
function outermost(folders: readonly string[]): string[] {
  const unique = [...new Set(folders)];
  return unique.filter(
    (folder) => !unique.some((other) => other !== folder && folder.startsWith(`${other}/`)),
  );
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
