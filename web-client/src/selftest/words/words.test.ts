import { describe, expect, it } from "vitest";
import { leaves, partsOf } from "../../i18n/leaves.fixture.ts";
import { en } from "./en.ts";
import { ja } from "./ja.ts";

describe("the self-test's words", () => {
  const english = new Map(leaves(en));

  it("say something under the same keys in both languages, with the same parts", () => {
    expect(leaves(ja).map(([path]) => path)).toEqual(leaves(en).map(([path]) => path));
    for (const [path, text] of leaves(ja)) {
      expect(text.trim(), path).not.toBe("");
      expect(partsOf(text), path).toEqual(partsOf(english.get(path) ?? ""));
    }
  });

  it("hold no sentence that was left in English", () => {
    const left = leaves(ja)
      .filter(([path, text]) => path !== "/tag" && !/[\u3040-\u30ff\u4e00-\u9fff]/.test(text))
      .map(([path]) => path);
    expect(left).toEqual([]);
  });

  it("carry their own language tag", () => {
    expect([en.tag, ja.tag]).toEqual(["en", "ja"]);
  });
});
