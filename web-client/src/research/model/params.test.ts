import { describe, expect, it } from "vitest";
import { attachedOf, paramsOf, paramText } from "./params.ts";

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

  it("keeps the numbers inside a nested value", () => {
    expect(raws('{"layers": [32, 64.0], "lr": 1.0}')).toEqual([
      ["layers", "[32,64.0]"],
      ["lr", "1.0"],
    ]);
  });

  it("shows a tuple as Python writes it, and exports it as a list", () => {
    const [layers] = paramsOf('{"layers": {"()": [32, 64]}}');
    expect(layers).toEqual({ name: "layers", raw: "[32,64]", value: "(32, 64)" });
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

describe("attachedOf", () => {
  it("reads attributes and numbers, with those that are not finite", () => {
    const text = '{"user":{"a":[1],"b":"x"},"summary":{"n":3,"gap":"NaN","top":"-Infinity"}}';
    const { user, summary } = attachedOf(text);
    expect(user.map(({ name, raw }) => [name, raw])).toEqual([
      ["a", "[1]"],
      ["b", '"x"'],
    ]);
    expect(summary).toEqual([
      ["n", 3],
      ["gap", Number.NaN],
      ["top", Number.NEGATIVE_INFINITY],
    ]);
  });

  it("names the infinite values among an objective's", () => {
    const { infinite } = attachedOf('{"values":[1,"inf","-inf","nan",2]}');
    expect([...infinite]).toEqual([
      [1, Number.POSITIVE_INFINITY],
      [2, Number.NEGATIVE_INFINITY],
    ]);
    expect(attachedOf('{"values":"inf"}').infinite.size).toBe(0);
  });

  it.each([
    undefined,
    "",
    "{",
    "[]",
    "null",
    '{"user":[1],"summary":"x"}',
    '{"summary":{"a":"b"}}',
  ])("leaves out what a device has garbled: %s", (text) => {
    expect(attachedOf(text)).toEqual({ user: [], summary: [], infinite: new Map() });
  });
});
