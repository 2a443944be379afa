// Drives MiniBrowser of Debian's WebKitGTK on its own display (Xvfb), by WebDriver (https://www.w3.org/TR/webdriver2/).
// In Safari, the threads of an isolated page can share memory. In WebKitGTK this is switched off for all pages, and the
// tests can switch it on.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";
import { type Engine, EngineMissing, end, said } from "./engine.ts";

const DRIVER = "/usr/bin/WebKitWebDriver";
const DISPLAY = "/usr/bin/Xvfb";
const BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser";
/** In WebDriver's JSON, an element is an object with this one key. The value is the element's id. */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

export class WebKit implements Engine {
  readonly name = "webkit";
  readonly #processes: readonly ChildProcess[];
  readonly #home: string;
  readonly #base: string;
  #session = "";

  private constructor(processes: readonly ChildProcess[], home: string, base: string) {
    this.#processes = processes;
    this.#home = home;
    this.#base = base;
  }

  /**
   * Starts the browser. With `sharesMemory`, threads can share memory, as in Safari. Without it, they cannot.
   */
  static async start(sharesMemory: boolean): Promise<WebKit> {
    const browser = globSync(BROWSERS).sort().at(-1);
    if (!existsSync(DRIVER) || browser === undefined) throw new EngineMissing("webkit2gtk-driver");
    if (!existsSync(DISPLAY)) throw new EngineMissing("xvfb");
    const home = await mkdtemp(join(tmpdir(), "hyperflock-webkit-"));
    const display = spawn(
      DISPLAY,
      ["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    const number = await said(display, "stdout", /^(\d+)\n/);
    const start = (port: number) =>
      spawn(DRIVER, ["--host=127.0.0.1", `--port=${port}`], {
        stdio: "ignore",
        env: {
          ...process.env,
          DISPLAY: `:${number}`,
          HOME: home,
          XDG_RUNTIME_DIR: home,
          LANG: "C.UTF-8",
          LANGUAGE: "en_US",
          // The sandbox needs Linux namespaces, which root in a container may not create.
          ...(sharesMemory ? { JSC_useSharedArrayBuffer: "1" } : {}),
          ...(process.getuid?.() === 0 ? { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" } : {}),
        },
      });
    // The driver cannot let the kernel choose a port. If another program takes the free port first, the driver ends,
    // and another port is tried.
    for (let tries = 1; ; tries += 1) {
      const port = await freePort();
      const driver = start(port);
      const webkit = new WebKit([driver, display], home, `http://127.0.0.1:${port}`);
      if (await webkit.#begin(browser, driver)) return webkit;
      if (tries === 10) throw new Error(`${DRIVER} ends at once, with ${driver.exitCode}`);
    }
  }

  async open(url: string): Promise<void> {
    await this.#command("POST", "/url", { url });
  }

  async evaluate(expression: string): Promise<unknown> {
    return await this.#command("POST", "/execute/sync", {
      script: `return (${expression})`,
      args: [],
    });
  }

  async click(selector: string): Promise<void> {
    const found = (await this.#command("POST", "/element", {
      using: "css selector",
      value: selector,
    })) as Readonly<Record<string, string>>;
    await this.#command("POST", `/element/${found[ELEMENT]}/click`, {});
  }

  async close(): Promise<void> {
    await this.#command("DELETE", "").catch(() => {});
    for (const child of this.#processes) await end(child);
    await rm(this.#home, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Begins the WebDriver session. Returns false if the driver has ended. */
  async #begin(binary: string, driver: ChildProcess): Promise<boolean> {
    const options = { binary, args: ["--automation"] };
    const alwaysMatch = { "webkitgtk:browserOptions": options };
    for (const end = Date.now() + LIMIT_MS; ; ) {
      if (driver.exitCode !== null) return false;
      try {
        const made = (await this.#request("POST", "/session", {
          capabilities: { alwaysMatch },
        })) as { readonly sessionId: string };
        this.#session = `/session/${made.sessionId}`;
        return true;
      } catch (error) {
        // The driver needs a moment after its start before it accepts connections.
        if (driver.exitCode !== null) return false;
        if (!(error instanceof TypeError) || Date.now() > end) throw error;
        await sleep(100);
      }
    }
  }

  #command(method: string, path: string, body?: object): Promise<unknown> {
    return this.#request(method, this.#session + path, body);
  }

  async #request(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(this.#base + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const { value } = (await response.json()) as { readonly value: unknown };
    if (response.ok) return value;
    const { error, message } = value as { readonly error: string; readonly message: string };
    throw new Error(`${method} ${path}: ${error} ${message}`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("There is no free port.");
  return address.port;
}
