import { describe, expect, it } from "vitest";
import { paramsOf, paramText } from "./params.ts";

const raws = (text: string) => paramsOf(text).map(({ name, raw }) => [name, raw]);

describe("paramsOf", () => {
  it("keeps the text that Python wrote", () => {
    expect(
      raws('{"lr": 1.0, "n": 9007199254740993, "e": 1e-05, "ok": true, "none": null}'),
    ).toEqual([
      ["lr", "1.0"],
      ["n", "9007199254740993"],
      ["e", "1e-05"],
      ["ok", "true"],
      ["none", "null"],
    ]);
  });

  it("is not confused by what strings hold", () => {
    const value = 'a "quoted", {"x": 1} \\ \u{1f426}';
    const text = JSON.stringify({ 'na"me:': value, after: 2 });
    expect(paramsOf(text).map(({ name, value: own }) => [name, own])).toEqual([
      ['na"me:', value],
      ["after", 2],
    ]);
    expect(raws(text)[1]).toEqual(["after", "2"]);
  });

  it("takes nested values as JSON writes them", () => {
    expect(raws('{"layers": [32, 64], "lr": 1.0}')).toEqual([
      ["layers", "[32,64]"],
      ["lr", "1"],
    ]);
  });

  it("is empty for anything else", () => {
    for (const text of ["", "[1]", "null", "7", "{", '{"a": NaN}']) {
      expect(paramsOf(text), text).toEqual([]);
    }
    expect(paramsOf("{}")).toEqual([]);
  });
});

describe("paramText", () => {
  it("leaves a string's quotes away, and nothing else", () => {
    expect(paramsOf('{"o": "Adam", "lr": 1.0}').map(paramText)).toEqual(["Adam", "1.0"]);
  });
});
