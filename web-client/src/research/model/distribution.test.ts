import { describe, expect, it } from "vitest";
import { distributionOf, distributionsOf, spaceOf } from "./distribution.ts";

const text = (name: string, attributes: object) => JSON.stringify({ name, attributes });

describe("distributionOf", () => {
  it("reads what Optuna writes", () => {
    const lr = text("FloatDistribution", { step: null, low: 1e-5, high: 1, log: true });
    expect(distributionOf(lr)).toEqual({
      kind: "float",
      low: 1e-5,
      high: 1,
      isLog: true,
      step: null,
    });
    const width = text("IntDistribution", { log: false, step: 2, low: 4, high: 64 });
    expect(distributionOf(width)).toMatchObject({ kind: "int", isLog: false, step: 2 });
    const rule = text("CategoricalDistribution", { choices: ["Adam", null, 1] });
    expect(distributionOf(rule)).toEqual({ kind: "categorical", choices: ["Adam", null, 1] });
  });

  it.each([
    ...["", "{", "null", "[]", "1", '{"name":"FloatDistribution"}'],
    text("FloatDistribution", { low: "0", high: 1 }),
    text("FloatDistribution", { low: 2, high: 1 }),
    text("FloatDistribution", { low: 0, high: 1, log: true }),
    text("IntDistribution", { low: 0, high: 1, step: 0 }),
    text("CategoricalDistribution", { choices: 1 }),
    text("CategoricalDistribution", { choices: [] }),
    text("NormalDistribution", { low: 0, high: 1 }),
    '{"name":"CategoricalDistribution","attributes":{"choices":[NaN]}}',
  ])("is null for what a device has garbled: %s", (garbled) => {
    expect(distributionOf(garbled)).toBeNull();
  });
});

describe("distributionsOf", () => {
  it("are one object for the trials that have the same ones", () => {
    const lr = text("FloatDistribution", { step: null, low: 0, high: 1, log: false });
    const one = distributionsOf([["lr", lr, "0.1"]]);
    expect(distributionsOf([["lr", lr, "0.2"]])).toBe(one);
    expect(distributionsOf([["rate", lr, "0.1"]])).not.toBe(one);
    expect([...one.keys()]).toEqual(["lr"]);
    expect(distributionsOf().size).toBe(0);
  });
});

describe("spaceOf", () => {
  it("has the choices of a list once, and the ends of a range", () => {
    const range = { low: 1, high: 9, integer: true, log: false };
    const space = spaceOf([
      { name: "a", values: [1, 2, 1, null] },
      { name: "b", values: [], range },
      { name: "c", values: [], range: { ...range, integer: false, log: true } },
    ]);
    expect(space.get("a")).toEqual({ kind: "categorical", choices: [1, 2, null] });
    expect(space.get("b")).toEqual({ kind: "int", low: 1, high: 9, isLog: false, step: 1 });
    expect(space.get("c")).toMatchObject({ kind: "float", isLog: true, step: null });
  });
});
