import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { drawIcon, readMark } from "../../draw_icons.ts";

const mark = readMark(readFileSync(new URL("../ui/mark.svg", import.meta.url), "utf8"));

/** Returns the pixels of a picture of one data chunk, as the drawing writes it. */
function pixelsOf(file: Buffer) {
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const length = file.readUInt32BE(33);
  const rows = inflateSync(file.subarray(41, 41 + length));
  const at = (x: number, y: number) => {
    const start = y * (1 + 4 * width) + 1 + 4 * x;
    return [...rows.subarray(start, start + 4)];
  };
  return { width, height, at };
}

describe("the icons", () => {
  const square = { width: 64, height: 64, scale: 1, isFull: false };

  it("have the mark's colours, round corners and birds", () => {
    const icon = pixelsOf(drawIcon(mark, square));
    expect([icon.width, icon.height]).toEqual([64, 64]);
    expect(icon.at(0, 0)[3]).toBe(0);
    expect(icon.at(32, 2)).toEqual([10, 92, 85, 255]);
    expect(icon.at(28, 20)).toEqual([255, 255, 255, 255]); // where the first bird's path begins
  });

  it("that a system cuts are full, with the birds inside the safe circle", () => {
    const icon = pixelsOf(drawIcon(mark, { ...square, scale: 0.8, isFull: true }));
    for (let y = 0; y < 64; y += 1) {
      for (let x = 0; x < 64; x += 1) {
        const [red, , , alpha] = icon.at(x, y);
        expect(alpha).toBe(255);
        if (Math.hypot(x - 31.5, y - 31.5) > 0.4 * 64) expect(red, `${x}, ${y}`).toBe(10);
      }
    }
  });

  it("are the same at every drawing", () => {
    expect(drawIcon(mark, square).equals(drawIcon(mark, square))).toBe(true);
  });

  it("are refused for a mark of another form", () => {
    expect(() => readMark("<svg viewBox='0 0 32 32'/>")).toThrow("mark.svg");
  });
});
