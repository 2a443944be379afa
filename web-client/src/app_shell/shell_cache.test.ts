import { describe, expect, it } from "vitest";
import { isAbandoned, PAGE_LOCK_PREFIX, SHELL_PREFIX, ShellCache } from "./shell_cache.ts";

const ORIGIN = "https://flock.example";

/** A browser with caches, and a server that has the pages and files of one version at a time. */
class Scenario {
  readonly stores = new Map<string, Map<string, Response>>();
  readonly locks: string[] = [];
  isFull = false;
  server: (path: string) => Promise<Response> = () => Promise.reject(new TypeError("offline"));
  /** What pause() returns: a time-out that never comes, unless a test says otherwise. */
  pause: () => Promise<void> = () => new Promise(() => {});

  readonly caches = {
    keys: async () => [...this.stores.keys()],
    delete: async (name: string) => this.stores.delete(name),
    match: async (path: RequestInfo | URL, { cacheName = "" }: MultiCacheQueryOptions = {}) =>
      this.stores.get(cacheName)?.get(String(path))?.clone(),
    open: async (name: string) => {
      const store = this.stores.get(name) ?? new Map<string, Response>();
      this.stores.set(name, store);
      return {
        put: async (path: string, response: Response) => {
          if (this.isFull) throw new DOMException("full", "QuotaExceededError");
          store.set(path, response);
        },
      } as unknown as Cache;
    },
  };

  serve(version: string): void {
    const page = `<script src="/app/join-${version}.js">`;
    this.server = async (path) => {
      if (path === "/join") return new Response(page);
      const isFile = path === `/app/join-${version}.js` || path === `/app/agent-${version}.js`;
      return isFile ? new Response(path) : new Response("", { status: 404 });
    };
  }

  worker(version: string): ShellCache {
    const files = [`/app/join-${version}.js`, `/app/agent-${version}.js`];
    const shell = { version, entry: `/app/join-${version}.js`, files };
    return new ShellCache(shell, {
      caches: this.caches,
      fetch: (request) => {
        const path = typeof request === "string" ? request : new URL(request.url).pathname;
        return this.server(path);
      },
      heldLocks: async () => this.locks,
      pause: () => this.pause(),
      origin: ORIGIN,
    });
  }

  async installed(...versions: string[]): Promise<ShellCache> {
    for (const version of versions) {
      this.serve(version);
      await this.worker(version).install();
    }
    return this.worker(versions.at(-1) ?? "");
  }

  get versions(): string[] {
    return [...this.stores.keys()].map((name) => name.slice(SHELL_PREFIX.length));
  }
}

const request = (path: string) => new Request(`${ORIGIN}${path}`);

describe("the installation", () => {
  it("keeps the page and each file by its path alone", async () => {
    const scenario = new Scenario();
    await scenario.installed("one");
    const store = scenario.stores.get(`${SHELL_PREFIX}one`);
    expect([...(store?.keys() ?? [])].sort()).toEqual([
      "/app/agent-one.js",
      "/app/join-one.js",
      "/join",
    ]);
  });

  it("fails if the server has another version by now, and keeps nothing", async () => {
    const scenario = new Scenario();
    scenario.serve("two");
    await expect(scenario.worker("one").install()).rejects.toThrow("another version");
    expect(scenario.versions).toEqual([]);
  });

  it("fails if a file is missing or the browser has no room, and keeps nothing", async () => {
    const scenario = new Scenario();
    scenario.serve("one");
    scenario.isFull = true;
    await expect(scenario.worker("one").install()).rejects.toThrow("full");
    const { server } = scenario;
    scenario.server = async (path) =>
      path.includes("agent") ? new Response("", { status: 503 }) : await server(path);
    await expect(scenario.worker("one").install()).rejects.toThrow("503");
    expect(scenario.versions).toEqual([]);
  });
});

describe("the page", () => {
  it("is the server's if it answers", async () => {
    const scenario = new Scenario();
    const worker = await scenario.installed("one");
    scenario.serve("two");
    expect(await (await worker.page(request("/join"))).text()).toContain("join-two.js");
  });

  it("is the kept one without a server, with a server that hangs, and with a broken proxy", async () => {
    const scenario = new Scenario();
    const worker = await scenario.installed("one");
    const kept = async () => await (await worker.page(request("/join?a=1"))).text();
    scenario.server = () => Promise.reject(new TypeError("offline"));
    expect(await kept()).toContain("join-one.js");
    scenario.server = async () => new Response("Bad Gateway", { status: 502 });
    expect(await kept()).toContain("join-one.js");
    scenario.server = () => new Promise(() => {});
    scenario.pause = async () => {};
    expect(await kept()).toContain("join-one.js");
  });

  it("at / leads to the page as the server would", async () => {
    const scenario = new Scenario();
    const worker = await scenario.installed("one");
    scenario.server = () => Promise.reject(new TypeError("offline"));
    const answer = await worker.page(request("/"));
    expect([answer.status, answer.headers.get("location")]).toEqual([302, `${ORIGIN}/join`]);
  });

  it("is waited for if none is kept", async () => {
    const scenario = new Scenario();
    scenario.serve("one");
    scenario.pause = async () => {};
    const answer = await scenario.worker("one").page(request("/join"));
    expect(await answer.text()).toContain("join-one.js");
  });
});

describe("a file", () => {
  it("of an older version is found though the server lacks it", async () => {
    const scenario = new Scenario();
    const worker = await scenario.installed("one", "two");
    expect(await (await worker.file(request("/app/agent-one.js"))).text()).toBe(
      "/app/agent-one.js",
    );
  });

  it("that is not kept comes from the server", async () => {
    const scenario = new Scenario();
    const worker = await scenario.installed("one");
    expect((await worker.file(request("/app/other.js"))).status).toBe(404);
  });
});

it("handles the page and its files, and neither the API nor the runtime", () => {
  const worker = new Scenario().worker("one");
  expect(worker.handles("/", true) && worker.handles("/join", true)).toBe(true);
  expect(worker.handles("/app/join-one.js", false)).toBe(true);
  for (const path of ["/api/project", "/ws/worker", "/runtime/x-1/y", "/sw.js", "/join"]) {
    expect(worker.handles(path, false), path).toBe(false);
  }
  for (const path of ["/selftest", "/research", "/app/x.js", "/joined"]) {
    expect(worker.handles(path, true), path).toBe(false);
  }
});

describe("old versions", () => {
  it("go, except this one, the one before it, and those of open pages", async () => {
    const scenario = new Scenario();
    const worker = await scenario.installed("one", "two", "three", "four");
    scenario.locks.push(`${PAGE_LOCK_PREFIX}/app/join-one.js`, "hyperflock.computing");
    await worker.sweep();
    expect(scenario.versions).toEqual(["one", "three", "four"]);
    scenario.locks.length = 0;
    await worker.sweep();
    expect(scenario.versions).toEqual(["three", "four"]);
  });

  it("leave what is not the shell's", async () => {
    const scenario = new Scenario();
    const worker = await scenario.installed("one");
    await scenario.caches.open("hyperflock-blobs");
    await worker.sweep();
    await worker.clear();
    expect([...scenario.stores.keys()]).toEqual(["hyperflock-blobs"]);
  });
});

describe("isAbandoned", () => {
  const answers = (response: () => Promise<Response>) => isAbandoned(response);
  const typed = (type: string) => async () =>
    new Response("", { headers: { "content-type": type } });

  it("is said by a server without the script, and by another program at its address", async () => {
    for (const status of [404, 410]) {
      expect(await answers(async () => new Response("", { status }))).toBe(true);
    }
    expect(await answers(typed("text/html"))).toBe(true);
  });

  it("is not said without a connection, in trouble, and by the script itself", async () => {
    expect(await answers(() => Promise.reject(new TypeError("offline")))).toBe(false);
    expect(await answers(async () => new Response("", { status: 503 }))).toBe(false);
    expect(await answers(typed("text/javascript; charset=utf-8"))).toBe(false);
  });
});
