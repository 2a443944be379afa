// Tests two tabs of one browser with a fake lock manager, which grants and steals locks as the specification says.

import { beforeEach, expect, test } from "vitest";
import { TabLock, type TabLockEvents } from "./tab_lock.ts";

type Callback = (lock: Lock | null) => Promise<void> | undefined;

/** The locks with one name, as https://w3c.github.io/web-locks/ defines them. */
class FakeLocks {
  #steal: (() => void) | null = null;
  readonly #queue: { readonly signal: AbortSignal | undefined; readonly begin: () => void }[] = [];

  async request(name: string, options: LockOptions, callback: Callback): Promise<void> {
    await Promise.resolve();
    if (options.steal === true) {
      this.#steal?.();
      return await this.#hold(name, callback);
    }
    if (this.#steal === null) return await this.#hold(name, callback);
    if (options.ifAvailable === true) return await callback(null);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.push({ signal: options.signal, begin: resolve });
    options.signal?.addEventListener("abort", () => resolve());
    await promise;
    if (options.signal?.aborted === true) throw new DOMException("Aborted.", "AbortError");
    return await this.#hold(name, callback);
  }

  async query(): Promise<LockManagerSnapshot> {
    return { held: this.#steal === null ? [] : [{ name: "hyperflock.computing" }], pending: [] };
  }

  async #hold(name: string, callback: Callback): Promise<void> {
    const stolen = Promise.withResolvers<void>();
    const steal = () => stolen.reject(new DOMException("Stolen.", "AbortError"));
    this.#steal = steal;
    try {
      await Promise.race([callback({ name, mode: "exclusive" }), stolen.promise]);
    } finally {
      if (this.#steal === steal) {
        this.#steal = null;
        this.#queue.shift()?.begin();
      }
    }
  }
}

let first: TabLock;
let second: TabLock;
let heard: string[];

beforeEach(() => {
  const locks = new FakeLocks() as unknown as LockManager;
  first = new TabLock(locks);
  second = new TabLock(locks);
  heard = [];
});

const tell = (tab: string): TabLockEvents => ({
  taken: () => heard.push(`${tab} taken`),
  refused: () => heard.push(`${tab} refused`),
  lost: () => heard.push(`${tab} lost`),
});
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

test("One tab gets the lock; the other is told, until the first lets go.", async () => {
  first.take("if_free", tell("first"));
  second.take("if_free", tell("second"));
  await settled();
  expect(heard).toEqual(["first taken", "second refused"]);
  expect(await second.isTaken()).toBe(true);
  first.release();
  await settled();
  expect(await second.isTaken()).toBe(false);
  second.take("if_free", tell("second"));
  await settled();
  expect(heard.at(-1)).toBe("second taken");
});

test("A tab takes over by force, and the one that computed hears of it once.", async () => {
  first.take("if_free", tell("first"));
  await settled();
  second.take("by_force", tell("second"));
  await settled();
  expect(heard).toEqual(["first taken", "second taken", "first lost"]);
  first.release();
  await settled();
  expect(await first.isTaken()).toBe(true);
});

test("A tab that waits hears when nobody computes any more, and holds nothing by that.", async () => {
  first.take("if_free", tell("first"));
  second.take("if_free", tell("second"));
  await settled();
  second.whenFree(() => heard.push("free"));
  await settled();
  expect(heard).not.toContain("free");
  first.release();
  await settled();
  expect(heard.at(-1)).toBe("free");
  expect(await first.isTaken()).toBe(false);
});

test("Who takes over does not wait any more.", async () => {
  first.take("if_free", tell("first"));
  await settled();
  second.whenFree(() => heard.push("free"));
  second.take("by_force", tell("second"));
  await settled();
  second.release();
  await settled();
  expect(heard).not.toContain("free");
});

test("Without locks, or where they are forbidden, each tab may.", async () => {
  const none = new TabLock(undefined);
  none.take("if_free", tell("none"));
  expect(heard).toEqual(["none taken"]);
  expect(await none.isTaken()).toBe(false);
  const forbidden = new TabLock({
    request: async () => {
      throw new DOMException("Not here.", "SecurityError");
    },
    query: async () => {
      throw new DOMException("Not here.", "SecurityError");
    },
  } as unknown as LockManager);
  forbidden.take("if_free", tell("forbidden"));
  await settled();
  expect(heard.at(-1)).toBe("forbidden taken");
  expect(await forbidden.isTaken()).toBe(false);
});
