// The geometry of the trials grid: which rows are drawn, how wide its columns are, and where a key moves the active cell.
// Page thread; pure.

/** The height of each row in CSS pixels, which the style sheet has too. */
export const ROW_PX = 44;
/** The grid draws so many rows more than fit, above and below, and the window moves by as many. */
const SPARE_ROWS = 4;
/** The narrowest and the widest column, in widths of a digit. */
const LEAST_WIDTH = 7;
const MOST_WIDTH = 26;

export interface Span {
  readonly first: number;
  /** The row after the last one. */
  readonly end: number;
}

/** Returns the rows to draw for a frame that is scrolled to `top` and shows `height` pixels of rows. */
export function spanOf(top: number, height: number, count: number): Span {
  const whole = Math.floor(Math.max(0, top) / ROW_PX / SPARE_ROWS) * SPARE_ROWS;
  const first = Math.min(Math.max(0, whole - SPARE_ROWS), Math.max(0, count - 1));
  const shown = Math.ceil(height / ROW_PX) + 3 * SPARE_ROWS;
  return { first, end: Math.min(count, first + shown) };
}

/** Returns the width of a text in widths of a digit. Chinese, Japanese and Korean characters are twice as wide. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    width += (character.codePointAt(0) ?? 0) > 0x2e7f ? 2 : 1;
  }
  return width;
}

/** Returns the width of a column with this heading and some of its texts, in widths of a digit. */
export function columnWidth(heading: string, texts: readonly string[]): number {
  // The heading has bold letters and room for an arrow.
  const widest = Math.max(
    textWidth(heading) * 1.1 + 3,
    ...texts.map((text) => textWidth(text) + 3),
  );
  return Math.round(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, widest)));
}

/** Returns some of the rows, evenly spread, by which a column's width is chosen. */
export function sampleOf<Row>(rows: readonly Row[], most: number): readonly Row[] {
  const step = Math.max(1, Math.ceil(rows.length / most));
  return rows.filter((_, i) => i % step === 0);
}

/** The place of a cell. Row -1 has the headings. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

/** Returns where a key moves the active cell; null for a key that moves nothing. */
export function moved(
  { row, column }: Place,
  key: { readonly key: string; readonly ctrlKey: boolean; readonly metaKey: boolean },
  size: { readonly rows: number; readonly columns: number; readonly page: number },
): Place | null {
  const inRow = (to: number) => Math.min(Math.max(-1, to), size.rows - 1);
  const inColumn = (to: number) => Math.min(Math.max(0, to), size.columns - 1);
  const whole = key.ctrlKey || key.metaKey;
  switch (key.key) {
    case "ArrowUp":
      return { row: inRow(row - 1), column };
    case "ArrowDown":
      return { row: inRow(row + 1), column };
    case "ArrowLeft":
      return { row, column: inColumn(column - 1) };
    case "ArrowRight":
      return { row, column: inColumn(column + 1) };
    case "PageUp":
      return { row: Math.max(0, inRow(row - size.page)), column };
    case "PageDown":
      return { row: inRow(row + size.page), column };
    case "Home":
      return whole ? { row: inRow(0), column: 0 } : { row, column: 0 };
    case "End":
      return { row: whole ? inRow(size.rows - 1) : row, column: inColumn(size.columns - 1) };
    default:
      return null;
  }
}
