// A plot as plain shapes and texts in CSS pixels, from which a file is written: SVG, or PNG by a canvas. It does not depend on
// the page's styles, so other programs show it as the page does. Page thread; pure.

export interface Stroke {
  readonly color: string;
  readonly width: number;
  readonly opacity: number;
  readonly cap: "butt" | "round" | "square";
  readonly dash: readonly number[];
}

export interface Fill {
  readonly color: string;
  readonly opacity: number;
}

export interface Shape {
  /** An SVG path in the picture's coordinates, with the commands M, L, H, V, h, v and z. */
  readonly path: string;
  readonly stroke: Stroke | null;
  readonly fill: Fill | null;
}

export interface Label {
  readonly text: string;
  /** The left end of the base line. */
  readonly x: number;
  readonly y: number;
  /** The height of the type, in CSS pixels. */
  readonly size: number;
  readonly weight: string;
  readonly color: string;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly background: string;
  readonly font: string;
  readonly shapes: readonly Shape[];
  readonly labels: readonly Label[];
}

/** Maps coordinates by x' = scaleX * x + moveX, and y' likewise. */
export interface Placement {
  readonly scaleX: number;
  readonly scaleY: number;
  readonly moveX: number;
  readonly moveY: number;
}

const round = (value: number) => String(Math.round(value * 100) / 100);
/** A dot is a line without length. A canvas draws none, so dots become this long. */
const DOT = 0.01;

/**
 * Returns the path in other coordinates. Widths of lines stay as they are, because `vector-effect` is not known to all
 * programs that read SVG.
 */
export function placedPath(path: string, { scaleX, scaleY, moveX, moveY }: Placement): string {
  let moved = "";
  for (const [, command = "", rest = ""] of path.matchAll(/([MLHVhvzZ])([^MLHVhvzZ]*)/g)) {
    const numbers = (rest.match(/-?[\d.]+(?:e[+-]?\d+)?/gi) ?? []).map(Number);
    switch (command) {
      case "H":
        moved += numbers.map((x) => `H${round(scaleX * x + moveX)}`).join("");
        break;
      case "V":
        moved += numbers.map((y) => `V${round(scaleY * y + moveY)}`).join("");
        break;
      case "h":
        moved += numbers.map((x) => (x === 0 ? `h${DOT}` : `h${round(scaleX * x)}`)).join("");
        break;
      case "v":
        moved += numbers.map((y) => `v${round(scaleY * y)}`).join("");
        break;
      case "z":
      case "Z":
        moved += "z";
        break;
      default:
        for (let i = 0; i + 1 < numbers.length; i += 2) {
          const [x, y] = [numbers[i] ?? 0, numbers[i + 1] ?? 0];
          // Further pairs of numbers after an M are lines.
          moved += `${i === 0 ? command : "L"}${round(scaleX * x + moveX)} ${round(scaleY * y + moveY)}`;
        }
    }
  }
  return moved;
}

/** Escapes a text for XML, and leaves out the control characters that XML does not allow. */
function xml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function strokeOf(stroke: Stroke | null): string {
  if (stroke === null) {
    return "";
  }
  const { color, width, opacity, cap, dash } = stroke;
  const dashes = dash.length === 0 ? "" : ` stroke-dasharray="${dash.join(" ")}"`;
  return ` stroke="${xml(color)}" stroke-width="${width}" stroke-opacity="${opacity}" stroke-linecap="${cap}"${dashes}`;
}

const fillOf = (fill: Fill | null) =>
  fill === null ? ' fill="none"' : ` fill="${xml(fill.color)}" fill-opacity="${fill.opacity}"`;

/** Returns the picture as a file of SVG 1.1. `title` is its accessible name. */
export function svgOf(picture: Picture, title: string): string {
  const { width, height, background, font, shapes, labels } = picture;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}" role="img">`,
    `<title>${xml(title)}</title>`,
    `<rect width="100%" height="100%" fill="${xml(background)}"/>`,
    ...shapes.map(
      ({ path, stroke, fill }) =>
        `<path d="${path}"${fillOf(fill)}${strokeOf(stroke)} stroke-linejoin="round"/>`,
    ),
    `<g font-family="${xml(font)}">`,
    ...labels.map(
      ({ text, x, y, size, weight, color }) =>
        `<text x="${round(x)}" y="${round(y)}" font-size="${round(size)}" font-weight="${xml(weight)}" fill="${xml(color)}">${xml(text)}</text>`,
    ),
    "</g>",
    "</svg>",
  ];
  return `${lines.join("\n")}\n`;
}

/** The part of a canvas's context that `paint` uses. */
export type Brush = Pick<
  CanvasRenderingContext2D,
  | "scale"
  | "fillRect"
  | "fill"
  | "stroke"
  | "fillText"
  | "setLineDash"
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "lineCap"
  | "lineJoin"
  | "globalAlpha"
  | "font"
>;

/** Draws the picture, `scale` pixels of the canvas for each CSS pixel. */
export function paint(picture: Picture, brush: Brush, scale: number): void {
  brush.scale(scale, scale);
  brush.fillStyle = picture.background;
  brush.fillRect(0, 0, picture.width, picture.height);
  brush.lineJoin = "round";
  for (const { path, stroke, fill } of picture.shapes) {
    const outline = new Path2D(path);
    if (fill !== null) {
      brush.globalAlpha = fill.opacity;
      brush.fillStyle = fill.color;
      brush.fill(outline);
    }
    if (stroke !== null) {
      brush.globalAlpha = stroke.opacity;
      brush.strokeStyle = stroke.color;
      brush.lineWidth = stroke.width;
      brush.lineCap = stroke.cap;
      brush.setLineDash([...stroke.dash]);
      brush.stroke(outline);
    }
  }
  brush.globalAlpha = 1;
  for (const { text, x, y, size, weight, color } of picture.labels) {
    brush.font = `${weight} ${size}px ${picture.font}`;
    brush.fillStyle = color;
    brush.fillText(text, x, y);
  }
}
