import decodeQR from "qr/decode.js";
import { describe, expect, it } from "vitest";
import { qrOf } from "./qr.ts";

const SCALE = 8;

/** Draws the path as the black and white modules that a camera sees. */
function picture(text: string) {
  const { size, path } = qrOf(text);
  const side = size * SCALE;
  const data = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let i = 0; i < SCALE * SCALE; i += 1) {
      const row = Number(y) * SCALE + Math.floor(i / SCALE);
      const column = Number(x) * SCALE + (i % SCALE);
      data.fill(0, (row * side + column) * 4, (row * side + column) * 4 + 3);
    }
  }
  return { width: side, height: side, data };
}

describe("qrOf", () => {
  it.each([
    "http://127.0.0.1:8780/join#hfe_Zm9yLXN0b3JpZXMtb25seQ",
    `https://flock.example.org/join#hfe_${"x".repeat(180)}`,
  ])("is read back as %s", (link) => {
    expect(decodeQR(picture(link))).toBe(link);
  });

  it("keeps the light margin that readers need", () => {
    const { size, path } = qrOf("x");
    for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h/g)) {
      for (const place of [Number(x), Number(y)]) {
        expect(place).toBeGreaterThanOrEqual(4);
        expect(place).toBeLessThan(size - 4);
      }
    }
  });
});
