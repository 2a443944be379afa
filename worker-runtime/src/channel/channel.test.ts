// Tests the call channel between two threads: this one is the agent, caller_thread.fixture.ts the python thread.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LIMIT_MS, quickest } from "../../node/patience.ts";
import { Answerer } from "./answerer.ts";
import { answerText, type Block, createBlock, errorText, PAYLOAD_BYTES, Word } from "./block.ts";
import type { CallRequest } from "./caller.ts";
import type { Job } from "./caller_thread.fixture.ts";

type Message =
  | { readonly kind: "request"; readonly request: CallRequest }
  | { readonly kind: "done"; readonly text: string; readonly ms: number };

let block: Block;
let answerer: Answerer;
let thread: Worker;

beforeEach(() => {
  block = createBlock();
  answerer = new Answerer(block);
  const file = new URL("./caller_thread.fixture.ts", import.meta.url);
  thread = new Worker(file, { workerData: block.memory });
});

afterEach(async () => {
  await thread.terminate();
});

async function next<Kind extends Message["kind"]>(kind: Kind): Promise<Message & { kind: Kind }> {
  const [message] = (await once(thread, "message")) as [Message];
  expect(message.kind).toBe(kind);
  return message as Message & { kind: Kind };
}

const give = (job: Job) => thread.postMessage(job);
const call = (timeoutMs: number) => give({ kind: "call", method: "should_prune", timeoutMs });

test("A call gets its answer, whatever its characters.", async () => {
  call(LIMIT_MS);
  const { request } = await next("request");
  expect(request).toEqual({ sequence: 1, method: "should_prune", payload: "{}" });
  expect(answerer.answer(1, answerText({ text: "é世😀" }))).toBe(true);
  expect((await next("done")).text).toBe(answerText({ text: "é世😀" }));
});

test("A call without an answer ends as call_timeout, and its late answer reaches nobody.", async () => {
  call(80);
  await next("request");
  expect(JSON.parse((await next("done")).text)).toMatchObject({
    ok: false,
    error: { code: "call_timeout" },
  });
  expect(answerer.answer(1, answerText(1))).toBe(false);

  call(LIMIT_MS);
  const { request } = await next("request");
  expect(answerer.answer(1, answerText("of the first call"))).toBe(false);
  expect(answerer.answer(request.sequence, answerText("of the second"))).toBe(true);
  expect((await next("done")).text).toBe(answerText("of the second"));
});

test("An interrupt ends a blocked call within a second.", async () => {
  const took = await quickest(1_000, async () => {
    call(LIMIT_MS);
    const { request } = await next("request");
    const startedAt = performance.now();
    answerer.interrupt();
    expect((await next("done")).text).toBe("KeyboardInterrupt");
    const ms = performance.now() - startedAt;
    expect(answerer.answer(request.sequence, answerText(1))).toBe(false);
    answerer.reset();
    return ms;
  });
  expect(took).toBeLessThan(1_000);
});

test("An answer that does not fit becomes an error.", async () => {
  call(LIMIT_MS);
  await next("request");
  answerer.answer(1, answerText("x".repeat(PAYLOAD_BYTES)));
  expect(JSON.parse((await next("done")).text)).toMatchObject({
    error: { code: "answer_too_large" },
  });
});

test("Reports wait for room, and the room is what the server took.", async () => {
  give({ kind: "report", points: 12, limit: 10, timeoutMs: 80 });
  expect((await next("done")).text).toBe("10");
  answerer.setTaken(2);
  give({ kind: "report", points: 12, limit: 10, timeoutMs: 80 });
  expect((await next("done")).text).toBe("12");
  answerer.reset();
  give({ kind: "report", points: 12, limit: 10, timeoutMs: 80 });
  expect((await next("done")).text).toBe("10");
});

test("The liveness counter stays a count when its word wraps.", () => {
  Atomics.store(block.header, Word.progress, -1);
  expect(answerer.progress).toBe(2 ** 32 - 1);
});

test("An interrupt is the byte that Pyodide reads, and a reset clears it.", () => {
  answerer.interrupt();
  expect(block.interrupt[0]).toBe(2);
  answerer.reset();
  expect(block.interrupt[0]).toBe(0);
});

test("Errors have the form that the Python side reads.", () => {
  expect(JSON.parse(errorText("a_code", "A sentence."))).toEqual({
    ok: false,
    error: { code: "a_code", message: "A sentence." },
  });
});
