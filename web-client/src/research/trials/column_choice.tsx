// Chooses the columns of the table of trials, which are also the axes of plots. Page thread.

import type { ResearchStore } from "../research_store.ts";
import { headingOf } from "./cells.ts";
import { columnKey } from "./columns.ts";

export function ColumnChoice({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value.table;
  const format = store.format.value;
  const all = store.trials.columns.value;
  const shown = new Set(store.trials.shown.value.map(columnKey));
  return (
    <details class="more" data-part="columns">
      <summary>{words.choose(format.integer(shown.size), format.integer(all.length))}</summary>
      <div class="column-choice">
        {all
          .filter(({ kind }) => kind !== "trial")
          .map((column) => {
            const key = columnKey(column);
            return (
              <label class="switch" key={key}>
                <input
                  type="checkbox"
                  data-show={key}
                  checked={shown.has(key)}
                  onChange={(event) => store.trials.showColumn(key, event.currentTarget.checked)}
                />
                <span>{headingOf(column, store)}</span>
              </label>
            );
          })}
      </div>
      <div class="button-row">
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="all_columns"
          onClick={() => store.trials.choose({ shown: new Set(all.map(columnKey)) })}
        >
          {words.allColumns}
        </button>
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="first_columns"
          onClick={() => store.trials.choose({ shown: null })}
        >
          {words.firstColumns}
        </button>
      </div>
    </details>
  );
}
