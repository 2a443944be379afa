// Tests that trial code cannot find certain objects on the python thread.

import { expect, test } from "vitest";
import { LockdownError, lockDown } from "./lockdown.ts";

class Base {
  get indexedDB() {
    return "secret";
  }
  get performance() {
    return "kept";
  }
}
class Scope extends Base {
  readonly caches = "secret";
  readonly anInterfaceOfTomorrow = "secret";
  readonly setTimeout = "kept";
}

test("What is not listed is gone from the scope and from its prototypes, and cannot be put back.", () => {
  const scope = new Scope();
  const navigator = { storage: "secret", gpu: "secret", userAgent: "kept" };
  lockDown(scope, navigator);
  expect([scope.indexedDB, scope.caches, scope.anInterfaceOfTomorrow]).toEqual(
    Array(3).fill(undefined),
  );
  expect([navigator.storage, navigator.gpu]).toEqual([undefined, undefined]);
  expect(Reflect.get(Base.prototype, "indexedDB", scope)).toBeUndefined();
  expect(Reflect.set(scope, "indexedDB", "back")).toBe(false);
  expect(Reflect.deleteProperty(scope, "indexedDB")).toBe(false);
  expect([scope.setTimeout, scope.performance, navigator.userAgent]).toEqual(Array(3).fill("kept"));
  expect(scope.constructor).toBe(Scope);
});

test("A second time changes nothing.", () => {
  const scope = new Scope();
  lockDown(scope, {});
  lockDown(scope, {});
  expect(scope.setTimeout).toBe("kept");
});

test("What cannot be taken away stops the thread.", () => {
  const scope = { indexedDB: "" };
  Object.defineProperty(scope, "indexedDB", { writable: false, configurable: false });
  expect(() => lockDown(scope, {})).toThrow(LockdownError);
});
