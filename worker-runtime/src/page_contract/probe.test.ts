// Tests that feature detection names each missing feature. (The page's thread, with a fake global scope.)

import { expect, test } from "vitest";
import { type ProbeScope, probe, probeThread, sharesMemory } from "./probe.ts";

class ModernWorker {
  constructor(_url: string, options: { readonly type: string }) {
    if (options.type !== "module") throw new TypeError();
    throw new SyntaxError("The address is none.");
  }
}
class OldWorker {}

const good: ProbeScope = {
  isSecureContext: true,
  crossOriginIsolated: true,
  Worker: ModernWorker,
  MessageChannel,
  WebAssembly: WebAssembly as unknown as NonNullable<ProbeScope["WebAssembly"]>,
  crypto,
  WebSocket: OldWorker,
  ReadableStream,
  TransformStream,
};
const { Memory, validate } = good.WebAssembly ?? { Memory: undefined, validate: undefined };
if (Memory === undefined || validate === undefined) throw new Error("No WebAssembly here.");

/** A message channel of a browser that cannot share memory between threads. */
class PrivateChannel {
  readonly port1 = {
    postMessage: (message: unknown) => {
      throw new DOMException(`${typeof message} can not be cloned.`, "DataCloneError");
    },
    close: () => {},
  };
}

/** The WebAssembly functions of Node, without and with JSPI. */
const withoutJspi = { Memory, validate };
const withJspi = { Memory, validate, Suspending: class {}, promising: () => {} };

test("A page that is not isolated can compute where WebAssembly waits by itself.", () => {
  expect(probe({ ...good, crossOriginIsolated: false, WebAssembly: withJspi })).toBeNull();
});

test("So can an isolated one that shares none.", () => {
  const alone = { MessageChannel: PrivateChannel, WebAssembly: withJspi };
  expect(probe({ ...good, ...alone })).toBeNull();
  expect(sharesMemory({ ...good, ...alone })).toBe(false);
  expect(sharesMemory(good)).toBe(true);
});

test("A browser with everything can compute.", () => {
  expect(probe(good)).toBeNull();
  expect(probeThread(good)).toBeNull();
});

test.each<[string, { readonly [Key in keyof ProbeScope]?: ProbeScope[Key] | undefined }]>([
  ["no_shared_memory", { MessageChannel: PrivateChannel, WebAssembly: withoutJspi }],
  ["insecure_context", { isSecureContext: false, crossOriginIsolated: false }],
  ["not_isolated", { crossOriginIsolated: false, WebAssembly: withoutJspi }],
  ["no_module_workers", { Worker: OldWorker }],
  ["no_module_workers", { Worker: undefined }],
  ["no_wasm_simd", { WebAssembly: { Memory, validate: () => false } }],
  ["no_webassembly", { WebAssembly: undefined }],
  ["no_webassembly", { WebAssembly: undefined, crypto: undefined, crossOriginIsolated: false }],
  ["no_crypto", { crypto: {} }],
  ["no_crypto", { crypto: undefined, WebSocket: undefined }],
  ["no_websocket", { WebSocket: undefined }],
  ["no_streams", { ReadableStream: undefined }],
  ["no_streams", { TransformStream: undefined }],
  [
    "no_shared_memory",
    {
      WebAssembly: {
        validate,
        Memory: class {
          readonly buffer = new ArrayBuffer(8);
        },
      },
    },
  ],
  [
    "no_shared_memory",
    {
      WebAssembly: {
        validate,
        Memory: class {
          readonly buffer = null;
          constructor() {
            throw new RangeError("No room.");
          }
        },
      },
    },
  ],
])("%s", (reason, change) => {
  const scope = { ...good, ...change } as ProbeScope;
  expect(probe(scope)).toBe(reason);
  // A thread cannot try a module worker without starting one.
  if (reason !== "no_module_workers" || scope.Worker === undefined) {
    expect(probeThread(scope)).toBe(reason);
  }
});
