// Draws the card as a picture. A file of its own, which only a page that shares a card fetches. Page thread.

import type { Card } from "./card.ts";

export const CARD_WIDTH = 1_200;
export const CARD_HEIGHT = 630;
const MARGIN = 84;
const FONT = 'system-ui, "Hiragino Sans", "Noto Sans CJK JP", "Noto Sans", sans-serif';
const GROUND = "#0a5c55";
const BIRD = "M-6 1.5c2-3.4 4.4-3.4 6-.5 1.6-2.9 4-2.9 6 .5";
/** Where the birds fly, how large they are and how opaque. */
const BIRDS = [
  [1_010, 120, 7, 0.9],
  [900, 190, 5, 0.75],
  [1_060, 235, 4, 0.6],
  [955, 290, 3, 0.45],
] as const;

type Context = CanvasRenderingContext2D;

/** Sets the largest font of at most `px` pixels, and at least a third of that, in which the text is `width` wide at most. */
function fit(context: Context, text: string, weight: number, px: number, width: number): void {
  for (let size = px; size > px / 3; size -= 2) {
    context.font = `${weight} ${size}px ${FONT}`;
    if (context.measureText(text).width <= width) return;
  }
}

/** Returns the text, or as much of its beginning as is `width` wide, with three dots. */
function cut(context: Context, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  const characters = [...text];
  while (characters.length > 0 && context.measureText(`${characters.join("")}…`).width > width) {
    characters.pop();
  }
  return `${characters.join("")}…`;
}

function drawBirds(context: Context): void {
  const bird = new Path2D(BIRD);
  for (const [x, y, scale, opacity] of BIRDS) {
    context.save();
    context.translate(x, y);
    context.scale(scale, scale);
    context.globalAlpha = opacity;
    context.strokeStyle = "#fff";
    context.lineWidth = 1.6;
    context.lineCap = "round";
    context.lineJoin = "round";
    context.stroke(bird);
    context.restore();
  }
}

/** Draws a line of text, smaller or cut short if it is too wide. Returns its width. */
function drawLine(
  context: Context,
  text: string,
  [x, y, width]: readonly [x: number, y: number, width: number],
  [weight, px]: readonly [weight: number, px: number],
): number {
  fit(context, text, weight, px, width);
  const shown = cut(context, text, width);
  context.fillText(shown, x, y);
  return context.measureText(shown).width;
}

export function drawCard(context: Context, { heading, time, project, numbers }: Card): void {
  const width = CARD_WIDTH - 2 * MARGIN;
  context.fillStyle = GROUND;
  context.fillRect(0, 0, CARD_WIDTH, CARD_HEIGHT);
  drawBirds(context);
  context.textBaseline = "alphabetic";
  context.fillStyle = "#bfe3db";
  drawLine(context, heading, [MARGIN, 150, 760], [500, 40]);
  context.fillStyle = "#fff";
  drawLine(context, time, [MARGIN, 290, 760], [700, 124]);
  drawLine(context, project, [MARGIN, 380, width], [600, 48]);
  let x = MARGIN;
  for (const [value, label] of numbers) {
    context.fillStyle = "#fff";
    const wide = drawLine(context, value, [x, 500, 420], [700, 60]);
    context.fillStyle = "#bfe3db";
    const labelled = drawLine(context, label, [x, 548, 420], [500, 34]);
    x += Math.max(wide, labelled) + 84;
  }
  context.textAlign = "end";
  context.fillStyle = "#fff";
  drawLine(context, "Hyperflock", [CARD_WIDTH - MARGIN, 548, 300], [700, 36]);
  context.textAlign = "start";
}

/** Returns the card as a PNG. Throws if the browser cannot draw. */
export async function pictureOf(card: Card): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = CARD_WIDTH;
  canvas.height = CARD_HEIGHT;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("The browser draws no pictures.");
  drawCard(context, card);
  const picture = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (picture === null) throw new Error("The browser writes no PNG.");
  return picture;
}
