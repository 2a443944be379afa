// The table of the browser features that pages and threads use, and that not every browser of the stated minimum has: newer
// ones, ones of some engines only, and ones that a browser may switch off. server/docs/browsers.md shows it, and tests
// delete each feature in turn. No product code imports this file. Any thread; pure data.

import type { UnsupportedReason } from "../page_contract/volunteer_state.ts";

/** The first version with a feature; null if no version has it. */
export interface Since {
  readonly chrome: number | null;
  readonly firefox: number | null;
  readonly safari: number | null;
}

export interface Feature {
  readonly name: string;
  /** "off": every browser of the minimum has it, but may switch it off. */
  readonly since: Since | "off";
  readonly usedBy: string;
  /** What happens without it: the code of a refusal, or that the project works all the same. */
  readonly without: UnsupportedReason | "own function" | "goes on";
  /** The consequence, in a sentence of the document. */
  readonly consequence: string;
  /** JavaScript that removes the feature from the global scope of a page or a thread. */
  readonly remove: string;
  /** A JavaScript expression: whether a scope has the feature, as far as `remove` removes it. */
  readonly present: string;
}

const since = (chrome: number | null, firefox: number | null, safari: number | null): Since => ({
  chrome,
  firefox,
  safari,
});

/** Returns JavaScript that makes properties of an object absent, wherever they are inherited from. */
const gone = (object: string, ...names: readonly string[]): string => `
  for (let holder = ${object}; holder !== null; holder = Object.getPrototypeOf(holder)) {
    for (const name of ${JSON.stringify(names)}) delete holder[name];
  }`;
const navigatorLacks = (...names: readonly string[]) => gone("navigator", ...names);
const scopeLacks = (...names: readonly string[]) => gone("globalThis", ...names);

const ownFunctions: readonly Feature[] = [
  {
    name: "Promise.withResolvers",
    since: since(119, 121, 17.4),
    usedBy: "pages, agent, python",
    without: "own function",
    consequence: "The own function does the same.",
    remove: gone("Promise", "withResolvers"),
    present: "'withResolvers' in Promise",
  },
  {
    name: "AbortSignal.any",
    since: since(116, 124, 17.4),
    usedBy: "agent",
    without: "own function",
    consequence: "The own function does the same.",
    remove: gone("AbortSignal", "any"),
    present: "'any' in AbortSignal",
  },
  {
    name: "String.prototype.isWellFormed",
    since: since(111, 119, 16.4),
    usedBy: "pages, agent",
    without: "own function",
    consequence: "The own function does the same.",
    remove: gone("String.prototype", "isWellFormed"),
    present: "'isWellFormed' in String.prototype",
  },
  {
    name: "String.prototype.toWellFormed",
    since: since(111, 119, 16.4),
    usedBy: "agent",
    without: "own function",
    consequence: "The own function does the same.",
    remove: gone("String.prototype", "toWellFormed"),
    present: "'toWellFormed' in String.prototype",
  },
];

const refused: readonly Feature[] = [
  {
    name: "isolation (`crossOriginIsolated`) without JSPI",
    since: "off",
    usedBy: "page, agent, python",
    without: "not_isolated",
    consequence: "Some browsers inside apps do not isolate pages.",
    remove: `
      Object.defineProperty(globalThis, "crossOriginIsolated", { value: false });
      delete WebAssembly.Suspending;`,
    present: "crossOriginIsolated || 'Suspending' in WebAssembly",
  },
  {
    name: "a secure context (`isSecureContext`)",
    since: "off",
    usedBy: "page, agent",
    without: "insecure_context",
    consequence: "The link begins with http.",
    remove: `Object.defineProperty(globalThis, "isSecureContext", { value: false });`,
    present: "isSecureContext",
  },
  {
    name: "memory that threads share, without JSPI",
    since: "off",
    usedBy: "page, agent, python, gpu",
    without: "no_shared_memory",
    consequence: "WebKitGTK as packaged has neither.",
    remove: `
      delete WebAssembly.Suspending;
      const { Memory } = WebAssembly;
      WebAssembly.Memory = class extends Memory {
        constructor(options) {
          if (options.shared) throw new RangeError("There is no shared memory.");
          super(options);
        }
      };`,
    present:
      "(() => { try { return new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }) } catch { return false } })() || 'Suspending' in WebAssembly",
  },
  {
    name: 'module workers (`new Worker(..., { type: "module" })`)',
    since: "off",
    usedBy: "page, agent",
    without: "no_module_workers",
    consequence: "Older browsers ignore the type.",
    remove: scopeLacks("Worker"),
    present: "'Worker' in globalThis",
  },
  {
    name: "WebAssembly SIMD",
    since: "off",
    usedBy: "python",
    without: "no_wasm_simd",
    consequence: "Processors without SSE 4.1, and older browsers.",
    remove: "WebAssembly.validate = () => false;",
    present: "WebAssembly.validate(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))",
  },
  {
    name: "WebAssembly",
    since: "off",
    usedBy: "page, agent, python",
    without: "no_webassembly",
    consequence: "Lockdown Mode of iPhones and iPads switches it off.",
    remove: scopeLacks("WebAssembly"),
    present: "'WebAssembly' in globalThis",
  },
  {
    name: "`crypto.subtle`",
    since: "off",
    usedBy: "agent, python",
    without: "no_crypto",
    consequence: "Nothing that was fetched could be checked.",
    remove: gone("crypto", "subtle"),
    present: "'subtle' in crypto",
  },
  {
    name: "WebSocket",
    since: "off",
    usedBy: "agent",
    without: "no_websocket",
    consequence: "Leases and results travel on it.",
    remove: scopeLacks("WebSocket"),
    present: "'WebSocket' in globalThis",
  },
  {
    name: "ReadableStream, TransformStream",
    since: "off",
    usedBy: "agent, python",
    without: "no_streams",
    consequence: "Files are checked and counted while they arrive.",
    remove: scopeLacks("ReadableStream", "TransformStream"),
    present: "'ReadableStream' in globalThis || 'TransformStream' in globalThis",
  },
];

const optional: readonly Feature[] = [
  {
    name: "waitAsync of Atomics",
    since: since(87, 145, 16.4),
    usedBy: "gpu",
    without: "goes on",
    consequence: "Messages wake the gpu thread.",
    remove: gone("Atomics", "waitAsync"),
    present: "'waitAsync' in Atomics",
  },
  {
    name: "WebAssembly JSPI (`WebAssembly.Suspending`)",
    since: since(137, null, null),
    usedBy: "python",
    without: "goes on",
    consequence: "It is used only where threads cannot share memory.",
    remove: "delete WebAssembly.Suspending; delete WebAssembly.promising;",
    present: "'Suspending' in WebAssembly",
  },
  {
    name: "WebAssembly relaxed SIMD",
    since: since(114, 145, null),
    usedBy: "python",
    without: "goes on",
    consequence: "array-core's other module is fetched. Large matrix products take longer.",
    remove: `
      const { validate } = WebAssembly;
      WebAssembly.validate = (bytes) => bytes.length < 36 && validate(bytes);`,
    present:
      "WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0].concat([1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0, 253, 15, 65, 0, 253, 15, 253, 133, 2, 11])))",
  },
  {
    name: "WebGPU (`navigator.gpu`)",
    since: since(113, 141, 26),
    usedBy: "agent, gpu",
    without: "goes on",
    consequence: "Trials compute by WebGL2, or on the processor.",
    remove: navigatorLacks("gpu"),
    present: "'gpu' in navigator",
  },
  {
    name: "Web Locks (`navigator.locks`)",
    since: "off",
    usedBy: "page, service worker",
    without: "goes on",
    consequence: "The server decides between two tabs. A hidden page does not compute.",
    remove: navigatorLacks("locks"),
    present: "'locks' in navigator",
  },
  {
    name: "Screen Wake Lock (`navigator.wakeLock`)",
    since: since(84, 126, 16.4),
    usedBy: "page",
    without: "goes on",
    consequence: "The page asks the volunteer to keep the screen on.",
    remove: navigatorLacks("wakeLock"),
    present: "'wakeLock' in navigator",
  },
  {
    name: "Battery Status (`navigator.getBattery`)",
    since: since(38, null, null),
    usedBy: "page",
    without: "goes on",
    consequence: "Limits on charger and battery are not offered.",
    remove: navigatorLacks("getBattery"),
    present: "'getBattery' in navigator",
  },
  {
    name: "Network Information (`navigator.connection`)",
    since: since(61, null, null),
    usedBy: "page",
    without: "goes on",
    consequence: "The limit to unmetered connections is not offered.",
    remove: navigatorLacks("connection"),
    present: "'connection' in navigator",
  },
  {
    name: "Compute Pressure (`PressureObserver`)",
    since: since(125, null, null),
    usedBy: "page",
    without: "goes on",
    consequence: "Heat is noticed by the device's own pace alone.",
    remove: scopeLacks("PressureObserver"),
    present: "'PressureObserver' in globalThis",
  },
  {
    name: "`navigator.deviceMemory`",
    since: since(63, null, null),
    usedBy: "agent",
    without: "goes on",
    consequence: "A careful guess takes its place.",
    remove: navigatorLacks("deviceMemory"),
    present: "'deviceMemory' in navigator",
  },
  {
    name: "IndexedDB",
    since: "off",
    usedBy: "page, agent",
    without: "goes on",
    consequence: "Nothing is remembered after the visit, and the page says so.",
    remove: scopeLacks("indexedDB"),
    present: "'indexedDB' in globalThis",
  },
  {
    name: "localStorage, sessionStorage",
    since: "off",
    usedBy: "page",
    without: "goes on",
    consequence: "Choices last for one visit.",
    remove: scopeLacks("localStorage", "sessionStorage"),
    present: "'localStorage' in globalThis || 'sessionStorage' in globalThis",
  },
  {
    name: "Cache (`caches`)",
    since: "off",
    usedBy: "agent, service worker",
    without: "goes on",
    consequence: "Code and data of studies are fetched for each trial.",
    remove: scopeLacks("caches"),
    present: "'caches' in globalThis",
  },
  {
    name: "service workers (`navigator.serviceWorker`)",
    since: "off",
    usedBy: "page",
    without: "goes on",
    consequence: "The page opens only with a connection.",
    remove: navigatorLacks("serviceWorker"),
    present: "'serviceWorker' in navigator",
  },
  {
    name: "Storage (`navigator.storage.estimate`, `persist`)",
    since: since(61, 57, 17),
    usedBy: "page, agent",
    without: "goes on",
    consequence: "The browser's own limit shows when it is reached. The code stays in the address.",
    remove: navigatorLacks("storage"),
    present: "'storage' in navigator",
  },
  {
    name: "Resource Timing (`PerformanceObserver`)",
    since: "off",
    usedBy: "agent",
    without: "goes on",
    consequence: "Data of this origin do not count for the limits on data.",
    remove: scopeLacks("PerformanceObserver"),
    present: "'PerformanceObserver' in globalThis",
  },
  {
    name: "OffscreenCanvas with WebGL 2",
    since: since(69, 105, 17),
    usedBy: "self-test page",
    without: "goes on",
    consequence: "One line of the self-test says so.",
    remove: scopeLacks("OffscreenCanvas"),
    present: "'OffscreenCanvas' in globalThis",
  },
  {
    name: "Clipboard (`navigator.clipboard`)",
    since: "off",
    usedBy: "page",
    without: "goes on",
    consequence: "The link is selected, and the volunteer copies it.",
    remove: navigatorLacks("clipboard"),
    present: "'clipboard' in navigator",
  },
];

export const FEATURES: readonly Feature[] = [...ownFunctions, ...refused, ...optional];
