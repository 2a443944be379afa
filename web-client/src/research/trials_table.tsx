// The trials table: sortable by each column, filtered by state, a page at a time. On narrow screens each row is a card
// with its labels. Page thread.
//
// biome-ignore-all lint/a11y/noRedundantRoles: without their roles, rows that a style turns into cards lose their meaning.

import { Icon } from "../ui/icons.tsx";
import { paramText } from "./model/params.ts";
import { hashOf } from "./model/route.ts";
import { type TrialRow, trialStates } from "./model/rows.ts";
import {
  type Column,
  columnKey,
  type FilterState,
  paramNamed,
  type TableView,
  tableView,
} from "./model/trials_model.ts";
import { visibleText } from "./model/visible_text.ts";
import type { ResearchStore } from "./research_store.ts";
import { StateChip } from "./state_chip.tsx";
import { deviceText } from "./view_model.ts";

interface Props {
  readonly store: ResearchStore;
}

function columnLabel(column: Column, view: TableView, store: ResearchStore): string {
  const words = store.words.value.table.columns;
  switch (column.kind) {
    case "param":
      return column.name;
    case "value": {
      const single = view.columns.filter(({ kind }) => kind === "value").length === 1;
      return single
        ? words.value
        : words.valueNumbered(store.format.value.integer(column.index + 1));
    }
    default:
      return words[column.kind];
  }
}

function Cell({
  trial,
  column,
  store,
}: {
  readonly trial: TrialRow;
  readonly column: Column;
  readonly store: ResearchStore;
}) {
  const words = store.words.value;
  const format = store.format.value;
  switch (column.kind) {
    case "trial": {
      const study = store.data.value.study;
      return (
        <a class="cell-link" href={hashOf({ page: "trial", study, trial: trial.trial })}>
          {words.trial.heading(format.integer(trial.trial))}
        </a>
      );
    }
    case "state":
      return <StateChip state={trial.state} label={words.trialStates[trial.state]} />;
    case "value": {
      const value = trial.values[column.index];
      return <>{value === undefined ? "–" : format.value(value)}</>;
    }
    case "param": {
      const param = paramNamed(trial, column.name);
      return <>{param === undefined ? "–" : visibleText(paramText(param))}</>;
    }
    case "device":
      return (
        <>{trial.device === null ? "–" : deviceText({ ...trial.device, backend: "" }, words)}</>
      );
    case "run":
      return <>{trial.runMs === 0 ? "–" : format.duration(trial.runMs)}</>;
    case "attempts":
      return <>{format.integer(trial.attempts)}</>;
    case "finished":
      return <>{trial.finishedAt === 0 ? "–" : format.shortTime(trial.finishedAt)}</>;
    default:
      return column satisfies never;
  }
}

function Filter({ store }: Props) {
  const words = store.words.value;
  return (
    <label class="choose">
      <span>{words.table.filter}</span>
      <select
        class="field"
        data-action="filter"
        value={store.filter.value}
        onChange={(event) => store.setFilter(event.currentTarget.value as FilterState)}
      >
        <option value="all">{words.table.all}</option>
        {trialStates
          .filter((state) => state !== "running")
          .map((state) => (
            <option key={state} value={state}>
              {words.trialStates[state]}
            </option>
          ))}
      </select>
    </label>
  );
}

/** Lets the reader choose the sort column on narrow screens, which hide the columns' headings. */
function SortChoice({ view, store }: Props & { readonly view: TableView }) {
  const words = store.words.value.table;
  const { key, descending } = store.sort.value;
  return (
    <div class="sort-choice">
      <label class="choose">
        <span>{words.sortBy}</span>
        <select
          class="field"
          data-action="sort"
          value={key}
          onChange={(event) => store.pressColumn(event.currentTarget.value)}
        >
          {view.columns.map((column) => (
            <option key={columnKey(column)} value={columnKey(column)}>
              {columnLabel(column, view, store)}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="button button-quiet button-small"
        onClick={() => store.pressColumn(key)}
      >
        {descending ? words.descending : words.ascending}
      </button>
    </div>
  );
}

function HeadCell({
  column,
  label,
  store,
}: Props & { readonly column: Column; readonly label: string }) {
  const key = columnKey(column);
  const sort = store.sort.value;
  const isSorted = sort.key === key;
  return (
    <th
      scope="col"
      role="columnheader"
      aria-sort={isSorted ? (sort.descending ? "descending" : "ascending") : undefined}
    >
      <button
        type="button"
        class="head-button"
        data-column={key}
        onClick={() => store.pressColumn(key)}
      >
        <span>{label}</span>
        {isSorted ? <Icon name={sort.descending ? "down" : "up"} /> : null}
      </button>
    </th>
  );
}

function Pager({ view, store }: Props & { readonly view: TableView }) {
  const words = store.words.value.table;
  const format = store.format.value;
  if (view.pages === 1) {
    return null;
  }
  const go = (page: number) => () => {
    if (page >= 0 && page < view.pages) {
      store.setPage(page);
    }
  };
  return (
    <div class="pager">
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="previous"
        aria-disabled={view.page === 0}
        onClick={go(view.page - 1)}
      >
        {words.previous}
      </button>
      <p role="status">{words.page(format.integer(view.page + 1), format.integer(view.pages))}</p>
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="next"
        aria-disabled={view.page === view.pages - 1}
        onClick={go(view.page + 1)}
      >
        {words.next}
      </button>
    </div>
  );
}

export function TrialsTable({ store }: Props) {
  const words = store.words.value.table;
  const study = store.study.value;
  const trials = store.data.value.trials;
  const filter = store.filter.value;
  const view = tableView({
    trials,
    names: study?.names ?? [],
    filter,
    sort: store.sort.value,
    page: store.page.value,
  });
  const labels = view.columns.map((column) => columnLabel(column, view, store));
  return (
    <div class="stack">
      <div class="table-tools">
        <Filter store={store} />
        <SortChoice view={view} store={store} />
        <p class="quiet" data-matching>
          {words.matching(store.format.value.integer(view.matching))}
        </p>
      </div>
      {view.rows.length === 0 ? (
        <p class="quiet">{filter === "all" ? words.empty : words.emptyFilter}</p>
      ) : (
        // Wide tables scroll in their own frame, which the keyboard can reach.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take focus.
        <section class="table-frame" tabIndex={0} aria-label={words.caption}>
          <table class="table" role="table">
            <caption class="unseen">{words.caption}</caption>
            <thead role="rowgroup">
              <tr role="row">
                {view.columns.map((column, i) => (
                  <HeadCell
                    key={columnKey(column)}
                    column={column}
                    label={labels[i] ?? ""}
                    store={store}
                  />
                ))}
              </tr>
            </thead>
            <tbody role="rowgroup">
              {view.rows.map((trial) => (
                <tr role="row" key={trial.trial} data-trial={trial.trial}>
                  {view.columns.map((column, i) => (
                    <td
                      role="cell"
                      key={columnKey(column)}
                      data-label={labels[i]}
                      data-kind={column.kind}
                    >
                      <Cell trial={trial} column={column} store={store} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Pager view={view} store={store} />
    </div>
  );
}
