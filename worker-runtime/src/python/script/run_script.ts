// Runs a Python file or module in Pyodide with array-core, as `python FILE` and `python -m MODULE` do. `./run python`
// uses it in Node and in Chromium. Runs on the python thread; Node or the page provides the files and takes the output.

import { hasRelaxedSimd } from "../../base/simd.ts";
import type { ToGpuThread } from "../../gpu/thread/gpu_messages.ts";
import { arraycoreHost } from "../arraycore/arraycore_host.ts";
import { loadArraycore } from "../arraycore/arraycore_module.ts";
import { type StartThread, startThreads } from "../arraycore/arraycore_threads.ts";
import type { InterruptBuffer } from "../interrupt_buffer.ts";
import type { PyCallable, PyodideApi } from "../pyodide_api.ts";
import type { HookRequest } from "./hooks.fixture.ts";

export interface ScriptJob {
  readonly kind: "file" | "module";
  /** The file's path, or the module's name. */
  readonly target: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The folder where Python stores compiled modules. A later run uses them if their sources are the same. */
  readonly bytecode: string;
  /** Folders from which the script can import modules. Its own folder is searched first. */
  readonly path: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The number of threads that compute on the CPU, including this one. */
  readonly threads: number;
  /** Whether to load the module without relaxed SIMD even if the engine has it. */
  readonly hasBaselineSimd: boolean;
  /** The largest size of array-core's memory in bytes; null for as much as the engine allows. */
  readonly memoryBytes: number | null;
  /** The limits with which the gpu thread opens its device. */
  readonly gpu: Pick<Extract<ToGpuThread, { kind: "open" }>, "limits" | "withoutF16">;
}

/**
 * The messages of the python thread to its host: the exit code at its end, messages for the gpu thread, and requests of
 * a script with hooks.
 */
export type FromScriptThread =
  | { readonly kind: "ended"; readonly code: number }
  | { readonly kind: "gpu"; readonly message: ToGpuThread }
  | { readonly kind: "hook"; readonly request: HookRequest };

/** The process's own streams. Each call blocks. */
export interface Streams {
  /** Returns the number of bytes read; 0 at the end. */
  read(bytes: Uint8Array): number;
  /** Writes to stdout (1) or stderr (2). Returns when all bytes were passed on, in order. */
  write(stream: 1 | 2, bytes: Uint8Array): void;
}

/** The parts of Pyodide's interface that scripts need and trials do not. */
export interface ScriptPyodide extends Omit<PyodideApi, "setInterruptBuffer"> {
  /** Sets the interrupt buffer; `undefined` turns interrupts off. */
  setInterruptBuffer(buffer: { 0: number } | undefined): void;
  readonly FS: {
    mkdirTree(path: string): void;
    writeFile(path: string, data: Uint8Array): void;
    /** Sets a file's times of access and change, in ms since 1970. */
    utime(path: string, atime: number, mtime: number): void;
    readFile(path: string): Uint8Array;
  };
  setStdin(options: { read(bytes: Uint8Array): number; isatty: boolean }): void;
  setStdout(options: { write(bytes: Uint8Array): number; isatty: boolean }): void;
  setStderr(options: { write(bytes: Uint8Array): number; isatty: boolean }): void;
}

export const SITE_PACKAGES = "/lib/python3.14/site-packages";

/**
 * Unpacks a wheel. Python identifies a source that it has compiled by the time of its last change. So each source gets its
 * checksum as its time, because a wheel's own times may be the same for two versions of a package.
 */
export function unpackWheel(pyodide: ScriptPyodide, wheel: Uint8Array): void {
  const path = "/tmp/unpacked.whl";
  pyodide.FS.writeFile(path, wheel);
  const unpack = pyodide.runPython(UNPACK_WHEEL) as PyCallable;
  unpack(path, SITE_PACKAGES);
  unpack.destroy();
}

const UNPACK_WHEEL = `
def _unpack_wheel(path, folder):
    import os, zipfile
    with zipfile.ZipFile(path) as wheel:
        for info in wheel.infolist():
            file = wheel.extract(info, folder)
            if file.endswith(".py"):
                os.utime(file, (info.CRC, info.CRC))
    os.remove(path)

_unpack_wheel
`;

/** Writes a copy of a file of this machine, and sets the time of its last change. */
export function writeCopy(
  pyodide: ScriptPyodide,
  path: string,
  data: Uint8Array,
  changedMs: number,
): void {
  pyodide.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
  pyodide.FS.writeFile(path, data);
  pyodide.FS.utime(path, changedMs, changedMs);
}

export function connectStreams(pyodide: ScriptPyodide, streams: Streams): void {
  pyodide.setStdin({ read: (bytes) => streams.read(bytes), isatty: false });
  for (const [stream, set] of [
    [1, pyodide.setStdout],
    [2, pyodide.setStderr],
  ] as const) {
    set.call(pyodide, {
      isatty: false,
      write: (bytes: Uint8Array) => {
        streams.write(stream, bytes);
        return bytes.length;
      },
    });
  }
}

/** Returns the name of array-core's module that this engine can run. */
export function moduleFile(job: ScriptJob): "arraycore.wasm" | "arraycore-relaxed.wasm" {
  return hasRelaxedSimd(WebAssembly) && !job.hasBaselineSimd
    ? "arraycore-relaxed.wasm"
    : "arraycore.wasm";
}

export interface ArraycoreOptions {
  readonly code: BufferSource;
  readonly job: ScriptJob;
  readonly interrupt: InterruptBuffer;
  /** Sends a message to the gpu thread; null without one. */
  readonly toGpu: ((message: ToGpuThread) => void) | null;
  readonly startThread: StartThread;
}

/**
 * Registers array-core as the module that the package `arraycore` imports. Returns a function that closes array-core
 * and ends its gpu thread.
 */
export async function connectArraycore(
  pyodide: ScriptPyodide,
  { code, job, interrupt, toGpu, startThread }: ArraycoreOptions,
): Promise<() => void> {
  // A script may measure the time from here to its first result (array-core/python/bench/first_result.py).
  performance.mark("arraycore-load");
  const module = await loadArraycore(code, {
    ...(job.memoryBytes === null ? {} : { maximumBytes: job.memoryBytes }),
    host: {
      attach(memory, controlAddress) {
        toGpu?.({ kind: "open", memory, controlAddress, ...job.gpu });
        return toGpu !== null;
      },
      wakeByMessage: () => toGpu?.({ kind: "wake" }),
      takeInterrupt: () => interrupt.take(),
    },
  });
  await startThreads(module, job.threads - 1, startThread);
  const host = arraycoreHost(module);
  pyodide.registerJsModule("_arraycore_host", host);
  return () => {
    host.close();
  };
}

/** Blocks until the script has ended. Returns its exit code. */
export function runScript(pyodide: ScriptPyodide, job: ScriptJob): number {
  const run = pyodide.runPython(RUN) as PyCallable;
  return Number(
    run(
      job.kind,
      job.target,
      JSON.stringify(job.args),
      job.folder,
      JSON.stringify(job.env),
      JSON.stringify(job.path),
      job.bytecode,
    ),
  );
}

// The program that runs the script. Tracebacks leave out its own frames and those of runpy.
const RUN = `
def _run(kind, target, args, folder, env, path, bytecode):
    import atexit, json, os, runpy, sys, time, traceback

    # Pyodide's own sleep looks at no interrupt before its end.
    def sleep(seconds, _whole=time.sleep, _slice=0.05):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > _slice:
            _whole(_slice)
        _whole(min(seconds, max(left, 0)))

    time.sleep = sleep

    def report(error):
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename in (__file__, "<frozen runpy>"):
            frames = frames.tb_next
        traceback.print_exception(type(error), error, frames)

    sys.pycache_prefix, sys.dont_write_bytecode = bytecode, False
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    os.environ.update(json.loads(env))
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    sys.argv = [target, *json.loads(args)]
    own = folder if kind == "module" else os.path.dirname(os.path.abspath(target))
    sys.path[:0] = [own, *json.loads(path)]
    code = 0
    try:
        if kind == "module":
            runpy.run_module(target, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(target, run_name="__main__")
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            code = (error.code or 0) & 255
        else:
            print(error.code, file=sys.stderr)
            code = 1
    except KeyboardInterrupt as error:
        report(error)
        code = 130
    except BaseException as error:
        report(error)
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code

__file__ = _run.__code__.co_filename
_run
`;
