import { describe, expect, it } from "vitest";
import { keyOf } from "./passphrase.ts";
import { type Asked, fetchTogether, type Together } from "./passphrase_api.ts";
import { PASSPHRASE_KEY } from "./passphrase_part.ts";
import { PassphraseStore } from "./passphrase_store.ts";
import { wordList } from "./word_list.ts";

const span = (trials: number) => ({ trials, ms: trials, improved: 0 });

/** A server that adds up the devices of each passphrase, as R81 says. Each device gave one trial. */
class Server {
  readonly keys = new Map<string, string>();
  reachable = true;

  join = async (authorization: string, key: string, isNew: boolean): Promise<Asked<true>> => {
    if (!this.reachable) return { kind: "problem", problem: "unreachable" };
    const known = [...this.keys.values()].includes(key);
    if (!known && !isNew) return { kind: "problem", problem: "unknown" };
    this.keys.set(authorization, key);
    return { kind: "answer", answer: true };
  };

  fetchTogether = async (key: string): Promise<Asked<Together>> => {
    if (!this.reachable) return { kind: "problem", problem: "unreachable" };
    const devices = [...this.keys.values()].filter((one) => one === key).length;
    if (devices === 0) return { kind: "problem", problem: "unknown" };
    const [today, week, all] = [span(devices), span(devices), span(devices)];
    const projects = [{ name: "Digits", today, week, all }];
    return { kind: "answer", answer: { devices, given: { todaySince: 0, projects } } };
  };
}

function memoryStorage(fails = false) {
  const entries = new Map<string, string>();
  const use = <T>(value: () => T): T => {
    if (fails) throw new DOMException("forbidden", "SecurityError");
    return value();
  };
  return {
    entries,
    getItem: (key: string) => use(() => entries.get(key) ?? null),
    setItem: (key: string, value: string) => use(() => void entries.set(key, value)),
    removeItem: (key: string) => use(() => void entries.delete(key)),
  };
}

function browser(server: Server, devices: string[], storage = memoryStorage()) {
  let number = 0;
  const store = new PassphraseStore({
    storage,
    authorizations: async () => devices,
    fetchTogether: server.fetchTogether,
    join: server.join,
    loadWords: async () => wordList,
    fillRandom: (numbers) => numbers.fill(number++),
  });
  return { store, storage, devices };
}

const WORDS = wordList.slice(0, 8);

describe("PassphraseStore", () => {
  it("shows the words once, and keeps only their key", async () => {
    const server = new Server();
    const { store, storage } = browser(server, ["Device a:x", "Device b:y"]);
    await store.make();
    expect(store.view.value).toEqual({ kind: "words", words: WORDS });
    expect(store.together.value?.devices).toBe(2);
    store.close();
    expect(store.view.value).toEqual({ kind: "closed" });
    expect(JSON.parse(storage.entries.get(PASSPHRASE_KEY) ?? "")).toEqual({
      key: await keyOf(WORDS),
      devices: ["a", "b"],
    });
  });

  it("gives a device its old passphrase back if the reply about a new one is lost", async () => {
    const server = new Server();
    const { store, storage } = browser(server, ["Device a:x", "Device b:y"]);
    await store.make();
    const old = await keyOf(WORDS);
    const { join } = server;
    const losing = new PassphraseStore({
      storage,
      authorizations: async () => ["Device a:x", "Device b:y"],
      fetchTogether: server.fetchTogether,
      join: async (authorization, key, isNew) => {
        const answer = await join(authorization, key, isNew);
        return isNew ? { kind: "problem", problem: "unreachable" } : answer;
      },
      loadWords: async () => wordList,
      fillRandom: (numbers) => numbers.fill(7),
    });
    await losing.make();
    expect(losing.view.value).toEqual({ kind: "problem", problem: { kind: "unreachable" } });
    expect([...server.keys.values()]).toEqual([old, old]);
    expect(JSON.parse(storage.entries.get(PASSPHRASE_KEY) ?? "").devices.sort()).toEqual([
      "a",
      "b",
    ]);
    // Without a line at that time, the next link() does it.
    server.reachable = false;
    await store.make();
    server.reachable = true;
    server.keys.set("Device a:x", "a key that nobody knows");
    await store.link("Device a:x");
    expect([...server.keys.values()]).toEqual([old, old]);
  });

  it("restores on a fresh browser before it has a device, and counts the device that joins then", async () => {
    const server = new Server();
    await browser(server, ["Device a:x"]).store.make();
    const fresh = browser(server, []);
    await fresh.store.restore(WORDS.join(" "));
    expect(fresh.store.view.value).toEqual({ kind: "closed" });
    expect(fresh.store.together.value?.devices).toBe(1);
    // On a later visit.
    const { store } = browser(server, ["Device c:z"], fresh.storage);
    await Promise.all([store.link("Device c:z"), store.link("Device c:z")]);
    await store.refresh();
    expect(store.together.value?.devices).toBe(2);
    server.reachable = false;
    await store.link("Device c:z"); // needs no request any more
    await store.refresh();
    expect(store.together.value?.devices).toBe(2);
  });

  it("keeps what was entered open with what is wrong", async () => {
    const server = new Server();
    const { store, storage } = browser(server, ["Device a:x"]);
    const problem = async (text: string) => {
      await store.restore(text);
      return store.view.value;
    };
    expect(await problem("horse")).toMatchObject({
      kind: "entry",
      problem: { kind: "unknown_word" },
    });
    expect(await problem("acid")).toMatchObject({ problem: { kind: "count", count: 1 } });
    expect(await problem(WORDS.join(" "))).toMatchObject({ problem: { kind: "unknown" } });
    server.reachable = false;
    expect(await problem(WORDS.join(" "))).toMatchObject({ problem: { kind: "unreachable" } });
    expect(storage.entries.size).toBe(0);
    expect(server.keys.size).toBe(0);
  });

  it("makes no words without a device or a connection", async () => {
    const server = new Server();
    const nobody = browser(server, []).store;
    await nobody.make();
    expect(nobody.view.value).toEqual({ kind: "problem", problem: { kind: "no_device" } });
    server.reachable = false;
    const { store, storage } = browser(server, ["Device a:x"]);
    await store.make();
    expect(store.view.value).toEqual({ kind: "problem", problem: { kind: "unreachable" } });
    expect(storage.entries.size).toBe(0);
  });

  it("forgets a passphrase that ended with its last device, but not for want of a connection", async () => {
    const server = new Server();
    const { store, storage } = browser(server, ["Device a:x"]);
    await store.make();
    server.reachable = false;
    await store.refresh();
    expect(storage.entries.size).toBe(1);
    server.reachable = true;
    server.keys.clear();
    await store.refresh();
    expect(storage.entries.size).toBe(0);
    expect(store.together.value).toBeNull();
  });

  it("works for this visit where storage is forbidden, and says so", async () => {
    const server = new Server();
    await browser(server, ["Device a:x"]).store.make();
    const { store } = browser(server, ["Device b:y"], memoryStorage(true));
    await store.restore(WORDS.join(" "));
    expect(store.view.value).toEqual({ kind: "problem", problem: { kind: "not_kept" } });
    expect(store.together.value?.devices).toBe(2);
  });

  it.each(["{", "[]", '{"key":"7","devices":[]}', '{"key":7}', "null"])(
    "ignores the damaged record %j",
    async (text) => {
      const storage = memoryStorage();
      storage.entries.set(PASSPHRASE_KEY, text);
      const { store } = browser(new Server(), [], storage);
      await store.refresh();
      expect(store.together.value).toBeNull();
    },
  );
});

describe("fetchTogether", () => {
  const answers = (status: number, body: unknown) => async () =>
    new Response(typeof body === "string" ? body : JSON.stringify(body), { status });

  it.each([
    [404, { error: { code: "unknown_passphrase" } }, "unknown"],
    [429, { error: { code: "rate_limited" } }, "rate_limited"],
    [409, { error: { code: "passphrase_full" } }, "full"],
    [500, "<html>", "unreachable"],
    [200, { devices: -1, today_since: 0, projects: [] }, "unreachable"],
    [200, { devices: 1 }, "unreachable"],
  ])("takes %i %j as %s", async (status, body, problem) => {
    expect(await fetchTogether("7", answers(status, body))).toEqual({ kind: "problem", problem });
  });

  it("sends the key alone", async () => {
    const sent: RequestInit[] = [];
    const asked = await fetchTogether("7", async (_path, init) => {
      sent.push(init);
      return new Response('{"devices":2,"today_since":0,"projects":[]}');
    });
    expect(asked).toEqual({
      kind: "answer",
      answer: { devices: 2, given: { todaySince: 0, projects: [] } },
    });
    expect(sent[0]).toMatchObject({ method: "POST", body: '{"key":"7"}', credentials: "omit" });
  });
});
