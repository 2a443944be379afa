import { describe, expect, it } from "vitest";
import { passphrasePart } from "./passphrase.fixture.ts";
import { PASSPHRASE_KEY, PassphrasePart } from "./passphrase_part.ts";
import { PassphraseStore } from "./passphrase_store.ts";

const span = { trials: 1, ms: 1, improved: 0 };
const given = { todaySince: 0, projects: [{ name: "Digits", today: span, week: span, all: span }] };

/** A browser with or without a key, that can fetch the store or not. */
function browser(hasKey: boolean, fetches: readonly boolean[]) {
  const entries = new Map(hasKey ? [[PASSPHRASE_KEY, '{"key":"7","devices":[]}']] : []);
  const storage = {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
    removeItem: (key: string) => void entries.delete(key),
  };
  let tries = 0;
  const store = new PassphraseStore({
    storage,
    authorizations: async () => [],
    fetchTogether: async () => ({ kind: "problem", problem: "unreachable" }),
    join: async () => ({ kind: "answer", answer: true }),
    loadWords: async () => [],
    fillRandom: () => {},
  });
  const part = new PassphrasePart(storage, async () => {
    tries += 1;
    if (fetches[tries - 1] !== true) throw new TypeError("Failed to fetch");
    return store;
  });
  return { part, entries, tries: () => tries };
}

describe("PassphrasePart", () => {
  it("fetches nothing in a browser without a passphrase, until it is opened", async () => {
    const { part, tries } = browser(false, [true]);
    await part.refresh();
    await part.link("Device a:b");
    expect([tries(), part.together.value]).toEqual([0, null]);
    expect(await part.load()).toBe(part.store.value);
    await part.load();
    expect(tries()).toBe(1);
  });

  it("fetches at once where there is a passphrase, and shows what its devices gave", async () => {
    const part = passphrasePart({ devices: 2, given });
    await part.refresh();
    expect(part.together.value).toEqual({ devices: 2, given });
  });

  it("tries again after a failure", async () => {
    const { part, tries } = browser(true, [false, true]);
    await part.refresh();
    expect(part.store.value).toBeNull();
    await part.refresh();
    expect([tries(), part.store.value === null]).toEqual([2, false]);
  });

  it("forgets the passphrase, also before anything was fetched", () => {
    const { part, entries } = browser(true, []);
    part.forget();
    expect(entries.size).toBe(0);
  });

  it("works where storage is forbidden", async () => {
    const refuse = () => {
      throw new DOMException("forbidden", "SecurityError");
    };
    const part = new PassphrasePart({ getItem: refuse, removeItem: refuse }, async () => {
      throw new TypeError("Failed to fetch");
    });
    await part.refresh();
    part.forget();
    expect(await part.load()).toBeNull();
  });
});
