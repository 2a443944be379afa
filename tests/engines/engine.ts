// A browser that is neither Playwright's nor Chromium, as little of it as a volunteer needs: open a page, look at it, click.

import type { ChildProcess } from "node:child_process";
import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";

export interface Engine {
  readonly name: string;
  open(url: string): Promise<void>;
  /** The value of a JavaScript expression: text, number, boolean or null. */
  evaluate(expression: string): Promise<unknown>;
  /** As a person would, on the first element that the selector names. */
  click(selector: string): Promise<void>;
  close(): Promise<void>;
}

/** A program that the engine needs is not on this machine; the name of the package that has it. */
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

/** What the child writes to a stream until the pattern is found; its first group. */
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
