// The service worker of the compute origin: a thread of its own, `/sw.js`. It connects ShellCache to the browser. The
// build writes the list of this version's files in place of SHELL (shell_files.ts).

import { isAbandoned, type Shell, ShellCache } from "./shell_cache.ts";

declare const self: ServiceWorkerGlobalScope;
declare const SHELL: Shell;

const shell = new ShellCache(SHELL, {
  caches: self.caches,
  fetch: (request, init) => fetch(request, init),
  heldLocks: async () => {
    try {
      const { held } = await navigator.locks.query();
      return held?.flatMap(({ name }) => name ?? []) ?? [];
    } catch {
      return []; // The browser has no locks or refuses them, so open pages are not known.
    }
  },
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  origin: self.location.origin,
});

self.addEventListener("install", (event) => {
  // A new worker need not wait: it serves the pages of every version that is still open.
  event.waitUntil(shell.install().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(shell.sweep().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const isNavigation = request.mode === "navigate";
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (!shell.handles(url.pathname, isNavigation)) return;
  if (!isNavigation) {
    event.respondWith(shell.file(request));
    return;
  }
  event.respondWith(shell.page(request));
  event.waitUntil(leaveIfAbandoned());
});

self.addEventListener("message", (event) => {
  if (event.data === "entry") event.ports[0]?.postMessage(SHELL.entry);
});

async function leaveIfAbandoned(): Promise<void> {
  if (!(await isAbandoned((path, init) => fetch(path, init)))) return;
  await self.registration.unregister();
  await shell.clear();
}
