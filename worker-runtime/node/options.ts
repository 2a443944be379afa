// Parses the command line of `./run python`. Node, main thread.

import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { MAX_THREADS } from "../src/python/arraycore/arraycore_threads.ts";

export const USAGE =
  "usage: ./run python [--host node|chromium] [--backend webgpu|webgl2|cpu] [--limits phone] [--simd baseline] [--threads N] [--hooks] [--mount DIR]... " +
  "[--wheel FILE]... SCRIPT | -m MODULE [ARGS]";

const MIB = 1_048_576;

/** The limits of `--limits phone`, which are similar to those of a small phone's graphics device and memory. */
export const PHONE = {
  /** The largest size of array-core's memory. */
  memoryBytes: 256 * MIB,
  budgetBytes: 256 * MIB,
  gpu: {
    limits: {
      maxStorageBuffers: 8,
      maxBindingBytes: 128 * MIB,
      maxWorkgroupBytes: 16 * 1024,
      maxInvocations: 128,
    },
    withoutF16: true,
  },
} as const;

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface Options {
  readonly host: "node" | "chromium";
  /** WebGL2 exists in Chromium only. */
  readonly backend: "webgpu" | "webgl2" | "cpu";
  /** Whether to use the limits of PHONE. */
  readonly phone: boolean;
  /** The number of threads that compute on the CPU, including Python's. */
  readonly threads: number;
  /** Whether to load the module without relaxed SIMD even if the host has it. */
  readonly baseline: boolean;
  /** Whether the script can import `_arraycore_hooks`, which tests use to make the device fail. */
  readonly hooks: boolean;
  /** The absolute paths of folders that the script sees under the same paths. It can import modules from them. */
  readonly mounts: readonly string[];
  readonly wheels: readonly string[];
  readonly kind: "file" | "module";
  readonly target: string;
  readonly args: readonly string[];
}

function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found === undefined) {
    throw new UsageError(`${option} is one of ${allowed.join(", ")}, not '${value}'.`);
  }
  return found;
}

function folder(path: string): string {
  const absolute = resolve(path);
  if (!existsSync(absolute) || !statSync(absolute).isDirectory()) {
    throw new UsageError(`--mount ${path}: there is no such folder.`);
  }
  return absolute;
}

function file(what: string, path: string): string {
  const absolute = resolve(path);
  if (!existsSync(absolute) || !statSync(absolute).isFile()) {
    throw new UsageError(`${what}${path}: there is no such file.`);
  }
  return absolute;
}

export function parseOptions(argv: readonly string[]): Options {
  let host: Options["host"] = "node";
  let backend: Options["backend"] = "cpu";
  let phone = false;
  let threads = 1;
  let baseline = false;
  let hooks = false;
  const mounts: string[] = [];
  const wheels: string[] = [];
  const common = () => ({ host, backend, phone, threads, baseline, hooks, mounts, wheels });
  const rest = [...argv];
  while (rest.length > 0) {
    const option = rest.shift() as string;
    if (!option.startsWith("-")) {
      const target = file("", option);
      return { ...common(), kind: "file", target, args: rest };
    }
    if (option === "--hooks") {
      hooks = true;
      continue;
    }
    const value = rest.shift();
    if (value === undefined) throw new UsageError(`${option} needs a value.`);
    switch (option) {
      case "-m":
        return { ...common(), kind: "module", target: value, args: rest };
      case "--host":
        host = oneOf(option, value, ["node", "chromium"]);
        break;
      case "--backend":
        backend = oneOf(option, value, ["webgpu", "webgl2", "cpu"]);
        break;
      case "--limits":
        oneOf(option, value, ["phone"]);
        phone = true;
        break;
      case "--threads":
        threads = Number(value);
        if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
          throw new UsageError(`--threads is a whole number from 1 to ${MAX_THREADS}.`);
        }
        break;
      case "--simd":
        oneOf(option, value, ["baseline"]);
        baseline = true;
        break;
      case "--mount":
        mounts.push(folder(value));
        break;
      case "--wheel":
        wheels.push(file("--wheel ", value));
        break;
      default:
        throw new UsageError(`There is no option ${option}.`);
    }
  }
  throw new UsageError("Name a script, or a module by -m.");
}
