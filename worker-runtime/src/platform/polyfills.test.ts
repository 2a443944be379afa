// Tests that each own function does what the engine's own does, and is added only where it is missing. (Any thread.)

import { describe, expect, test } from "vitest";
import { installPolyfills, POLYFILLS } from "./polyfills.ts";

/** A scope whose classes lack the functions, with the own ones added. */
function oldScope() {
  class OldPromise<T> extends Promise<T> {}
  class OldSignal {}
  class OldString {}
  for (const holder of [OldPromise, OldSignal, OldString.prototype]) {
    for (const { key } of POLYFILLS) {
      Object.defineProperty(holder, key, { value: undefined, configurable: true, writable: true });
    }
  }
  const scope = { Promise: OldPromise, AbortSignal: OldSignal, String: OldString };
  return { scope, added: installPolyfills(scope) };
}

function own(key: string): (this: unknown, ...args: unknown[]) => unknown {
  const found = POLYFILLS.find((one) => one.key === key);
  if (found === undefined) throw new Error(`There is no ${key}.`);
  return found.value as (this: unknown, ...args: unknown[]) => unknown;
}

test("Only what is missing is added, hidden from loops like the engine's own.", () => {
  expect(installPolyfills(globalThis)).toEqual([]);
  const { scope, added } = oldScope();
  expect(added).toEqual(POLYFILLS.map(({ name }) => name));
  expect(Object.keys(scope.Promise)).toEqual([]);
  expect(installPolyfills(scope)).toEqual([]);
  // A browser without abortable requests has no signals either.
  const { AbortSignal: _, ...without } = scope;
  expect(installPolyfills(without)).toEqual([]);
});

describe.each([
  ["the engine's", Promise.withResolvers],
  ["the own", own("withResolvers")],
])("Promise.withResolvers, %s", (_, withResolvers) => {
  const make = (kind: unknown = Promise) =>
    withResolvers.call(kind as PromiseConstructor) as PromiseWithResolvers<number>;

  test("resolves and rejects", async () => {
    const good = make();
    good.resolve(3);
    await expect(good.promise).resolves.toBe(3);
    const bad = make();
    bad.reject(new Error("no"));
    await expect(bad.promise).rejects.toThrow("no");
  });

  test("makes promises of the class that it is called on", () => {
    class Mine<T> extends Promise<T> {}
    expect(make(Mine).promise).toBeInstanceOf(Mine);
  });
});

describe.each([
  ["the engine's", AbortSignal.any],
  ["the own", own("any")],
])("AbortSignal.any, %s", (_, any) => {
  const anyOf = (...signals: AbortSignal[]) => any.call(AbortSignal, signals) as AbortSignal;

  test("is aborted with the reason of the first that is", () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const both = anyOf(first.signal, second.signal);
    const heard: unknown[] = [];
    both.addEventListener("abort", () => heard.push(both.reason));
    expect(both.aborted).toBe(false);
    second.abort("later");
    first.abort("too late");
    expect(heard).toEqual(["later"]);
    expect(both.reason).toBe("later");
  });

  test("is aborted at once if one is, and never without one", () => {
    expect(anyOf(AbortSignal.abort("before"), new AbortController().signal).reason).toBe("before");
    expect(anyOf().aborted).toBe(false);
  });
});

describe.each([
  ["the engine's", String.prototype.isWellFormed, String.prototype.toWellFormed],
  ["the own", own("isWellFormed"), own("toWellFormed")],
])("Well-formed text, %s", (_, isWellFormed, toWellFormed) => {
  test.each([
    ["", ""],
    ["loss", "loss"],
    ["鳥 \u{1f426}", "鳥 \u{1f426}"],
    ["\ud83d", "\ufffd"],
    ["\udc26\ud83d", "\ufffd\ufffd"],
    ["a\ud83d\ud83d\udc26", "a\ufffd\ud83d\udc26"],
  ])("%j becomes %j", (text, expected) => {
    expect(isWellFormed.call(text)).toBe(text === expected);
    expect(toWellFormed.call(text)).toBe(expected);
  });
});
