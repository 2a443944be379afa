// The interface of a browser that Playwright does not drive. It has only the actions that the tests of a volunteer
// need: open a page, read from it, and click.

import type { ChildProcess } from "node:child_process";
import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";

export interface Engine {
  readonly name: string;
  open(url: string): Promise<void>;
  /** Evaluates a JavaScript expression in the page. The value must be a text, a number, a boolean or null. */
  evaluate(expression: string): Promise<unknown>;
  /** Clicks, as a person would, on the first element that matches the selector. */
  click(selector: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Thrown if a program that the engine needs is not on this machine. The message is the name of the package that
 * contains it.
 */
export class EngineMissing extends Error {
  override readonly name = "EngineMissing";
}

/** Ends a process that was started here, and waits for it. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  await ended;
  clearTimeout(timer);
}

/** Waits until the child's output on a stream matches the pattern. Returns the text of the pattern's first group. */
export function said(
  child: ChildProcess,
  stream: "stdout" | "stderr",
  pattern: RegExp,
  timeoutMs = LIMIT_MS,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => fail("did not answer"), timeoutMs);
    const fail = (why: string) => {
      clearTimeout(timer);
      reject(new Error(`${child.spawnfile} ${why}:\n${text.slice(-2_000)}`));
    };
    child.once("exit", () => fail("ended"));
    child.once("error", (error) => fail(error.message));
    child[stream]?.setEncoding("utf8").on("data", (chunk: string) => {
      text = (text + chunk).slice(-65_536);
      const found = text.match(pattern);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found[1] ?? "");
    });
  });
}
