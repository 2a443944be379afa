import { describe, expect, it } from "vitest";
import { jsonTree, plainJson, readableJson } from "./json_tree.ts";

const readable = (text: string) => readableJson(jsonTree(text));
const plain = (text: string) => plainJson(jsonTree(text));

describe("a JSON tree", () => {
  it("keeps each number as it was written", () => {
    const text = '{"a": [1.0, 9007199254740993, 1e-05], "b": {}, "c": []}';
    expect(readable(text)).toBe(text);
    expect(plain(text)).toBe('{"a":[1.0,9007199254740993,1e-05],"b":{},"c":[]}');
  });

  it("shows a tuple in parentheses, and writes it as a list", () => {
    const text = '[{"()":[32,64]},{"()":[1]},{"()":[]},{"()":[{"()":[1.0,"x"]},[2]]}]';
    expect(readable(text)).toBe('[(32, 64), (1,), (), ((1.0, "x"), [2])]');
    expect(plain(text)).toBe('[[32,64],[1],[],[[1.0,"x"],[2]]]');
  });

  it("shows a dict that has the key of a tuple itself", () => {
    expect(readable('{"()":{"()":1}}')).toBe('{"()": 1}');
    expect(readable('{"()":{"()":[1]}}')).toBe('{"()": [1]}');
    expect(readable('{"()":[1],"x":2}')).toBe('{"()": [1], "x": 2}');
  });

  it("is not confused by what strings hold", () => {
    const text = JSON.stringify({ 'na"me:': ['a "quoted", {"x": [1]} \\', "()"] });
    expect(JSON.parse(plain(text))).toEqual(JSON.parse(text));
  });

  it("is the text itself for a scalar", () => {
    for (const text of ["1.0", '"x"', "null", "true"]) {
      expect(readable(text)).toBe(text);
    }
  });
});
