// Tests what needs no device: how texels are divided into rectangles, sizes, and the text of passes. Node.

import { describe, expect, test } from "vitest";
import { passesOf } from "./kernels.ts";
import { checkSize, mostBytes, pieces } from "./storages.ts";

const rectangles = (first: number, texels: number, row = 10) => {
  const all: number[][] = [];
  pieces(first, texels, row, (...each) => all.push(each));
  return all;
};

describe("pieces", () => {
  test("a range inside of a row is one rectangle", () => {
    expect(rectangles(3, 5)).toEqual([[3, 0, 5, 1, 0]]);
    expect(rectangles(23, 7)).toEqual([[3, 2, 7, 1, 0]]);
  });
  test("whole rows are one rectangle", () => {
    expect(rectangles(10, 30)).toEqual([[0, 1, 10, 3, 0]]);
  });
  test("a begin and an end inside of rows are rectangles of their own", () => {
    expect(rectangles(7, 29)).toEqual([
      [7, 0, 3, 1, 0],
      [0, 1, 10, 2, 3],
      [0, 3, 6, 1, 23],
    ]);
  });
  test("every texel is in one rectangle", () => {
    for (let first = 0; first < 25; first += 1) {
      for (let texels = 0; texels < 45; texels += 1) {
        const seen: number[] = [];
        for (const [x = 0, y = 0, width = 0, height = 0, at = 0] of rectangles(first, texels)) {
          expect(y * 10 + x).toBe(first + at);
          for (let i = 0; i < width * height; i += 1) seen.push(first + at + i);
        }
        expect(seen).toEqual(Array.from({ length: texels }, (_, i) => first + i));
      }
    }
  });
});

test("a storage has at most as many rows as a texture", () => {
  expect(mostBytes(2048)).toBe(64 * 2 ** 20);
  expect(() => checkSize(64 * 2 ** 20, 2048, "a")).not.toThrow();
  expect(() => checkSize(64 * 2 ** 20 + 4, 2048, "a")).toThrow(/at most 67108864 here/);
  expect(() => checkSize(6, 2048, "a")).toThrow(/has 6 bytes/);
  expect(() => checkSize(0, 2048, "a")).toThrow(/has 0 bytes/);
});

describe("passesOf", () => {
  test("each pass has its text, its target and what it reads", () => {
    const text = "//pass target 2 range 4 reads 0 12\nA\nB\n//pass target 0 range 6 reads\nC\n";
    expect(passesOf(text, "add")).toEqual([
      { text: "A\nB\n", target: 2, range: 4, reads: [0, 12] },
      { text: "C\n", target: 0, range: 6, reads: [] },
    ]);
  });
  test("a text without passes is refused", () => {
    for (const text of ["", "@compute fn main() {}", "//pass target x range 1 reads\nA"])
      expect(() => passesOf(text, "add")).toThrow("'add': the line of a pass is expected");
  });
});
