// The grid of trials: headings and the rows in view, of any number. The focus stays on the grid itself, which names its
// active cell; so a row that is scrolled away never takes the focus with it. Page thread.
//
// biome-ignore-all lint/a11y/useSemanticElements: the rows of a table cannot be placed by hand.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names the active cell.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the grid handles the keys of all its cells.
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: a grid has an active cell.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Icon } from "../../ui/icons.tsx";
import { hashOf } from "../model/route.ts";
import type { TrialRow } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { StateChip } from "../state_chip.tsx";
import { cellText, headingOf, stateTextOf } from "./cells.ts";
import { type Column, columnKey } from "./columns.ts";
import { columnWidth, moved, type Place, ROW_PX, sampleOf, spanOf } from "./grid_window.ts";

const HEADINGS = -1;
/** How many rows decide how wide a column is. */
const SAMPLE_ROWS = 60;
const FIRST_HEIGHT_PX = 600;

interface Props {
  readonly store: ResearchStore;
  /** Copies a text for the reader. */
  readonly onCopy: (text: string) => void;
}

const cellId = (trial: number, column: number) => `cell-${trial}-${column}`;

/** Returns the template of all rows. A column never becomes narrower while data arrives. */
function useTemplate(columns: readonly Column[], store: ResearchStore) {
  const known = useRef(new Map<string, number>());
  const { trials } = store.data.value;
  const language = store.language.value;
  return useMemo(() => {
    const sample = sampleOf(trials, SAMPLE_ROWS);
    const widths = columns.map((column) => {
      const key = `${language} ${columnKey(column)}`;
      const texts = sample.map((trial) => cellText(trial, column, store).short);
      const room = column.kind === "state" ? 3 : 0;
      const width = columnWidth(headingOf(column, store), texts) + room;
      const kept = Math.max(width, known.current.get(key) ?? 0);
      known.current.set(key, kept);
      return kept;
    });
    return {
      columns: widths.map((width) => `minmax(${width}ch, ${width}fr)`).join(" "),
      least: `${widths.reduce((sum, width) => sum + width, 0)}ch`,
    };
  }, [columns, trials, language, store]);
}

function Heading({
  column,
  at,
  isActive,
  store,
}: {
  readonly column: Column;
  readonly at: number;
  readonly isActive: boolean;
  readonly store: ResearchStore;
}) {
  const key = columnKey(column);
  const sort = store.trials.choice.value.sort;
  const isSorted = sort.key === key;
  const label = headingOf(column, store);
  return (
    <div
      role="columnheader"
      id={cellId(HEADINGS, at)}
      class="grid-cell grid-heading"
      data-active={isActive}
      aria-colindex={at + 1}
      aria-sort={isSorted ? (sort.descending ? "descending" : "ascending") : undefined}
    >
      <button
        type="button"
        class="head-button"
        tabIndex={-1}
        data-column={key}
        title={label}
        onClick={() => store.trials.pressColumn(key)}
      >
        <span>{label}</span>
        {isSorted ? <Icon name={sort.descending ? "down" : "up"} /> : null}
      </button>
    </div>
  );
}

function Row({
  trial,
  at,
  active,
  store,
}: {
  readonly trial: TrialRow;
  readonly at: number;
  /** The index of the active column; -1 if no cell of the row is active. */
  readonly active: number;
  readonly store: ResearchStore;
}) {
  const study = store.data.value.study;
  return (
    <div
      role="row"
      class="grid-row"
      data-trial={trial.trial}
      aria-rowindex={at + 2}
      style={{ top: `${at * ROW_PX}px` }}
    >
      {store.trials.shown.value.map((column, i) => {
        const { short, full } = cellText(trial, column, store);
        return (
          <div
            role="gridcell"
            class="grid-cell"
            key={columnKey(column)}
            id={cellId(trial.trial, i)}
            data-kind={column.kind}
            data-active={active === i}
            aria-colindex={i + 1}
            title={short === full ? undefined : full}
          >
            {column.kind === "trial" ? (
              <a
                class="cell-link"
                tabIndex={-1}
                href={hashOf({ page: "trial", study, trial: trial.trial })}
                aria-label={store.words.value.trial.heading(short)}
              >
                {short}
              </a>
            ) : column.kind === "state" ? (
              <StateChip
                state={trial.isInfeasible ? "evidence" : trial.state}
                label={stateTextOf(trial, store)}
              />
            ) : (
              <span class="grid-text">{short}</span>
            )}
          </div>
        );
      })}
    </div>
  );
}

/** Returns the active cell's place; null if its trial or its column is not shown. */
function placeOf(store: ResearchStore): Place | null {
  const { active } = store.trials.choice.value;
  if (active === null) {
    return null;
  }
  const column = store.trials.shown.value.findIndex((one) => columnKey(one) === active.key);
  const row = store.trials.rows.value.findIndex(({ trial }) => trial === active.trial);
  const isShown = column >= 0 && (row >= 0 || active.trial === HEADINGS);
  return isShown ? { row, column } : null;
}

export function TrialsGrid({ store, onCopy }: Props) {
  const words = store.words.value.table;
  const frame = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(FIRST_HEIGHT_PX);
  const rows = store.trials.rows.value;
  const columns = store.trials.shown.value;
  const template = useTemplate(columns, store);
  const place = placeOf(store);

  useEffect(() => {
    const element = frame.current;
    if (element === null) {
      return;
    }
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [height]);

  const activate = ({ row, column }: Place) => {
    const key = columns[column];
    const trial = row === HEADINGS ? HEADINGS : rows[row]?.trial;
    if (key !== undefined && trial !== undefined) {
      store.trials.choose({ active: { trial, key: columnKey(key) } });
    }
  };

  /** Scrolls the frame so far that the cell is in view, beside the fixed column and below the headings. */
  const reveal = ({ row, column }: Place) => {
    const element = frame.current;
    const headings = element?.querySelectorAll<HTMLElement>(".grid-heading");
    const heading = headings?.[column];
    if (element === null || heading === undefined) {
      return;
    }
    if (row !== HEADINGS) {
      const from = row * ROW_PX;
      const room = element.clientHeight - 2 * ROW_PX;
      element.scrollTop = Math.min(Math.max(element.scrollTop, from - room), from);
    }
    if (column > 0) {
      const fixed = headings?.[0]?.offsetWidth ?? 0;
      const from = heading.offsetLeft - fixed;
      const least = heading.offsetLeft + heading.offsetWidth - element.clientWidth;
      element.scrollLeft = Math.min(Math.max(element.scrollLeft, least), from);
    } else {
      element.scrollLeft = 0;
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const at = place ?? { row: rows.length === 0 ? HEADINGS : 0, column: 0 };
    const page = Math.max(1, Math.floor(height.value / ROW_PX) - 2);
    const to = moved(at, event, { rows: rows.length, columns: columns.length, page });
    const column = columns[at.column];
    if (to !== null) {
      event.preventDefault();
      activate(to);
      reveal(to);
    } else if (event.key === "Enter" && event.target === frame.current && column !== undefined) {
      event.preventDefault();
      if (at.row === HEADINGS) {
        store.trials.pressColumn(columnKey(column));
      } else {
        frame.current
          ?.querySelector<HTMLElement>(`#${cellId(rows[at.row]?.trial ?? 0, 0)} a`)
          ?.click();
      }
    } else if (event.key === "c" && (event.ctrlKey || event.metaKey) && column !== undefined) {
      const trial = rows[at.row];
      if (trial !== undefined && getSelection()?.isCollapsed !== false) {
        onCopy(cellText(trial, column, store).full);
      }
    }
  };

  const onClick = (event: MouseEvent) => {
    const cell = (event.target as Element).closest<HTMLElement>(".grid-cell");
    const row = Number(cell?.closest<HTMLElement>(".grid-row")?.getAttribute("aria-rowindex"));
    if (cell !== null) {
      activate({ row: row - 2, column: Number(cell.getAttribute("aria-colindex")) - 1 });
    }
  };

  const span = spanOf(top.value, height.value, rows.length);
  const drawn = Array.from({ length: span.end - span.first }, (_, i) => span.first + i);
  // The active row stays drawn while it is out of view, because the grid names its cell.
  if (place !== null && place.row >= 0 && (place.row < span.first || place.row >= span.end)) {
    drawn.push(place.row);
  }
  const activeId =
    place === null
      ? undefined
      : cellId(place.row === HEADINGS ? HEADINGS : (rows[place.row]?.trial ?? 0), place.column);
  return (
    <div
      role="grid"
      class="grid-frame"
      ref={frame}
      tabIndex={0}
      aria-label={words.caption}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={activeId}
      aria-describedby="grid-hint"
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
      }}
      onFocus={() => {
        if (place === null) {
          activate({ row: rows.length === 0 ? HEADINGS : 0, column: 0 });
        }
      }}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <div
        class="grid-sheet"
        style={{ minWidth: template.least, "--grid-columns": template.columns }}
      >
        <div role="rowgroup" class="grid-head">
          <div role="row" class="grid-headings" aria-rowindex={1}>
            {columns.map((column, i) => (
              <Heading
                key={columnKey(column)}
                column={column}
                at={i}
                isActive={place?.row === HEADINGS && place.column === i}
                store={store}
              />
            ))}
          </div>
        </div>
        <div role="rowgroup" class="grid-rows" style={{ height: `${rows.length * ROW_PX}px` }}>
          {drawn.map((at) => {
            const trial = rows[at];
            return trial === undefined ? null : (
              <Row
                key={trial.trial}
                trial={trial}
                at={at}
                active={place?.row === at ? place.column : -1}
                store={store}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}
