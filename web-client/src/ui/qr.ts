// Draws a QR code as one SVG path: each dark module is a square of side 1. Page thread; pure.

import { encodeQR } from "qr";

/** The number of light modules that the standard (ISO/IEC 18004) requires on each side. */
const QUIET_ZONE = 4;

export interface QrDrawing {
  /** The length of the code's side in modules, including the quiet zone. */
  readonly size: number;
  readonly path: string;
}

export function qrOf(text: string): QrDrawing {
  const modules = encodeQR(text, "raw", { ecc: "medium", border: QUIET_ZONE });
  const path = modules
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return { size: modules.length, path };
}
