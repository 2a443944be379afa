import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { en } from "./en.ts";
import { enPassphrase } from "./passphrase/en.ts";
import { sentencesOf } from "./sentences.fixture.ts";

const ROOT = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(fileURLToPath(new URL(path, ROOT)), "utf8");

/** Promises without a test. Whoever writes a test lowers the number. */
const WITHOUT_A_TEST = 2;

const ROW = /^\| `(?<path>[^`]+)` \| (?<sentence>.+) \| (?<held>.+) \|$/;
const rows = read("web-client/docs/sentences.md")
  .split("\n")
  .flatMap((line) => ROW.exec(line)?.groups ?? []);

/** Whether the file declares a test, a group or a case of this name. */
const declares = (file: string, name: string) => {
  const text = read(file);
  return file.endsWith(".cc")
    ? new RegExp(`TEST(_[FP])?\\(\\w+, ${name}\\)`).test(text)
    : text.includes(`"${name}"`) || new RegExp(`^\\s*${name}: (\\{|heat\\()`, "m").test(text);
};

describe("docs/sentences.md", () => {
  it("has each sentence of the join page, as the page says it, and no other", () => {
    expect(rows.map(({ path, sentence }) => [path, sentence])).toEqual([
      ...sentencesOf(en),
      ...sentencesOf(enPassphrase, "/passphrase"),
    ]);
  });

  it.each(rows.map(({ path, held }) => [path, held] as const))(
    "%s is held by a test that exists",
    (_, held = "") => {
      if (held === "advice" || held === "none yet") {
        return;
      }
      for (const cell of held.split("<br>")) {
        const { file = "", name = "" } = /^`(?<file>[^`]+)`: (?<name>.+)$/.exec(cell)?.groups ?? {};
        expect(declares(file, name), cell).toBe(true);
      }
    },
  );

  it("lists no more promises without a test than before", () => {
    expect(rows.filter(({ held }) => held === "none yet")).toHaveLength(WITHOUT_A_TEST);
  });

  it("notices a test that does not exist", () => {
    expect(
      declares("web-client/src/i18n/sentences.test.ts", ["no", "such", "test"].join(" ")),
    ).toBe(false);
    expect(declares("server/tests/contribution_test.cc", "ADeviceReads")).toBe(false);
  });
});

describe("sentencesOf", () => {
  it("finds sentences in functions, lists and objects, and no labels", () => {
    const words = {
      label: "Start",
      list: ["One.", "two"],
      say: (name: string, { hour }: { hour: string }) => ({
        title: name,
        text: `${name} at ${hour}?`,
      }),
    };
    expect(sentencesOf(words)).toEqual([
      ["/list/0", "One."],
      ["/say()/text", "‹0› at ‹hour›?"],
    ]);
  });
});
