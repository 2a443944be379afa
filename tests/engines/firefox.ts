// Drives Debian's headless Firefox by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), over one WebSocket and
// without a driver program.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";
import { type Engine, EngineMissing, end, said } from "./engine.ts";

const BINARY = "/usr/bin/firefox-esr";
// With these settings the browser sends no requests of its own while a test runs.
const PREFERENCES = {
  "app.update.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "browser.startup.page": 0,
  "datareporting.policy.dataSubmissionEnabled": false,
  "intl.accept_languages": "en-US",
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "toolkit.telemetry.enabled": false,
};

interface Answer {
  readonly id?: number;
  readonly type: string;
  readonly result?: unknown;
  readonly error?: string;
  readonly message?: string;
}

/** The fields of `script.evaluate`'s answer that this file reads. */
interface Evaluated {
  readonly type: "success" | "exception";
  readonly result?: { readonly type: string; readonly value?: unknown; readonly sharedId?: string };
  readonly exceptionDetails?: { readonly text: string };
}

export class Firefox implements Engine {
  readonly name = "firefox";
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #open = new Map<number, (answer: Answer) => void>();
  #last = 0;
  #context = "";

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#process = child;
    this.#profile = profile;
    this.#socket = socket;
    socket.addEventListener("message", (event) => {
      const answer = JSON.parse(String(event.data)) as Answer;
      if (answer.id === undefined) return;
      this.#open.get(answer.id)?.(answer);
      this.#open.delete(answer.id);
    });
  }

  static async start(): Promise<Firefox> {
    if (!existsSync(BINARY)) throw new EngineMissing("firefox-esr");
    const profile = await mkdtemp(join(tmpdir(), "hyperflock-firefox-"));
    const lines = Object.entries(PREFERENCES).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    );
    await writeFile(join(profile, "user.js"), lines.join("\n"));
    const args = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0"];
    const child = spawn(BINARY, args, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: "1" },
    });
    const address = await said(child, "stderr", /WebDriver BiDi listening on (ws:\S+)/);
    const socket = new WebSocket(`${address}/session`);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", () => reject(new Error("Firefox takes no connection.")));
    });
    const firefox = new Firefox(child, profile, socket);
    await firefox.#command("session.new", { capabilities: {} });
    const { contexts } = await firefox.#command<{ contexts: { context: string }[] }>(
      "browsingContext.getTree",
      {},
    );
    firefox.#context = contexts[0]?.context ?? "";
    return firefox;
  }

  async open(url: string): Promise<void> {
    await this.#command("browsingContext.navigate", {
      context: this.#context,
      url,
      wait: "complete",
    });
  }

  async evaluate(expression: string): Promise<unknown> {
    const { value = null } = await this.#evaluate(expression);
    return value;
  }

  async click(selector: string): Promise<void> {
    const found = await this.#evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element?.scrollIntoView({ block: "center" });
      return element;
    })()`);
    if (found.sharedId === undefined) throw new Error(`There is no ${selector}.`);
    const origin = { type: "element", element: { sharedId: found.sharedId } };
    await this.#command("input.performActions", {
      context: this.#context,
      actions: [
        {
          type: "pointer",
          id: "hand",
          actions: [
            { type: "pointerMove", x: 0, y: 0, origin },
            { type: "pointerDown", button: 0 },
            { type: "pointerUp", button: 0 },
          ],
        },
      ],
    });
  }

  async close(): Promise<void> {
    await this.#command("browser.close", {}).catch(() => {});
    this.#socket.close();
    await end(this.#process);
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  async #evaluate(expression: string): Promise<NonNullable<Evaluated["result"]>> {
    const answer = await this.#command<Evaluated>("script.evaluate", {
      expression,
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (answer.type === "success" && answer.result !== undefined) return answer.result;
    throw new Error(answer.exceptionDetails?.text ?? "The page threw.");
  }

  #command<Result>(method: string, params: object): Promise<Result> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#open.delete(id);
        reject(new Error(`${method}: no answer`));
      }, LIMIT_MS);
      this.#open.set(id, (answer) => {
        clearTimeout(timer);
        if (answer.type === "success") resolve(answer.result as Result);
        else reject(new Error(`${method}: ${answer.error} ${answer.message}`));
      });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
