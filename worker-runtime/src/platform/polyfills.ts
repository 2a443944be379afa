// Own replacements for functions that this project uses and that browsers of its minimum lack (features.fixture.ts). They behave
// as their specifications say, as far as this project needs it. Any thread.
//
// Every script that a browser starts imports install.ts first, so all other code uses these functions as if each browser
// had them.

/** Where a function belongs, by its name as in features.fixture.ts. */
interface Polyfill {
  readonly name: string;
  readonly holderOf: (scope: PolyfilledScope) => object | undefined;
  readonly key: string;
  readonly value: (this: never, ...args: never[]) => unknown;
}

/** The part of the global scope to which functions are added. */
export interface PolyfilledScope {
  readonly Promise: object;
  readonly String: { readonly prototype: object };
  readonly AbortSignal?: object;
}

function withResolvers<T>(this: PromiseConstructor): PromiseWithResolvers<T> {
  let resolve: PromiseWithResolvers<T>["resolve"] = () => {};
  let reject: PromiseWithResolvers<T>["reject"] = () => {};
  const promise = new this<T>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  return { promise, resolve, reject };
}

/** A signal that is aborted keeps its reason; the other signals then forget the new one. */
function anySignal(signals: Iterable<AbortSignal>): AbortSignal {
  const all = [...signals];
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = all.find((one) => one.aborted);
  if (aborted !== undefined) {
    controller.abort(aborted.reason);
    return signal;
  }
  for (const one of all) {
    one.addEventListener("abort", () => controller.abort(one.reason), { signal });
  }
  return signal;
}

function isWellFormed(this: string): boolean {
  // With the flag `u`, a pair of surrogates is one character, so only a lone one matches.
  return !/\p{Surrogate}/u.test(this);
}

function toWellFormed(this: string): string {
  return this.replace(/\p{Surrogate}/gu, "\ufffd");
}

export const POLYFILLS: readonly Polyfill[] = [
  {
    name: "Promise.withResolvers",
    holderOf: ({ Promise: holder }) => holder,
    key: "withResolvers",
    value: withResolvers,
  },
  {
    name: "AbortSignal.any",
    holderOf: ({ AbortSignal: holder }) => holder,
    key: "any",
    value: anySignal,
  },
  {
    name: "String.prototype.isWellFormed",
    holderOf: ({ String: { prototype } }) => prototype,
    key: "isWellFormed",
    value: isWellFormed,
  },
  {
    name: "String.prototype.toWellFormed",
    holderOf: ({ String: { prototype } }) => prototype,
    key: "toWellFormed",
    value: toWellFormed,
  },
];

/** Adds what is missing to the scope, and returns the names of what it has added. */
export function installPolyfills(scope: PolyfilledScope): readonly string[] {
  const added: string[] = [];
  for (const { name, holderOf, key, value } of POLYFILLS) {
    const holder = holderOf(scope);
    if (holder === undefined || typeof Reflect.get(holder, key) === "function") continue;
    Object.defineProperty(holder, key, { value, writable: true, configurable: true });
    added.push(name);
  }
  return added;
}
