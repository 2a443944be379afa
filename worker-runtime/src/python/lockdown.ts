// Removes everything from the python thread that trial code must not reach: storage, networking, workers, the graphics
// device and other hardware. Only names on a list stay, so that interfaces which a browser adds later are removed too.
// The thread's Content-Security-Policy is a second barrier. Runs on the python thread, once, before any code of a
// trial.

/** The names of the JavaScript language, without those that reveal the time zone and the languages. */
const LANGUAGE = [
  ..."Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol".split(
    " ",
  ),
  ..."Date Promise RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError".split(
    " ",
  ),
  ..."TypeError URIError SuppressedError InternalError globalThis JSON Math Iterator".split(" "),
  ..."ArrayBuffer SharedArrayBuffer Atomics DataView Uint8Array Int8Array Uint16Array".split(" "),
  ..."Int16Array Uint32Array Int32Array BigUint64Array BigInt64Array Uint8ClampedArray".split(" "),
  ..."Float16Array Float32Array Float64Array BigInt Map Set WeakMap WeakSet WeakRef".split(" "),
  ..."FinalizationRegistry Proxy Reflect DisposableStack AsyncDisposableStack decodeURI".split(" "),
  ..."decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite isNaN eval".split(
    " ",
  ),
  "WebAssembly",
];

/** The names of the platform that Pyodide and Python's packages use, and functions that only compute. */
const PLATFORM = [
  ..."self name location navigator origin isSecureContext crossOriginIsolated console".split(" "),
  ..."performance crypto atob btoa queueMicrotask structuredClone setTimeout clearTimeout".split(
    " ",
  ),
  ..."setInterval clearInterval addEventListener removeEventListener dispatchEvent".split(" "),
  ..."Event EventTarget CustomEvent ErrorEvent MessageEvent ProgressEvent".split(" "),
  ..."PromiseRejectionEvent MessageChannel MessagePort AbortController AbortSignal".split(" "),
  ..."DOMException QuotaExceededError URL URLSearchParams TextEncoder TextDecoder".split(" "),
  ..."TextEncoderStream TextDecoderStream Blob File FormData Headers Request Response".split(" "),
  ..."ReadableStream ReadableStreamDefaultReader ReadableStreamBYOBReader".split(" "),
  ..."WritableStream WritableStreamDefaultWriter TransformStream CompressionStream".split(" "),
  ..."DecompressionStream ByteLengthQueuingStrategy CountQueuingStrategy Crypto CryptoKey".split(
    " ",
  ),
  ..."SubtleCrypto Performance".split(" "),
  ..."WorkerGlobalScope DedicatedWorkerGlobalScope WorkerLocation WorkerNavigator".split(" "),
  // These two constants cannot be deleted, but the functions that use them are removed.
  "TEMPORARY",
  "PERSISTENT",
];

/** Properties of `navigator` that stay. They have no effects; surroundings.ts gives some of them fixed values. */
const NAVIGATOR = [
  ..."userAgent appCodeName appName appVersion product platform language languages".split(" "),
  ..."onLine hardwareConcurrency".split(" "),
];

export class LockdownError extends Error {
  override readonly name = "LockdownError";
  readonly code = "lockdown_failed";
}

/** Removes all names that are not on the lists. Throws if one cannot be removed; no trial runs in that case. */
export function lockDown(scope: object, navigator: object): void {
  keepOnly(scope, new Set([...LANGUAGE, ...PLATFORM]));
  keepOnly(navigator, new Set(NAVIGATOR));
}

/** Returns the names that still exist but should not. */
export function unlisted(target: object, kept: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const holder of holdersOf(target)) {
    for (const name of Object.getOwnPropertyNames(holder)) {
      const isPinned = Reflect.get(target, name) === undefined && holder === target;
      if (name !== "constructor" && !kept.has(name) && !isPinned) found.push(name);
    }
  }
  return found;
}

// Removes names from the prototypes too, where most of them are accessors. Then it defines each name on the object
// itself. Otherwise trial code could define the name, and a library would treat it as a feature of the platform.
function keepOnly(target: object, kept: ReadonlySet<string>): void {
  const names = unlisted(target, kept);
  for (const holder of holdersOf(target)) {
    for (const name of names) if (Object.hasOwn(holder, name)) Reflect.deleteProperty(holder, name);
  }
  for (const name of names) {
    Reflect.defineProperty(target, name, {
      value: undefined,
      writable: false,
      configurable: false,
    });
  }
  const left = unlisted(target, kept);
  if (left.length > 0) {
    throw new LockdownError(`This browser keeps ${left.join(", ")} within reach of trials.`);
  }
}

function holdersOf(target: object): object[] {
  const holders: object[] = [];
  let holder: object | null = target;
  while (holder !== null && holder !== Object.prototype) {
    holders.push(holder);
    holder = Object.getPrototypeOf(holder) as object | null;
  }
  return holders;
}
