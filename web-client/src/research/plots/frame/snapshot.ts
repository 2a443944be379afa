// Reads a plot from the page as a picture: the paths and texts of its drawings with the styles that the browser computed, and
// its labels, which are HTML. Page thread; loaded when a reader saves a plot.

import { saveFile } from "../../../ui/browser.ts";
import {
  type Fill,
  type Label,
  type Picture,
  paint,
  placedPath,
  type Shape,
  type Stroke,
  svgOf,
} from "./picture.ts";

/** The room around the plot, and the room for its title, in CSS pixels. */
const EDGE = 16;
const TITLE = 22;
/** The pixels of a PNG file for each CSS pixel: sharp on a slide and in a paper. */
const PNG_SCALE = 3;
/** No side of a PNG file is longer: some browsers draw nothing on a larger canvas. */
const MOST_PIXELS = 8_000;

/** The labels of plots, which are HTML so that they keep their size when a drawing is stretched. */
const LABELS = ".chart-tick, .chart-axis, .plot-key-text";

/** Matches colours with which nothing is drawn. */
const SEEN_THROUGH = /, 0\)$|\/ 0\)$|^transparent$/;

function isShown(element: Element): boolean {
  return element.getClientRects().length > 0 && getComputedStyle(element).visibility === "visible";
}

/** Returns the labels of an HTML element, one for each line of its text. */
function labelsOf(element: Element, origin: DOMRect): Label[] {
  const style = getComputedStyle(element);
  const size = Number.parseFloat(style.fontSize);
  const box = element.getBoundingClientRect();
  return [
    {
      text: shownText(element),
      x: box.left - origin.left + (style.textAlign === "center" ? centred(element, box) : 0),
      y: box.top - origin.top + box.height / 2 + size * 0.35,
      size,
      weight: style.fontWeight,
      color: style.color,
    },
  ];
}

/** Returns the part of a text that is seen where the rest is cut off. */
function shownText(element: Element): string {
  const text = element.textContent ?? "";
  const part = element.clientWidth / element.scrollWidth;
  return part < 1 ? `${text.slice(0, Math.floor(text.length * part) - 1)}…` : text;
}

/** Returns how far the text of a centred block is from its left edge. */
function centred(element: Element, box: DOMRect): number {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect().left - box.left;
}

function strokeOf(style: CSSStyleDeclaration): Stroke | null {
  const width = Number.parseFloat(style.strokeWidth);
  return style.stroke === "none" || !(width > 0)
    ? null
    : {
        color: style.stroke,
        width,
        opacity: Number(style.strokeOpacity) * Number(style.opacity),
        cap: style.strokeLinecap as Stroke["cap"],
        dash:
          style.strokeDasharray === "none"
            ? []
            : style.strokeDasharray.split(/[ ,]+/).map((part) => Number.parseFloat(part)),
      };
}

function fillOf(style: CSSStyleDeclaration): Fill | null {
  const isSeen = style.fill !== "none" && !SEEN_THROUGH.test(style.fill);
  return isSeen
    ? { color: style.fill, opacity: Number(style.fillOpacity) * Number(style.opacity) }
    : null;
}

function pathOf(element: Element): string {
  const number = (name: string) => Number(element.getAttribute(name) ?? 0);
  if (element instanceof SVGRectElement) {
    const [x, y] = [number("x"), number("y")];
    return `M${x} ${y}h${number("width")}v${number("height")}h${-number("width")}z`;
  }
  return element.getAttribute("d") ?? "";
}

function drawingOf(svg: SVGSVGElement, origin: DOMRect): { shapes: Shape[]; labels: Label[] } {
  const shapes: Shape[] = [];
  const labels: Label[] = [];
  const box = svg.getBoundingClientRect();
  const { width, height } = svg.viewBox.baseVal;
  const [scaleX, scaleY] = [box.width / width, box.height / height];
  const [moveX, moveY] = [box.left - origin.left, box.top - origin.top];
  const ground = getComputedStyle(svg).backgroundColor;
  if (!SEEN_THROUGH.test(ground)) {
    shapes.push({
      path: placedPath(`M0 0h${width}v${height}h${-width}z`, { scaleX, scaleY, moveX, moveY }),
      stroke: null,
      fill: { color: ground, opacity: 1 },
    });
  }
  for (const element of svg.querySelectorAll("path, rect, text")) {
    const style = getComputedStyle(element);
    if (!isShown(element)) {
      continue;
    }
    if (element instanceof SVGTextElement) {
      const at = element.getBoundingClientRect();
      const size = Number.parseFloat(style.fontSize);
      // The title of a shortened name is its whole name.
      const text = [...element.childNodes]
        .flatMap((node) => (node.nodeType === Node.TEXT_NODE ? [node.textContent ?? ""] : []))
        .join("");
      labels.push({
        ...{ text, size, weight: style.fontWeight, color: style.fill },
        x: at.left - origin.left,
        y: at.top - origin.top + at.height / 2 + size * 0.35,
      });
      continue;
    }
    const [stroke, fill] = [strokeOf(style), fillOf(style)];
    if (stroke !== null || fill !== null) {
      const path = placedPath(pathOf(element), { scaleX, scaleY, moveX, moveY });
      if (path !== "") {
        shapes.push({ path, stroke, fill });
      }
    }
  }
  return { shapes, labels };
}

/** Reads the plot in an element, with a title above it. */
export function pictureOf(element: Element, title: string): Picture {
  const style = getComputedStyle(element);
  const drawings = [...element.querySelectorAll<SVGSVGElement>("svg[viewBox]")].filter(isShown);
  const marked = [...element.querySelectorAll(LABELS)].filter(
    (one) => isShown(one) && (one.textContent ?? "").trim() !== "",
  );
  const boxes = [...drawings, ...marked].map((one) => one.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left)) - EDGE;
  const top = Math.min(...boxes.map((box) => box.top)) - EDGE - TITLE;
  const right = Math.max(...boxes.map((box) => box.right)) + EDGE;
  const bottom = Math.max(...boxes.map((box) => box.bottom)) + EDGE;
  const origin = new DOMRect(left, top, right - left, bottom - top);
  const parts = drawings.map((svg) => drawingOf(svg, origin));
  return {
    width: origin.width,
    height: origin.height,
    background: getComputedStyle(document.documentElement).getPropertyValue("--surface").trim(),
    font: style.fontFamily,
    shapes: parts.flatMap(({ shapes }) => shapes),
    labels: [
      { text: title, x: EDGE, y: EDGE + 12, size: 15, weight: "600", color: style.color },
      ...parts.flatMap(({ labels }) => labels),
      ...marked.flatMap((one) => labelsOf(one, origin)),
    ],
  };
}

/** Saves the plot in an element as a file. `name` has no extension. */
export async function savePicture(
  element: Element,
  title: string,
  name: string,
  kind: "svg" | "png",
): Promise<void> {
  const picture = pictureOf(element, title);
  if (kind === "svg") {
    saveFile(`${name}.svg`, new Blob([svgOf(picture, title)], { type: "image/svg+xml" }));
    return;
  }
  const scale = Math.min(PNG_SCALE, MOST_PIXELS / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  const brush = canvas.getContext("2d");
  if (brush === null) {
    return;
  }
  paint(picture, brush, scale);
  const content = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (content !== null) {
    saveFile(`${name}.png`, content);
  }
}
