import { describe, expect, it } from "vitest";
import { type Picture, placedPath, svgOf } from "./picture.ts";
import { plotCell, tableCsv } from "./plot_table.ts";

const twice = { scaleX: 2, scaleY: -1, moveX: 10, moveY: 100 };

describe("placedPath", () => {
  it("moves every command that plots use", () => {
    expect(placedPath("M1 2L3 4H5V6h7v8z", twice)).toBe("M12 98L16 96H20V94h14v-8z");
    expect(placedPath("M0 0H16V16H0z", twice)).toBe("M10 100H42V84H10z");
  });

  it("reads further pairs of numbers as lines, and exponents", () => {
    expect(placedPath("M1 2 3 4L5,6 7,8", twice)).toBe("M12 98L16 96L20 94L24 92");
    expect(placedPath("M1e1 2e-1", twice)).toBe("M30 99.8");
  });

  it("gives dots a length, because a canvas draws no line without one", () => {
    expect(placedPath("M1 2h0", twice)).toBe("M12 98h0.01");
  });
});

describe("svgOf", () => {
  const picture: Picture = {
    ...{ width: 100, height: 50, background: "#fff", font: 'a, "b c"' },
    shapes: [
      {
        path: "M1 2h0.01",
        fill: null,
        stroke: { color: "rgb(1, 2, 3)", width: 2, opacity: 0.5, cap: "round", dash: [4, 2] },
      },
      { path: "M0 0h1v1z", fill: { color: "red", opacity: 1 }, stroke: null },
    ],
    labels: [{ text: "<lr> & \u0000\ud800", x: 1, y: 2, size: 12, weight: "600", color: "#000" }],
  };

  it("is complete by itself, with all texts escaped", () => {
    const svg = svgOf(picture, 'a "title"');
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="100" height="50"/);
    expect(svg).toContain("<title>a &quot;title&quot;</title>");
    expect(svg).toContain('stroke="rgb(1, 2, 3)" stroke-width="2" stroke-opacity="0.5"');
    expect(svg).toContain('stroke-dasharray="4 2"');
    expect(svg).toContain(">&lt;lr&gt; &amp; \ufffd\ufffd</text>");
    expect(svg).toContain('font-family="a, &quot;b c&quot;"');
    expect(svg).not.toContain("var(");
  });
});

describe("tableCsv", () => {
  it("writes all digits, nothing for what is missing, and no formula", () => {
    const table = {
      columns: ["x", "=y"],
      rows: [
        [1 / 3, "a,b"],
        [-2, "+1"],
        [undefined, ""],
      ],
    };
    expect(tableCsv(table)).toBe("x,'=y\r\n0.3333333333333333,\"a,b\"\r\n-2,'+1\r\n,\r\n");
  });

  it("names values as Python does", () => {
    expect([true, null, "a", 1.5, undefined].map(plotCell)).toEqual([
      ...["True", "None", "a", 1.5, undefined],
    ]);
  });
});
