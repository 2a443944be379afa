// Takes from the python thread what trial code must not reach: the origin's storage and other ways to talk. The thread's
// Content-Security-Policy already limits the network to the runtime's folder. Runs on the python thread, once.

const kGlobals = [
  "indexedDB",
  "caches",
  "cookieStore",
  "BroadcastChannel",
  "WebSocket",
  "WebSocketStream",
  "WebTransport",
  "XMLHttpRequest",
  "EventSource",
  "RTCPeerConnection",
  "Worker",
  "SharedWorker",
  "importScripts",
  "postMessage",
  "close",
];
const kNavigator = ["storage", "storageBuckets", "locks", "serviceWorker", "usb", "serial", "hid"];

export function lockDown(scope: object, navigator: object): void {
  for (const name of kGlobals) remove(scope, name);
  for (const name of kNavigator) remove(navigator, name);
}

// From the prototypes too, where most of these live as accessors.
function remove(target: object, name: string): void {
  let holder: object | null = target;
  while (holder !== null && holder !== Object.prototype) {
    if (Object.hasOwn(holder, name)) Reflect.deleteProperty(holder, name);
    holder = Object.getPrototypeOf(holder) as object | null;
  }
  Reflect.defineProperty(target, name, { value: undefined, writable: false, configurable: false });
}
