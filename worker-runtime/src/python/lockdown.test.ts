// What trial code must not find on the python thread.

import { expect, test } from "vitest";
import { lockDown } from "./lockdown.ts";

class Base {
  get indexedDB() {
    return "secret";
  }
}
class Scope extends Base {
  readonly caches = "secret";
  readonly kept = "kept";
}

test("Storage is gone from the scope and from its prototypes, and cannot be put back.", () => {
  const scope = new Scope();
  const navigator = { storage: "secret" };
  lockDown(scope, navigator);
  expect([scope.indexedDB, scope.caches, navigator.storage]).toEqual(Array(3).fill(undefined));
  expect(Reflect.get(Base.prototype, "indexedDB", scope)).toBeUndefined();
  expect(Reflect.set(scope, "indexedDB", "back")).toBe(false);
  expect(Reflect.deleteProperty(scope, "indexedDB")).toBe(false);
  expect(scope.kept).toBe("kept");
});
