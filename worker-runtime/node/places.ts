// Finds the parts of the worker runtime in a checkout, and the files that a Pyodide consists of. Node, any thread.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RuntimeIndex } from "../src/python/messages.ts";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const RUNTIME = join(ROOT, "build/runtime");
export const ARRAYCORE_MODULES = join(ROOT, "build/arraycore");
export const ARRAYCORE_PACKAGE = join(ROOT, "array-core/python/arraycore");

/**
 * The pieces of the built runtime that a script gets in addition to Pyodide. Chainer is not one of them. For a script
 * that needs it, the command line names Chainer's wheel.
 */
const PIECES = ["numpy", "six", "worker"];

export interface RuntimePlaces {
  /** The folder of Pyodide's own files. */
  readonly core: string;
  /** The archives that are unpacked into site-packages. */
  readonly archives: readonly string[];
}

export function runtimePlaces(): RuntimePlaces {
  if (
    !existsSync(join(RUNTIME, "index.json")) ||
    !existsSync(join(ARRAYCORE_MODULES, "arraycore.wasm"))
  ) {
    throw new Error("The runtime or arraycore.wasm is not built: use ./run python.");
  }
  const { pieces } = JSON.parse(readFileSync(join(RUNTIME, "index.json"), "utf8")) as RuntimeIndex;
  const folderOf = (name: string): string => {
    const piece = pieces[name];
    if (piece === undefined) throw new Error(`The runtime has no piece '${name}'.`);
    return join(RUNTIME, basename(piece.base));
  };
  return {
    core: folderOf("pyodide"),
    archives: PIECES.map((name) => join(folderOf(name), `${name}.zip`)),
  };
}

/**
 * Returns the folder where `./run python` keeps compiled modules between runs. Two versions of a package have the same
 * paths, so each choice of wheels has its own folder.
 */
export function bytecodeFolder(wheels: readonly string[]): string {
  const names = wheels.map((path) => basename(path)).join("\n");
  const key = createHash("sha256").update(names).digest("hex").slice(0, 16);
  return join(ROOT, "build/cache/bytecode", key);
}

/** Returns the wheels for `-m pytest`. test_wheels.json pins them, and test_wheels.py fetches them. */
export function testWheels(): string[] {
  const pinned = JSON.parse(
    readFileSync(join(ROOT, "worker-runtime/node/test_wheels.json"), "utf8"),
  ) as { pieces: { file: string }[] };
  return pinned.pieces.map(({ file }) => join(ROOT, "build/cache/downloads", file));
}
