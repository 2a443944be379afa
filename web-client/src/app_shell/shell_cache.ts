// Keeps the join page in this browser, so that it opens without a connection, and so that a page which was opened before
// an update still finds its own files after it. Service worker; the caller passes in its caches and its network.
//
// File names below `/app/` contain a hash of the content, so a name means the same bytes in every version. The page
// itself is fetched from the server when it can be reached; the kept page is for all other times. Nothing else is kept:
// no answer of the API, no join code (it is in the address after `#`, which is no part of a key here) and no secret.

/** The files of one version of the join page. */
export interface Shell {
  /** A hash of the version's files. */
  readonly version: string;
  /** The path of the page's script, by which a page and its version are recognised. */
  readonly entry: string;
  /** The paths of all files below `/app/` that the page and its threads can ask for. */
  readonly files: readonly string[];
}

export const SHELL_PREFIX = "hyperflock-shell-";
export const SCRIPT = "/sw.js";
export const PAGE = "/join";
/** Each open page holds a shared lock with this prefix and the path of its script. */
export const PAGE_LOCK_PREFIX = "hyperflock.page:";
/** The kept page is shown if the server has not answered after this time. */
export const NETWORK_WAIT_MS = 700;

export interface ShellEnvironment {
  readonly caches: Pick<CacheStorage, "open" | "match" | "keys" | "delete">;
  readonly fetch: (request: Request | string, init?: RequestInit) => Promise<Response>;
  /** Returns the names of the locks of this origin that are held. */
  readonly heldLocks: () => Promise<readonly string[]>;
  readonly pause: (ms: number) => Promise<void>;
  readonly origin: string;
}

/**
 * Returns whether the server has no service worker (any more), so that none may be registered and one that is must go.
 * False without a connection.
 */
export async function isAbandoned(fetch: ShellEnvironment["fetch"]): Promise<boolean> {
  const init = { method: "HEAD", cache: "no-store", credentials: "omit" } as const;
  const answer = await fetch(SCRIPT, init).catch(() => null);
  if (answer === null) return false;
  if (answer.status === 404 || answer.status === 410) return true;
  const type = answer.headers.get("content-type") ?? "";
  // Another program may now listen at this address, and answer every path with a page of its own.
  return answer.ok && !type.includes("javascript");
}

export class ShellCache {
  readonly #shell: Shell;
  readonly #environment: ShellEnvironment;

  constructor(shell: Shell, environment: ShellEnvironment) {
    this.#shell = shell;
    this.#environment = environment;
  }

  get #name(): string {
    return SHELL_PREFIX + this.#shell.version;
  }

  /**
   * Fetches and keeps every file of this version. Throws if one cannot be fetched, or if the server has another version
   * by now; the browser then tries again at a later visit.
   */
  async install(): Promise<void> {
    const { caches, fetch } = this.#environment;
    const page = await fetch(PAGE, { cache: "no-cache", credentials: "omit" });
    const text = await page.clone().text();
    if (!page.ok || !text.includes(this.#shell.entry)) {
      throw new Error("The server's page is of another version.");
    }
    const files = await Promise.all(
      this.#shell.files.map(async (path) => {
        const response = await fetch(path, { credentials: "omit" });
        if (!response.ok) throw new Error(`${path}: the server answered ${response.status}.`);
        return [path, response] as const;
      }),
    );
    const cache = await caches.open(this.#name);
    try {
      for (const [path, response] of [...files, [PAGE, page] as const]) {
        await cache.put(path, response);
      }
    } catch (error) {
      // The browser has no room. Half of a version is worth nothing.
      await caches.delete(this.#name);
      throw error;
    }
  }

  /** Returns whether this path's request is answered here. */
  handles(path: string, isNavigation: boolean): boolean {
    return isNavigation ? path === "/" || path === PAGE : path.startsWith("/app/");
  }

  /** Answers the request of a page, from the server if it answers soon. */
  async page(request: Request): Promise<Response> {
    const { caches, fetch, pause, origin } = this.#environment;
    const answer = fetch(request);
    const kept = await caches.match(PAGE, { cacheName: this.#name, ignoreVary: true });
    if (kept === undefined) return await answer;
    const first = await Promise.race([
      answer.catch(() => null),
      pause(NETWORK_WAIT_MS).then(() => null),
    ]);
    // A status of 500 and more comes from a server that starts, or from a proxy without a server.
    if (first !== null && first.status < 500) return first;
    return new URL(request.url).pathname === PAGE ? kept : Response.redirect(origin + PAGE);
  }

  /** Answers the request of a file whose name contains its hash: the bytes of any version are right. */
  async file(request: Request): Promise<Response> {
    const { caches, fetch } = this.#environment;
    const path = new URL(request.url).pathname;
    for (const name of await this.#versions()) {
      // The key is the path alone, so the header Vary must not count.
      const kept = await caches.match(path, { cacheName: name, ignoreVary: true });
      if (kept !== undefined) return kept;
    }
    return await fetch(request);
  }

  /** Removes the versions that no open page has, except this one and the one before it. */
  async sweep(): Promise<void> {
    const { caches, heldLocks } = this.#environment;
    const held = (await heldLocks())
      .filter((name) => name.startsWith(PAGE_LOCK_PREFIX))
      .map((name) => name.slice(PAGE_LOCK_PREFIX.length));
    const others = (await this.#versions()).filter((name) => name !== this.#name);
    // A page in the back/forward cache holds no lock, so the version before this one stays in any case.
    for (const name of others.slice(0, -1)) {
      const found = await Promise.all(
        held.map((entry) => caches.match(entry, { cacheName: name, ignoreVary: true })),
      );
      if (found.every((entry) => entry === undefined)) await caches.delete(name);
    }
  }

  /** Removes every version. */
  async clear(): Promise<void> {
    for (const name of await this.#versions()) await this.#environment.caches.delete(name);
  }

  /** Returns the names of the versions' caches, the oldest first. */
  async #versions(): Promise<readonly string[]> {
    return (await this.#environment.caches.keys()).filter((name) => name.startsWith(SHELL_PREFIX));
  }
}
