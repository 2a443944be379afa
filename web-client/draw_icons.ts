// Draws the app's icons from the mark (src/ui/mark.svg) as PNG files, so that the tree holds no picture which could
// differ from the mark. The same mark always gives the same pixels. Node at build time.

import { crc32, deflateSync } from "node:zlib";

type Point = readonly [x: number, y: number];
type Colour = readonly [red: number, green: number, blue: number];

interface Stroke {
  /** Points on the curve, in the units of the mark. */
  readonly points: readonly Point[];
  readonly opacity: number;
  /** The box around the points: left, top, right, bottom. */
  readonly box: readonly [number, number, number, number];
}

interface Mark {
  /** The width and height of the mark in its own units. */
  readonly size: number;
  readonly radius: number;
  readonly background: Colour;
  readonly strokeWidth: number;
  readonly strokes: readonly Stroke[];
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** The height of the mark relative to the picture's. */
  readonly scale: number;
  /** Whether the background fills the picture. Otherwise it has the mark's round corners. */
  readonly isFull: boolean;
}

/** The number of straight pieces in place of each curve. */
const PIECES = 12;

function required(text: string | undefined): string {
  if (text === undefined) throw new Error("draw_icons.ts cannot read src/ui/mark.svg.");
  return text;
}

function colourOf(hex: string): Colour {
  const value = Number.parseInt(hex, 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Returns points on a path that consists of one move and of relative cubic curves (`M x y c ...`). */
function pointsOf(path: string): readonly Point[] {
  const [move, curves] = path.slice(1).split("c");
  const numbers = (text = "") => (text.match(/-?(?:\d+\.?\d*|\.\d+)/g) ?? []).map(Number);
  let [x = 0, y = 0] = numbers(move);
  const points: Point[] = [[x, y]];
  const steps = numbers(curves);
  for (let i = 0; i + 5 < steps.length; i += 6) {
    const [ax = 0, ay = 0, bx = 0, by = 0, dx = 0, dy = 0] = steps.slice(i, i + 6);
    for (let piece = 1; piece <= PIECES; piece += 1) {
      const t = piece / PIECES;
      const [p, q, r] = [3 * (1 - t) * (1 - t) * t, 3 * (1 - t) * t * t, t * t * t];
      points.push([x + p * ax + q * bx + r * dx, y + p * ay + q * by + r * dy]);
    }
    x += dx;
    y += dy;
  }
  return points;
}

/** Reads the mark. Throws if it uses other forms than a rounded square and curves. */
export function readMark(svg: string): Mark {
  const strokes = [...svg.matchAll(/<path d="(M[^"]+)"(?: opacity="([\d.]+)")?/g)].map(
    ([, path, opacity]) => {
      const points = pointsOf(required(path));
      const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
      const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as const;
      return { points, opacity: Number(opacity ?? 1), box };
    },
  );
  if (strokes.length === 0) throw new Error("src/ui/mark.svg has no curve.");
  return {
    size: Number(required(/viewBox="0 0 (\d+) /.exec(svg)?.[1])),
    radius: Number(required(/rx="([\d.]+)"/.exec(svg)?.[1])),
    background: colourOf(required(/fill="#([0-9a-f]{6})"/.exec(svg)?.[1])),
    strokeWidth: Number(required(/stroke-width="([\d.]+)"/.exec(svg)?.[1])),
    strokes,
  };
}

function distanceToLine([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const [dx, dy] = [bx - ax, by - ay];
  const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1);
  const t = Math.min(1, Math.max(0, along));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

function distanceToStroke(point: Point, { points }: Stroke): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 1; i < points.length; i += 1) {
    least = Math.min(least, distanceToLine(point, points[i - 1] ?? point, points[i] ?? point));
  }
  return least;
}

/** Whether the stroke's ink cannot reach the point. Most points of a picture are far from every stroke. */
function isFar([x, y]: Point, { box: [left, top, right, bottom] }: Stroke, width: number): boolean {
  return x < left - width || x > right + width || y < top - width || y > bottom + width;
}

/** Returns how far a point is inside a rounded square, negative outside. */
function depthInSquare([x, y]: Point, size: number, radius: number): number {
  const [dx, dy] = [x, y].map((at) => Math.abs(at - size / 2) - (size / 2 - radius)) as [
    number,
    number,
  ];
  const outside = Math.hypot(Math.max(dx, 0), Math.max(dy, 0));
  return radius - outside - Math.min(Math.max(dx, dy), 0);
}

/** Draws the mark in the middle of a picture and returns it as a PNG file. */
export function drawIcon(mark: Mark, { width, height, scale, isFull }: Picture): Buffer {
  const pixelsPerUnit = (height * scale) / mark.size;
  const cover = (depth: number) => Math.min(1, Math.max(0, depth * pixelsPerUnit + 0.5));
  const left = (width - mark.size * pixelsPerUnit) / 2;
  const top = (height - mark.size * pixelsPerUnit) / 2;
  const rows = Buffer.alloc(height * (1 + 4 * width));
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const point = [
        (column + 0.5 - left) / pixelsPerUnit,
        (row + 0.5 - top) / pixelsPerUnit,
      ] as const;
      const alpha = isFull ? 1 : cover(depthInSquare(point, mark.size, mark.radius));
      let white = 0;
      for (const stroke of mark.strokes) {
        if (isFar(point, stroke, mark.strokeWidth)) continue;
        const depth = mark.strokeWidth / 2 - distanceToStroke(point, stroke);
        white = Math.max(white, cover(depth) * stroke.opacity);
      }
      const at = row * (1 + 4 * width) + 1 + 4 * column;
      for (const [channel, value] of mark.background.entries()) {
        rows[at + channel] = Math.round(value + (255 - value) * white);
      }
      rows[at + 3] = Math.round(255 * alpha);
    }
  }
  return png(width, height, rows);
}

function png(width: number, height: number, rows: Buffer): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8); // 8 bits, red, green, blue and alpha
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
