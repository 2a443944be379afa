// Tests the owner of the python thread, with a fake thread that records its messages.

import { beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../base/hex.ts";
import { AGENT_NAME } from "../../base/version.ts";
import type { TooMuchData } from "../../governor/data_limits.ts";
import { MAGIC } from "../../gpu/ring/layout.ts";
import type { ToGpuThread } from "../../gpu/thread/gpu_messages.ts";
import type { Lease } from "../../protocol/index.ts";
import type { FromPython, RuntimeIndex, ToPython } from "../../python/messages.ts";
import type { PackArchive, WantedPack } from "../files/pack_parts.ts";
import type { AgentEvent } from "../machine/events.ts";
import { parseOutcome } from "../machine/outcome.ts";
import { leaseOf } from "../machine/scenario.fixture.ts";
import { ArraycoreSide } from "./arraycore_side.ts";
import { PythonHost } from "./python_host.ts";

class FakeThread {
  readonly told: ToPython[] = [];
  isAlive = true;
  say: (message: FromPython) => void = () => {};

  get pieces(): string[] {
    const load = this.told.find((message) => message.kind === "load");
    return load?.pieces.map((piece) => piece.base) ?? [];
  }

  get runs(): number[] {
    return this.told.flatMap((m) => (m.kind === "run" ? [m.spec.attempt] : []));
  }
}

const pieceNames = ["pyodide", "numpy", "chainer-7.8.1", "chainer-5.4.0", "six", "worker"];
/** Returns the index of a runtime whose pieces have this id in their URLs. */
const indexOf = (runtime: string, folder = runtime): RuntimeIndex => ({
  runtime,
  pieces: Object.fromEntries(
    pieceNames.map((name) => [name, { version: "1", base: `/${folder}/${name}/`, files: [] }]),
  ),
});
const index = indexOf("r", "runtime");

let threads: FakeThread[];
let events: AgentEvent[];
let host: PythonHost;
let fetchBlob: (sha256: string) => Promise<Uint8Array<ArrayBuffer>>;
let readIndex: (id?: string) => Promise<RuntimeIndex>;
let savedBytes: Uint8Array<ArrayBuffer> | null;
let keptBytes: Uint8Array<ArrayBuffer> | null;
let fetchOptuna: (
  tell: (loaded: number, total: number) => void,
) => Promise<Uint8Array<ArrayBuffer>[]>;

let fetchPacks: (wanted: readonly WantedPack[]) => Promise<PackArchive[]>;

let tooMuch: TooMuchData | null;
let fetchedBytes: number[];

beforeEach(() => {
  tooMuch = null;
  fetchedBytes = [];
  threads = [];
  events = [];
  fetchBlob = async () => new Uint8Array([1, 2, 3]);
  readIndex = async () => index;
  savedBytes = null;
  keptBytes = null;
  fetchOptuna = async () => {
    throw new Error("Nobody asked for it.");
  };
  fetchPacks = async () => {
    throw new Error("Nobody asked for it.");
  };
  host = hostOf(true);
});

const hostOf = (sharesMemory: boolean, arraycore: ArraycoreSide | null = null) =>
  new PythonHost({
    spawn: (onMessage) => {
      const thread = new FakeThread();
      thread.say = onMessage;
      threads.push(thread);
      return {
        post: (message) => thread.told.push(message),
        terminate: () => {
          thread.isAlive = false;
        },
      };
    },
    runtimeIndex: (id) => readIndex(id),
    fetchBlob: ({ sha256 }) => fetchBlob(sha256),
    sharesMemory,
    fetchCheckpoint: async () => savedBytes,
    readKept: async () => keptBytes,
    heapBytes: 2 ** 30,
    arraycore,
    fetchOptuna: (_index, tell) => fetchOptuna(tell),
    fetchPacks: (wanted) => fetchPacks(wanted),
    now: () => 0,
    admit: async () => tooMuch,
    fetched: (bytes) => fetchedBytes.push(bytes),
    emit: (event) => events.push(event),
    log: () => {},
  });

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
const kinds = () => events.map((event) => event.kind).filter((kind) => kind !== "loading");

function thread(i: number): FakeThread {
  const found = threads[i];
  if (found === undefined) throw new Error(`There is no thread ${i}.`);
  return found;
}

async function load(i: number): Promise<FakeThread> {
  await settled();
  thread(i).say({ kind: "loaded", timings: {}, fetchedBytes: 12 });
  await settled();
  return thread(i);
}

async function finish(i: number, attempt: number): Promise<void> {
  thread(i).say({ kind: "outcome", attempt, outcome: '{"outcome":"pruned"}', runMs: 1 });
  await settled();
}

describe("Loading", () => {
  test("A warm thread loads the first Chainer of the index, once.", async () => {
    host.warm();
    host.warm();
    await settled();
    expect(threads).toHaveLength(1);
    expect(thread(0).pieces).toEqual(
      ["pyodide", "numpy", "six", "worker", "chainer-7.8.1"].map((name) => `/runtime/${name}/`),
    );
  });

  test("A lease runs on the thread that was warmed up.", async () => {
    host.warm();
    host.run(leaseOf(7));
    await load(0);
    expect(thread(0).runs).toEqual([7]);
    expect(kinds()).toEqual(["running"]);
  });

  test("R58: A lease for another runtime gets a thread of its own.", async () => {
    readIndex = async (id) => indexOf(id ?? "newest");
    host.warm();
    await load(0);
    host.run(leaseOf(7, { runtime_index: "older" }));
    await load(1);
    expect(thread(0).isAlive).toBe(false);
    expect(thread(1).pieces).toContain("/older/numpy/");
    expect(thread(1).runs).toEqual([7]);
    await finish(1, 7);
    // The next trial of the same study runs on the same thread.
    host.run(leaseOf(8, { runtime_index: "older" }));
    await settled();
    expect(thread(1).runs).toEqual([7, 8]);
  });

  test("R58: A lease without a runtime does not run on an older one.", async () => {
    readIndex = async (id) => indexOf(id ?? "newest");
    host.run(leaseOf(7, { runtime_index: "older" }));
    await load(0);
    await finish(0, 7);
    host.idle();
    await load(1);
    expect(thread(1).pieces).toContain("/older/numpy/");
    host.run(leaseOf(8));
    await load(2);
    expect(thread(2).pieces).toContain("/newest/numpy/");
    expect(thread(2).runs).toEqual([8]);
  });

  test("R58: A lease that names the runtime of the warm thread runs on it.", async () => {
    readIndex = async (id) => indexOf(id ?? "newest");
    host.warm();
    host.run(leaseOf(7, { runtime_index: "newest" }));
    await load(0);
    expect(threads).toHaveLength(1);
    expect(thread(0).runs).toEqual([7]);
  });

  test("A lease for another Chainer gets a thread of its own.", async () => {
    host.warm();
    await load(0);
    host.run(leaseOf(7, { runtime: { chainer: "5.4.0" } }));
    await load(1);
    expect(thread(0).isAlive).toBe(false);
    expect(thread(1).pieces).toContain("/runtime/chainer-5.4.0/");
    expect(thread(1).runs).toEqual([7]);
  });

  test("So does one that comes while the first is loading.", async () => {
    host.warm();
    host.run(leaseOf(7, { runtime: { chainer: "5.4.0" } }));
    await load(0);
    await load(1);
    expect(thread(0).runs).toEqual([]);
    expect(thread(1).runs).toEqual([7]);
  });

  test("A Chainer that the server does not have is a reason to give the attempt back.", async () => {
    host.run(leaseOf(7, { runtime: { chainer: "1.0.0" } }));
    await settled();
    expect(events.at(-1)).toMatchObject({ kind: "cannot_run", code: "unknown_runtime" });
  });

  test("An index that cannot be read is asked for again by the next attempt.", async () => {
    readIndex = () => Promise.reject(new Error("offline"));
    host.run(leaseOf(7));
    await settled();
    expect(kinds()).toEqual(["cannot_run"]);
    readIndex = async () => index;
    host.run(leaseOf(8));
    await load(1);
    expect(thread(1).runs).toEqual([8]);
  });

  test("Loading without progress for 90 s is given up.", async () => {
    vi.useFakeTimers();
    try {
      host.run(leaseOf(7));
      await vi.advanceTimersByTimeAsync(89_000);
      thread(0).say({ kind: "loading", loaded: 1, total: 2 });
      await vi.advanceTimersByTimeAsync(89_000);
      expect(kinds()).toEqual([]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(events.at(-1)).toMatchObject({ kind: "cannot_run", code: "load_timeout" });
      expect(thread(0).isAlive).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("Reuse", () => {
  const runBoth = async (second: Lease) => {
    host.run(leaseOf(7));
    await load(0);
    await finish(0, 7);
    host.run(second);
    await settled();
  };

  test("The same bundle of the same study runs in the same Pyodide.", async () => {
    await runBoth(leaseOf(8));
    expect(thread(0).runs).toEqual([7, 8]);
  });

  test("Another study gets a fresh one.", async () => {
    await runBoth(leaseOf(8, { study: 4 }));
    expect(thread(0).isAlive).toBe(false);
    expect((await load(1)).runs).toEqual([8]);
  });

  test("Another bundle of the same study gets a fresh one.", async () => {
    await runBoth(leaseOf(8, { bundle: { sha256: "c".repeat(64), bytes: 1 } }));
    expect(thread(0).isAlive).toBe(false);
    expect((await load(1)).runs).toEqual([8]);
  });
});

describe("Running", () => {
  test("An attempt that was forgotten while it was loading never runs.", async () => {
    host.run(leaseOf(7));
    host.abort(7);
    await load(0);
    expect(thread(0).runs).toEqual([]);
    host.run(leaseOf(8));
    await settled();
    expect(thread(0).runs).toEqual([8]);
  });

  test("Data that cannot be had is a reason to give the attempt back; the thread is kept.", async () => {
    fetchBlob = () => Promise.reject(Object.assign(new Error("gone"), { code: "hash_mismatch" }));
    host.run(leaseOf(7));
    await load(0);
    expect(events.at(-1)).toEqual({
      kind: "cannot_run",
      attempt: 7,
      code: "hash_mismatch",
      message: "gone",
    });
    expect(thread(0).isAlive).toBe(true);
  });

  test("Python gets the bundle, and the data by name and kind.", async () => {
    fetchBlob = async (sha256) => new TextEncoder().encode(sha256.slice(0, 1));
    const item = { kind: "npy" as const, filename: "x.npy", bytes: 1 };
    const data = [
      { ...item, name: "x", sha256: "1".repeat(64) },
      { ...item, name: "y", sha256: "2".repeat(64) },
    ];
    host.run(leaseOf(7, { data }));
    await load(0);
    const run = thread(0).told.find((message) => message.kind === "run");
    expect(run?.spec).toMatchObject({ attempt: 7, entry: "digits:objective", seed: 7 });
    const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
    expect(text(run?.bundle)).toBe("b");
    expect(run?.data.map(({ name, bytes }) => [name, text(bytes)])).toEqual([
      ["x", "1"],
      ["y", "2"],
    ]);
  });

  test("A thread that dies is told of with its attempt, and says no more.", async () => {
    host.run(leaseOf(7));
    await load(0);
    thread(0).say({ kind: "crashed", code: "out_of_memory", message: "m" });
    await finish(0, 7);
    expect(kinds()).toEqual(["running", "crashed"]);
    expect(thread(0).isAlive).toBe(false);
  });

  test("A thread that was ended says no more.", async () => {
    host.run(leaseOf(7));
    await load(0);
    host.terminate();
    await finish(0, 7);
    expect(kinds()).toEqual(["running"]);
  });

  test("Reports that are no points, or of another attempt, are left alone.", async () => {
    host.run(leaseOf(7));
    await load(0);
    const report = { kind: "report" as const, attempt: 7, step: 0, value: 0.5 };
    for (const change of [{}, { attempt: 6 }, { step: -1 }, { step: 0.5 }, { value: Number.NaN }]) {
      thread(0).say({ ...report, ...change });
    }
    expect(events.filter(({ kind }) => kind === "report")).toEqual([report]);
  });

  test("A call is passed on as it was read.", async () => {
    host.run(leaseOf(7));
    await load(0);
    const call = { kind: "call", attempt: 7, sequence: 1, method: "should_prune" } as const;
    thread(0).say({ ...call, payload: '{"step": 4}' });
    const asked = { method: "should_prune", args: { step: 4 } };
    expect(events.at(-1)).toEqual({ kind: "call", attempt: 7, sequence: 1, asked });
  });
});

describe("Trial code that speaks for the thread", () => {
  beforeEach(async () => {
    host.run(leaseOf(7));
    await load(0);
  });

  test.each([
    ["what is no message", { kind: "outcome", attempt: 7, outcome: { values: [1] }, runMs: 1 }],
    ["an outcome of 1 MB", { kind: "outcome", attempt: 7, outcome: "x".repeat(1e6), runMs: 1 }],
  ])("ends it with %s.", (_, message) => {
    thread(0).say(message as FromPython);
    expect(events.at(-1)).toMatchObject({ kind: "crashed", attempt: 7, code: "channel_violation" });
    expect(thread(0).isAlive).toBe(false);
  });

  test("ends it with more points than the window lets through.", () => {
    const report = { kind: "report" as const, attempt: 7, step: 0, value: 0.5 };
    for (let i = 0; i < 4_096; i += 1) thread(0).say(report);
    host.setTaken(1);
    thread(0).say(report);
    expect(thread(0).isAlive).toBe(true);
    thread(0).say(report);
    expect(events.at(-1)).toMatchObject({ kind: "crashed", attempt: 7, code: "channel_violation" });
  });

  test("ends it with a second call before the first has its answer.", () => {
    const call = { kind: "call" as const, attempt: 7, method: "should_prune", payload: "{}" };
    thread(0).say({ ...call, sequence: 1 });
    host.answer(1, "{}");
    thread(0).say({ ...call, sequence: 2 });
    expect(thread(0).isAlive).toBe(true);
    thread(0).say({ ...call, sequence: 3 });
    expect(events.at(-1)).toMatchObject({ kind: "crashed", attempt: 7, code: "channel_violation" });
  });
});

describe("A thread without work", () => {
  test("is replaced when a trial has run on it, and kept when none has.", async () => {
    host.warm();
    await load(0);
    host.idle();
    expect(thread(0).isAlive).toBe(true);
    host.run(leaseOf(7));
    await settled();
    host.idle();
    expect(thread(0).isAlive).toBe(true);
    await finish(0, 7);
    host.idle();
    expect([thread(0).isAlive, threads.length]).toEqual([false, 2]);
  });
});

describe("Outcomes", () => {
  test.each([
    ['{"outcome":"complete","values":[1,0.5]}', { outcome: "complete", values: [1, 0.5] }],
    ['{"outcome":"pruned"}', { outcome: "pruned" }],
    ['{"outcome":"pruned","attrs":"{}"}', { outcome: "pruned", attrs: "{}" }],
    ['{"outcome":"pruned","attrs":7}', { outcome: "pruned" }],
    ['{"outcome":"pruned","attrs":"\\ud800"}', { outcome: "pruned" }],
    [`{"outcome":"pruned","attrs":"${"x".repeat(65_537)}"}`, { outcome: "pruned" }],
  ])("%.80s", (text, outcome) => {
    expect(parseOutcome(text)).toEqual(outcome);
  });

  test.each([
    '{"outcome":"complete","values":[]}',
    '{"outcome":"complete","values":[1e999]}',
    '{"outcome":"complete","values":["1"]}',
    '{"outcome":"failed","error":{"cause":"bad_luck","code":"","message":"","traceback":""}}',
    '{"outcome":"great"}',
    "not JSON",
  ])("%s is invalid", (text) => {
    expect(parseOutcome(text)).toMatchObject({ outcome: "failed", error: { cause: "invalid" } });
  });
});

describe("Where threads share no memory", () => {
  beforeEach(() => {
    host = hostOf(false);
  });

  const words = () => thread(0).told.slice(2);

  test("answers, room for reports and interrupts go by messages.", async () => {
    host.run(leaseOf(7));
    await load(0);
    expect(thread(0).told[0]).toMatchObject({ kind: "load", memory: null });
    thread(0).say({ kind: "call", attempt: 7, sequence: 3, method: "m", payload: "{}" });
    host.answer(3, "yes");
    host.setTaken(12);
    host.interrupt(7);
    expect(words()).toEqual([
      { kind: "answer", sequence: 3, text: "yes" },
      { kind: "taken", points: 12 },
      { kind: "interrupt" },
    ]);
  });

  test("the liveness counter is what the thread tells of its own attempt.", async () => {
    host.run(leaseOf(7));
    await load(0);
    thread(0).say({ kind: "progress", attempt: 8, count: 99 });
    expect(host.progress).toBe(0);
    thread(0).say({ kind: "progress", attempt: 7, count: 5 });
    expect(host.progress).toBe(5);
  });

  test("a flood of progress ends the thread.", async () => {
    host.run(leaseOf(7));
    await load(0);
    for (let i = 0; i < 100; i += 1) thread(0).say({ kind: "progress", attempt: 7, count: i });
    expect(thread(0).isAlive).toBe(false);
    expect(events.at(-1)).toMatchObject({ kind: "crashed", code: "channel_violation" });
  });
});

test("A thread that shares memory moves its counter there, whatever it says.", async () => {
  host.run(leaseOf(7));
  await load(0);
  thread(0).say({ kind: "progress", attempt: 7, count: 5 });
  expect(host.progress).toBe(0);
});

describe("Checkpoints", () => {
  const checkpoint = {
    attempt: 5,
    format: "tree",
    sha256: "c".repeat(64),
    bytes: 3,
    step: 4,
  } as const;
  const handedOver = () => thread(0).told.find((message) => message.kind === "run")?.checkpoint;

  test("What the attempt goes on from is handed over with it.", async () => {
    savedBytes = new Uint8Array([7]);
    host.run(leaseOf(7, { checkpoint }));
    await load(0);
    expect(handedOver()).toEqual({ format: "tree", step: 4, bytes: savedBytes });
  });

  test("One that cannot be had lets the trial begin anew.", async () => {
    host.run(leaseOf(7, { checkpoint }));
    await load(0);
    expect(thread(0).runs).toEqual([7]);
    expect(handedOver()).toBeNull();
  });

  test("One that this device has kept goes before the server's.", async () => {
    savedBytes = new Uint8Array([7]);
    keptBytes = new Uint8Array([8]);
    const hash = "d".repeat(64);
    const from = { study: 3, trial: 1, bundle: "b".repeat(64), attempt: 6, sha256: hash };
    const of = { format: "npz", step: 9, logged: null, points: [], rows: [], bases: [] } as const;
    host.run(leaseOf(7, { checkpoint }), { ...from, ...of });
    await load(0);
    expect(handedOver()).toEqual({ format: "npz", step: 9, bytes: keptBytes });
    expect(events.at(-1)).toEqual({ kind: "running", attempt: 7, fromKept: true });
    // The browser has removed it.
    keptBytes = null;
    await finish(0, 7);
    host.run(leaseOf(8, { checkpoint }), { ...from, ...of });
    await settled();
    expect(thread(0).told.at(-1)).toMatchObject({ checkpoint: { step: 4, bytes: savedBytes } });
    expect(events.at(-1)).toEqual({ kind: "running", attempt: 8 });
  });

  test("What the objective saves and prints is passed on, for its own attempt alone.", async () => {
    host.run(leaseOf(7));
    await load(0);
    const bytes = new Uint8Array([1]);
    const said = {
      kind: "upload",
      attempt: 7,
      sequence: 1,
      head: '{"of":"checkpoint","format":"npz","step":null}',
      bytes,
    } as const;
    thread(0).say(said);
    thread(0).say({ kind: "output", attempt: 7, text: "epoch 1" });
    thread(0).say({ kind: "output", attempt: 6, text: "of another" });
    expect(events.at(-1)).toEqual({ kind: "output", attempt: 7, text: "epoch 1" });
    await vi.waitFor(() => expect(events.at(-1)?.kind).toBe("upload"));
    const head = { of: "checkpoint", format: "npz", step: null, logged: null };
    expect(events.at(-1)).toEqual({ ...said, head, sha256: await sha256Hex(bytes) });
  });
});

describe("A trial of an Optuna study", () => {
  const archive = new Uint8Array([7]);
  const attrs = '{"user":{"n":1}}';
  const asked = { asked: true, directions: 2, suggested: '{"rate":["{}","0.5"]}', attrs };
  const runs = () => thread(0).told.filter((message) => message.kind === "run");

  test("gets Optuna with its thread's first attempt, its log and attributes with each.", async () => {
    fetchOptuna = async (tell) => {
      tell(3, 4);
      return [archive];
    };
    host.run(leaseOf(7, asked));
    await load(0);
    await finish(0, 7);
    host.run(leaseOf(8, { asked: true }));
    await settled();
    expect(runs().map(({ packages }) => packages)).toEqual([[archive], []]);
    expect(runs().map(({ spec }) => spec.asked)).toEqual([
      { directions: 2, suggested: asked.suggested, attrs },
      { directions: 1, suggested: null, attrs: null },
    ]);
    expect(events).toContainEqual({ kind: "loading", loaded: 13, total: 14 });
  });

  test("is given back where Optuna cannot be had, and grids go without.", async () => {
    host.run(leaseOf(7, asked));
    await load(0);
    expect(events.at(-1)).toMatchObject({ kind: "cannot_run", attempt: 7 });
    host.run(leaseOf(8));
    await settled();
    expect(runs()).toMatchObject([{ packages: [], spec: { attempt: 8, asked: null } }]);
  });

  test("is not the only one: a grid's whose code imports Optuna gets it, once for its thread.", async () => {
    let fetches = 0;
    fetchOptuna = async () => {
      fetches += 1;
      return [archive];
    };
    fetchBlob = async () => new TextEncoder().encode("PK hyperflock needs optuna");
    host.run(leaseOf(7));
    await load(0);
    await finish(0, 7);
    host.run(leaseOf(8));
    await settled();
    expect(fetches).toBe(1);
    expect(runs().map(({ packages, spec }) => [packages, spec.asked])).toEqual([
      [[archive], null],
      [[], null],
    ]);
    expect(events.find(({ kind }) => kind === "outcome")).toMatchObject({
      software: expect.stringContaining("optuna/"),
    });
  });
});

describe("A trial whose code imports scikit-learn", () => {
  const runs = () => thread(0).told.filter((message) => message.kind === "run");
  const pack = (name: string) => ({ name, version: "1.8.0", bytes: new Uint8Array([8]) });

  test("gets the packs, once for its thread, and its result names their versions.", async () => {
    fetchPacks = vi.fn(async () => ["scikit-learn", "scipy"].map(pack));
    fetchBlob = async () => new TextEncoder().encode("PK hyperflock needs scikit-learn");
    host.run(leaseOf(7));
    await load(0);
    await finish(0, 7);
    host.run(leaseOf(8));
    await settled();
    expect(fetchPacks).toHaveBeenCalledExactlyOnceWith([{ name: "scikit-learn" }]);
    expect(runs().map(({ packages }) => packages.length)).toEqual([2, 0]);
    expect(events.find(({ kind }) => kind === "outcome")).toMatchObject({
      software: expect.stringMatching(/ scikit-learn\/1\.8\.0 scipy\/1\.8\.0$/),
    });
  });

  test("names the packs that its code imports first, and no more than a result may say.", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `package-${i}`);
    fetchPacks = async () => [pack("scikit-learn"), ...names.map(pack)];
    fetchBlob = async () => new TextEncoder().encode("PK hyperflock needs scikit-learn");
    host.run(leaseOf(7));
    await load(0);
    await finish(0, 7);
    const ended = events.find((event) => event.kind === "outcome");
    const software = ended?.kind === "outcome" ? ended.software : "";
    expect(software).toMatch(/ chainer\/\S+ scikit-learn\/1\.8\.0 package-0\/1\.8\.0 .*\/1\.8\.0$/);
    expect(software.length).toBeLessThanOrEqual(256);
  });

  test("gets those that its lease lists, without waiting for its bundle.", async () => {
    const packs = [{ name: "scikit-learn", version: "1.8.0" }];
    fetchBlob = () => new Promise(() => {});
    fetchPacks = vi.fn(async () => []);
    host.run(leaseOf(7, { packs }));
    await load(0);
    expect(fetchPacks).toHaveBeenCalledExactlyOnceWith(packs);
  });

  test("is given back where they cannot be had, and other trials go on.", async () => {
    fetchBlob = async () => new TextEncoder().encode("PK hyperflock needs scikit-learn");
    host.run(leaseOf(7));
    await load(0);
    expect(events.at(-1)).toMatchObject({ kind: "cannot_run", attempt: 7 });
    fetchBlob = async () => new Uint8Array([1]);
    host.run(leaseOf(8));
    await settled();
    expect(runs()).toMatchObject([{ packages: [], spec: { attempt: 8 } }]);
  });
});

describe("A study that asks for a device", () => {
  const parts = {
    module: new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])),
    archive: new Uint8Array([1]),
  };
  const gpu: ToGpuThread["kind"][] = [];
  let ended = 0;

  const lease = (attempt: number, change: Partial<Lease> = {}) =>
    leaseOf(attempt, { runtime: { chainer: "7.8.1", backend: "webgpu" }, ...change });
  const runs = (i: number) => thread(i).told.filter((message) => message.kind === "run");

  beforeEach(() => {
    gpu.length = 0;
    ended = 0;
    const side = new ArraycoreSide({
      fetchParts: async () => parts,
      offer: (wanted) => ({
        wanted,
        backends: ["webgpu", "cpu"],
        reasons: {},
        software: false,
        budget_bytes: 7,
      }),
      spawnGpu: () => ({
        post: (message) => gpu.push(message.kind),
        terminate: async () => {
          ended += 1;
        },
      }),
      log: () => {},
    });
    host = hostOf(true, side);
  });

  test("gets array-core with its thread's first attempt, and the offer with each.", async () => {
    host.run(lease(7));
    await load(0);
    await finish(0, 7);
    host.run(lease(8));
    await settled();
    expect(runs(0).map(({ arraycore }) => arraycore)).toEqual([parts, null]);
    expect(runs(0).map(({ spec }) => spec.device?.wanted)).toEqual(["webgpu", "webgpu"]);
  });

  test("is told apart from one that does not, which gets nothing.", async () => {
    host.run(leaseOf(7));
    await load(0);
    expect(runs(0)[0]).toMatchObject({ arraycore: null, spec: { device: null } });
  });

  test("opens a ring while its attempt runs, on a gpu thread that ends with Python.", async () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const open = { kind: "gpu", message: { kind: "open", memory, controlAddress: 0 } } as const;
    host.run(lease(7));
    await settled();
    thread(0).say(open); // no attempt runs yet
    expect(gpu).toEqual([]);
    await load(0);
    new Int32Array(memory.buffer)[0] = MAGIC;
    thread(0).say(open);
    expect(gpu).toEqual(["open"]);
    host.terminate();
    await settled();
    expect(ended).toBe(1);
  });

  describe("and was interrupted", () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const open = { kind: "gpu", message: { kind: "open", memory, controlAddress: 0 } } as const;

    test("does not leave its ring to the next attempt: both threads are replaced.", async () => {
      host.run(lease(7));
      await load(0);
      new Int32Array(memory.buffer)[0] = MAGIC;
      thread(0).say(open);
      host.interrupt(7);
      expect(thread(0).isAlive).toBe(true);
      await finish(0, 7);
      expect([thread(0).isAlive, ended]).toEqual([false, 1]);
      expect(kinds()).toEqual(["running", "outcome"]);
      host.run(lease(8));
      await load(1);
      expect(thread(1).runs).toEqual([8]);
    });

    test.each([
      ["opened no ring", false, true],
      ["came to its end by itself", true, false],
    ])("keeps its threads where it %s.", async (_, opens, interrupts) => {
      host.run(lease(7));
      await load(0);
      new Int32Array(memory.buffer)[0] = MAGIC;
      if (opens) thread(0).say(open);
      if (interrupts) host.interrupt(7);
      await finish(0, 7);
      host.run(lease(8));
      await settled();
      expect(thread(0).runs).toEqual([7, 8]);
      expect(ended).toBe(0);
    });
  });

  test("and whose array-core has ended gets a thread of its own; the outcome counts.", async () => {
    host.run(lease(7));
    await load(0);
    const outcome = '{"outcome":"pruned"}';
    thread(0).say({ kind: "outcome", attempt: 7, outcome, runMs: 1, isLast: true });
    expect(thread(0).isAlive).toBe(false);
    expect(kinds()).toEqual(["running", "outcome"]);
    host.run(lease(8));
    await load(1);
    expect(thread(1).runs).toEqual([8]);
  });

  test.each([
    ['{"outcome":"pruned","backend":"webgpu"}', "webgpu"],
    ['{"outcome":"pruned","backend":"cpu"}', "cpu"],
    ['{"outcome":"pruned","backend":"a supercomputer"}', "numpy"],
    ['{"outcome":"pruned"}', "numpy"],
    ["no JSON", "numpy"],
  ])("says what it computed on: %s.", async (outcome, backend) => {
    host.run(lease(7));
    await load(0);
    thread(0).say({ kind: "outcome", attempt: 7, outcome, runMs: 1 });
    expect(events.at(-1)).toMatchObject({ kind: "outcome", backend });
  });

  test("R52: says what computed it: the worker, the runtime, and its packages' versions.", async () => {
    host.run(lease(7));
    await load(0);
    await finish(0, 7);
    const versions = "pyodide/1 numpy/1 chainer/7.8.1";
    const software = `${AGENT_NAME} runtime/r ${versions}`;
    expect(events.at(-1)).toMatchObject({ kind: "outcome", software });
  });
});

test("Nothing is fetched for a lease with too much data, and what the thread fetched is told once.", async () => {
  tooMuch = { rule: "day", bytes: 300 };
  const asked: string[] = [];
  fetchBlob = async (sha256) => {
    asked.push(sha256);
    return new Uint8Array();
  };
  host.warm();
  await load(0);
  host.run(leaseOf(7));
  await settled();
  expect(events.at(-1)).toEqual({ kind: "too_much_data", attempt: 7, why: tooMuch });
  expect(asked).toEqual([]);
  thread(0).say({ kind: "loaded", timings: {}, fetchedBytes: 12 });
  expect(fetchedBytes).toEqual([12]);
  tooMuch = null;
  host.run(leaseOf(8));
  await settled();
  expect(asked).toHaveLength(1);
});
