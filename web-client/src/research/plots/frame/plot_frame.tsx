// The frame of a plot: below the drawing its numbers as a table, and buttons that save it as CSV, SVG or PNG. Page thread.
//
// biome-ignore-all lint/a11y/noNoninteractiveTabindex: a region that scrolls must take focus.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { saveFile } from "../../../ui/browser.ts";
import { fileStem } from "../../model/export.ts";
import type { ResearchStore } from "../../research_store.ts";
import { shortNumber } from "../../trials/columns.ts";
import { type PlotCell, type PlotTable, tableCsv } from "./plot_table.ts";

/** The most rows that the page shows. The CSV file has all of them. */
const MOST_ROWS = 200;

interface Props {
  readonly store: ResearchStore;
  /** Names the plot among those of the study, and its files. */
  readonly id: string;
  readonly title: string;
  /** Makes the table. It is called when a reader asks for the table or for a file. */
  readonly table: () => PlotTable;
  readonly children: ComponentChildren;
}

function cellText(cell: PlotCell): string {
  return cell === undefined ? "–" : typeof cell === "number" ? shortNumber(cell) : cell;
}

function TableView({ table, title, store }: Pick<Props, "title" | "store"> & { table: PlotTable }) {
  const words = store.words.value.plots.frame;
  const shown = table.rows.slice(0, MOST_ROWS);
  return (
    <>
      <section class="table-frame plot-table" tabIndex={0} aria-label={words.numbers(title)}>
        <table class="table best-table">
          <thead>
            <tr>
              {table.columns.map((name, i) => (
                <th scope="col" key={`column ${i}`}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={`row ${i}`}>
                {row.map((cell, j) => (
                  <td key={`cell ${j}`} title={typeof cell === "number" ? String(cell) : undefined}>
                    {cellText(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {shown.length < table.rows.length ? (
        <p class="quiet">{words.first(store.format.value.integer(shown.length))}</p>
      ) : null}
    </>
  );
}

function More({
  store,
  id,
  title,
  table,
  picture,
}: Omit<Props, "children"> & { readonly picture: () => Element | null }) {
  const words = store.words.value.plots.frame;
  const study = store.study.value;
  const name = study === null ? id : fileStem(study, id);
  const save = (kind: "csv" | "svg" | "png") => {
    const element = picture();
    if (kind === "csv") {
      saveFile(`${name}.csv`, new Blob([tableCsv(table())], { type: "text/csv" }));
    } else if (element !== null) {
      void import("./snapshot.ts").then(({ savePicture }) =>
        savePicture(element, title, name, kind),
      );
    }
  };
  return (
    <div class="plot-more-body">
      <div class="button-row">
        {(["csv", "svg", "png"] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            class="button button-quiet button-small"
            data-action={`save_${kind}`}
            onClick={() => save(kind)}
          >
            {words.save[kind]}
          </button>
        ))}
      </div>
      <TableView table={table()} title={title} store={store} />
    </div>
  );
}

export function PlotFrame({ store, id, title, table, children }: Props) {
  const words = store.words.value.plots.frame;
  const box = useRef<HTMLDivElement>(null);
  const isOpen = useSignal(false);
  return (
    <div class="plot-frame" data-plot={id}>
      <div class="plot-picture" ref={box}>
        {children}
      </div>
      <details
        class="plot-more"
        onToggle={(event) => {
          isOpen.value = event.currentTarget.open;
        }}
      >
        <summary>
          {words.more}
          <span class="unseen"> {title}</span>
        </summary>
        {isOpen.value ? (
          <More store={store} id={id} title={title} table={table} picture={() => box.current} />
        ) : null}
      </details>
    </div>
  );
}
