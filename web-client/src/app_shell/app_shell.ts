// The page's side of the service worker: registers it once this device has joined, notices a new version, and removes
// the worker and what it keeps. Page thread. Every function works, and does nothing, in a browser without service workers.

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import {
  isAbandoned,
  PAGE_LOCK_PREFIX,
  SCRIPT,
  SHELL_PREFIX,
  type ShellEnvironment,
} from "./shell_cache.ts";

/** A page that stays open looks for a new version after this time, when it is shown again. */
export const LOOK_AGAIN_MS = 3_600_000;

export interface AppShellEnvironment {
  /** Undefined in browsers that have none or forbid it. */
  readonly container: ServiceWorkerContainer | undefined;
  readonly locks: LockManager | undefined;
  readonly caches: Pick<CacheStorage, "keys" | "delete"> | undefined;
  readonly fetch: ShellEnvironment["fetch"];
  /** The path of this page's script. */
  readonly entry: string;
  /** Returns the time in milliseconds. */
  readonly now: () => number;
}

export class AppShell {
  readonly #environment: AppShellEnvironment;
  readonly #hasNewVersion: Signal<boolean> = signal(false);
  #registration: ServiceWorkerRegistration | null = null;
  #lookedAt = 0;
  #letGo: (() => void) | null = null;

  constructor(environment: AppShellEnvironment) {
    this.#environment = environment;
    this.hold();
  }

  /** Whether a newer version than this page has been fetched. The next load of the page shows it. */
  get hasNewVersion(): ReadonlySignal<boolean> {
    return this.#hasNewVersion;
  }

  /** Keeps this version's files while the page is open. Call it again when the page comes back after letGo(). */
  hold(): void {
    if (this.#letGo !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#letGo = resolve;
    const name = PAGE_LOCK_PREFIX + this.#environment.entry;
    this.#environment.locks?.request(name, { mode: "shared" }, () => promise).catch(() => {});
  }

  /** The page is left. A page that holds a lock could not be shown again at once by the browser's Back button. */
  letGo(): void {
    this.#letGo?.();
    this.#letGo = null;
  }

  /** Keeps the page in this browser from now on. */
  async keep(): Promise<void> {
    const { container, fetch, now } = this.#environment;
    if (container === undefined || this.#registration !== null) return;
    this.#lookedAt = now();
    try {
      const earlier = await container.getRegistration("/");
      // To register a worker that is just being removed would bring it back, without its script.
      if (earlier === undefined && (await isAbandoned(fetch))) return;
      const registration =
        earlier ?? (await container.register(SCRIPT, { updateViaCache: "none" }));
      this.#registration = registration;
      registration.addEventListener("updatefound", () => this.#watch(registration));
      this.#watch(registration);
    } catch {
      // The server offers no service worker, or the browser allows none. The page works without it.
    }
  }

  /** Looks for a new version, if the last look was some time ago. Call it when the page is shown again. */
  async lookAgain(): Promise<void> {
    const { now } = this.#environment;
    if (this.#registration === null || now() < this.#lookedAt + LOOK_AGAIN_MS) return;
    this.#lookedAt = now();
    await this.#registration.update().catch(() => {});
  }

  /** Removes the service worker and all that it keeps. */
  async forget(): Promise<void> {
    const { container, caches } = this.#environment;
    this.#registration = null;
    try {
      for (const registration of (await container?.getRegistrations()) ?? []) {
        await registration.unregister();
      }
      for (const name of (await caches?.keys()) ?? []) {
        if (name.startsWith(SHELL_PREFIX)) await caches?.delete(name);
      }
    } catch {
      // The browser forbids it, so it has kept nothing.
    }
  }

  #watch(registration: ServiceWorkerRegistration): void {
    const { installing, active } = registration;
    // Without an active worker this is the first installation, and no other version.
    if (installing === null || active === null) return;
    installing.addEventListener("statechange", () => {
      if (installing.state === "activated") void this.#compare(installing);
    });
  }

  async #compare(worker: ServiceWorker): Promise<void> {
    const entry = await entryOf(worker);
    if (entry !== this.#environment.entry) this.#hasNewVersion.value = true;
  }
}

function entryOf(worker: ServiceWorker): Promise<unknown> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => {
      port1.close();
      resolve(data);
    };
    worker.postMessage("entry", [port2]);
  });
}
