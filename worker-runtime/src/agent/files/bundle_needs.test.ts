// Tests that the needs of a bundle are read from its zip's comment.

import { expect, test } from "vitest";
import { needsOf } from "./bundle_needs.ts";

const zip = (comment: string) => new TextEncoder().encode(`PK\u0005\u0006${comment}`);

test.each([
  ["", false, []],
  ["hyperflock needs optuna", true, []],
  ["hyperflock needs scikit-learn", false, ["scikit-learn"]],
  ["hyperflock needs optuna pandas scikit-learn", true, ["pandas", "scikit-learn"]],
  ["hyperflock needs ../etc", false, []],
  ["hyperflock needs optuna and more\n", false, []],
])("%j", (comment, optuna, packs) => {
  expect(needsOf(zip(comment))).toEqual({ optuna, packs });
});

test("The same words in a file do not count.", () => {
  expect(needsOf(zip("hyperflock needs optuna\0\0"))).toEqual({ optuna: false, packs: [] });
});
