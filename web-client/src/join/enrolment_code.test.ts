import { describe, expect, it } from "vitest";
import { clearCode, dropTabCode, joinLink, takeCode } from "./enrolment_code.ts";

function environment(hash: string, kept: Record<string, string> = {}) {
  const replaced: unknown[] = [];
  return {
    replaced,
    kept,
    location: { hash, pathname: "/join", search: "?a=1" },
    history: {
      replaceState: (_state: unknown, _title: string, url?: string | URL | null) => {
        replaced.push(url);
      },
    },
    store: {
      getItem: (key: string) => kept[key] ?? null,
      setItem: (key: string, value: string) => {
        kept[key] = value;
      },
    },
  };
}

describe("takeCode", () => {
  it("takes the code from the fragment, where it stays until it may go", () => {
    const first = environment("#hfe_abc-DEF_1");
    expect(takeCode(first)).toEqual({ kind: "codes", codes: ["hfe_abc-DEF_1"] });
    expect([first.replaced, first.kept]).toEqual([[], {}]);
    clearCode(first);
    expect(first.replaced).toEqual(["/join?a=1"]);
    const reload = environment("", first.kept);
    expect(takeCode(reload)).toEqual({ kind: "codes", codes: ["hfe_abc-DEF_1"] });
    expect(reload.replaced).toEqual([]);
  });

  it("prefers a new link to the code of an earlier visit", () => {
    const old = environment("#one");
    clearCode(old);
    expect(takeCode(environment("#two", old.kept))).toEqual({ kind: "codes", codes: ["two"] });
  });

  it("takes the codes of several projects, each once", () => {
    const first = environment("#one,two,one");
    expect(takeCode(first)).toEqual({ kind: "codes", codes: ["one", "two"] });
    clearCode(first);
    expect(takeCode(environment("", first.kept))).toEqual({ kind: "codes", codes: ["one", "two"] });
  });

  it("clears the address of a malformed code too, and never keeps it", () => {
    const nine = `#${Array.from({ length: 9 }, (_, i) => `code${i}`).join(",")}`;
    for (const hash of ["#a b", "#<script>", "#%41", "#,", "#one,", nine, `#${"x".repeat(201)}`]) {
      const bad = environment(hash);
      expect(takeCode(bad)).toEqual({ kind: "malformed" });
      expect(bad.replaced).toEqual(["/join?a=1"]);
      expect(bad.kept).toEqual({});
      clearCode(bad);
      expect(bad.kept).toEqual({});
    }
  });

  it("forgets the tab's codes with the project", () => {
    const first = environment("#one");
    clearCode(first);
    dropTabCode({ store: { removeItem: (key) => void delete first.kept[key] } });
    expect(takeCode(environment("", first.kept))).toEqual({ kind: "missing" });
  });

  it("says when there is none", () => {
    expect(takeCode(environment(""))).toEqual({ kind: "missing" });
  });

  it("works where storage is forbidden", () => {
    const forbidden = () => {
      throw new Error("SecurityError");
    };
    const store = { getItem: forbidden, setItem: forbidden };
    expect(takeCode({ ...environment("#one"), store })).toEqual({ kind: "codes", codes: ["one"] });
    expect(takeCode({ ...environment(""), store })).toEqual({ kind: "missing" });
    const only = { ...environment("#one"), store };
    clearCode(only);
    expect(only.replaced).toEqual([]);
    dropTabCode({ store: { removeItem: forbidden } });
  });
});

describe("joinLink", () => {
  it("is the link that was opened", () => {
    const link = joinLink("https://flock.example", ["hfe_1", "hfe_2"]);
    expect(link).toBe("https://flock.example/join#hfe_1,hfe_2");
  });
});
