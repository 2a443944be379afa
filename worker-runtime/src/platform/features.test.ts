// Tests that the table of features, the sources and the document say the same. (Any thread.)

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { FEATURES, type Feature, type Since } from "./features.fixture.ts";
import { MINIMUM } from "./minimum.ts";
import { POLYFILLS } from "./polyfills.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const document = readFileSync(`${root}server/docs/browsers.md`, "utf8");

function sourcesOf(folder: string): readonly (readonly [name: string, text: string])[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(test|fixture)\.ts$|^stories\//.test(name))
    .map((name) => [name, readFileSync(`${root}${folder}/${name}`, "utf8")]);
}
const sources = [...sourcesOf("web-client/src"), ...sourcesOf("worker-runtime/src")];

const shown = (version: number | null) => (version === null ? "–" : String(version));
const sinceOf = ({ chrome, firefox, safari }: Since) => [chrome, firefox, safari].map(shown);

/** A row of the document's table. */
function rowOf({ name, since, usedBy, without, consequence }: Feature): string {
  const code = without.startsWith("no") || without === "insecure_context";
  const versions = since === "off" ? ["", "", ""] : sinceOf(since);
  const cells = [name, ...versions, usedBy, code ? `\`${without}\`` : without, consequence];
  return `| ${cells.join(" | ")} |`;
}

test("The document has a row for each feature, and no other.", () => {
  const rows = document.split("\n").filter((line) => /^\| (?!---|feature)/.test(line));
  expect(rows).toEqual(FEATURES.map(rowOf));
});

test("The document names the minimum.", () => {
  const { chrome, edge, firefox, safari } = MINIMUM;
  const sentence = `Chrome ${chrome}, Edge ${edge}, Firefox ${firefox}, Safari ${safari}`;
  expect(document).toContain(sentence);
});

test("Each own function is in the table, and is newer than the minimum in some browser.", () => {
  const own = FEATURES.filter(({ without }) => without === "own function");
  expect(own.map(({ name }) => name)).toEqual(POLYFILLS.map(({ name }) => name));
  for (const { name, since } of own) {
    if (since === "off") throw new Error(name);
    const isNewer = (["chrome", "firefox", "safari"] as const).some(
      (browser) => (since[browser] ?? Number.POSITIVE_INFINITY) > MINIMUM[browser],
    );
    expect(isNewer, name).toBe(true);
  }
});

/**
 * Functions that are newer than the minimum, and a row of the table that allows them. The compiler knows those of the
 * language above ES2024; these are the language's from ES2024 and the browser's.
 */
const NEWER: readonly (readonly [pattern: RegExp, row: string | null])[] = [
  [/Promise\.withResolvers/, "Promise.withResolvers"],
  [/AbortSignal\.any\(/, "AbortSignal.any"],
  [/\.isWellFormed\(/, "String.prototype.isWellFormed"],
  [/\.toWellFormed\(/, "String.prototype.toWellFormed"],
  [/Atomics\.waitAsync/, "waitAsync of Atomics"],
  [/(?:Object|Map)\.groupBy\(/, null],
  [/\.transferToFixedLength\(|\.resizable\b|maxByteLength/, null],
  [/Promise\.try\(|Array\.fromAsync\(/, null],
  [/URL\.(?:parse|canParse)\(/, null],
  [/\.checkVisibility\(|\.showPopover\(|startViewTransition|requestIdleCallback/, null],
  [/storage\.getDirectory\(/, null],
  [/new (?:De)?[cC]ompressionStream/, null],
  [/navigator\.userAgentData|navigator\.getAutoplayPolicy|scheduler\.(?:yield|postTask)/, null],
];

describe("Newer functions", () => {
  test.each(NEWER)("%s is used only if the table has it", (pattern, row) => {
    const users = sources.filter(([, text]) => pattern.test(text)).map(([name]) => name);
    if (row === null) expect(users).toEqual([]);
    else {
      expect(users.length).toBeGreaterThan(0);
      expect(FEATURES.map(({ name }) => name)).toContain(row);
    }
  });
});

test("Every script that a browser starts brings the own functions first.", () => {
  const started = sources.filter(([name]) => /-thread\.ts$|\/main\.tsx?$/.test(name));
  const product = started.filter(([name]) => !name.includes("testing/"));
  expect(product.length).toBeGreaterThanOrEqual(9);
  for (const [name, text] of product) {
    const [first] = text.match(/^import .*$/m) ?? [];
    expect(first, name).toMatch(/platform\/install\.ts"|hyperflock\/worker-runtime\/polyfills"/);
  }
});
