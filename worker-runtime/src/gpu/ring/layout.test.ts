// Tests that layout.ts has the same numbers as array-core's header.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as layout from "./layout.ts";

const header = readFileSync(
  fileURLToPath(new URL("../../../../array-core/src/ring/commands.h", import.meta.url)),
  "utf8",
);

/** Returns the TypeScript name of a header's constant: `NO_POSITION` for `kNoPosition`. */
const screaming = (name: string): string => name.replace(/(?!^)([A-Z])/g, "_$1").toUpperCase();

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function enumsOfHeader(): Map<string, Record<string, number>> {
  const enums = new Map<string, Record<string, number>>();
  for (const [, name = "", body = ""] of header.matchAll(
    /enum class (\w+) : std::uint32_t \{([\s\S]*?)\n\};/g,
  )) {
    const members: Record<string, number> = {};
    for (const [, member = "", value] of body.matchAll(/^ +(\w+) = (\d+),/gm))
      members[camel(member)] = Number(value);
    enums.set(name, members);
  }
  return enums;
}

function constantsOfHeader(): Record<string, number> {
  const constants: Record<string, number> = {};
  for (const [, name = "", value] of header.matchAll(
    /inline constexpr std::uint32_t k(\w+) =\s+(\w+);/g,
  ))
    constants[screaming(name)] = Number(value);
  return constants;
}

const exported = Object.entries(layout);

test("The header is read.", () => {
  expect(enumsOfHeader().get("Opcode")?.uploadInline).toBe(4);
  expect(constantsOfHeader().NO_POSITION).toBe(0xffffffff);
});

test("Every enumeration has the header's names and numbers, and no others.", () => {
  const mirrored = exported.filter(([, value]) => typeof value === "object");
  expect(Object.fromEntries(mirrored)).toEqual(Object.fromEntries(enumsOfHeader()));
});

test("Every constant has the header's value.", () => {
  const mirrored = exported.filter(([, value]) => typeof value === "number");
  expect(Object.fromEntries(mirrored)).toEqual(constantsOfHeader());
});
