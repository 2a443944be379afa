// The trials table: a grid with a filter, a choice of columns, and a line with the full text of the active cell. Page
// thread.

import { useSignal } from "@preact/signals";
import { trialStates } from "../model/rows.ts";
import type { ResearchStore } from "../research_store.ts";
import { cellText, headingOf } from "./cells.ts";
import { ColumnChoice } from "./column_choice.tsx";
import { columnKey } from "./columns.ts";
import { TrialsGrid } from "./grid.tsx";
import { fieldNames } from "./names.ts";
import { Ranges } from "./ranges_view.tsx";
import type { FilterState } from "./trials_store.ts";

interface Props {
  readonly store: ResearchStore;
}

/** The most parameters whose names the help of the filter lists. */
const MOST_NAMES = 60;

function StateFilter({ store }: Props) {
  const words = store.words.value;
  return (
    <label class="choose">
      <span>{words.table.filter}</span>
      <select
        class="field"
        data-action="filter"
        value={store.trials.choice.value.state}
        onChange={(event) =>
          store.trials.choose({ state: event.currentTarget.value as FilterState })
        }
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

/** The filter by an expression. It works while it is typed; a mistake is named once the reader has ended it. */
function Expression({ store }: Props) {
  const words = store.words.value.table;
  const isEnded = useSignal(false);
  const { filter } = store.trials.choice.value;
  const problem = isEnded.value ? store.trials.problem.value : null;
  return (
    <div class="expression">
      <label class="field-label" for="expression">
        {words.expression}
      </label>
      <input
        class="field"
        id="expression"
        type="text"
        data-action="expression"
        value={filter}
        placeholder={'value < 0.5 and state == "complete"'}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        aria-describedby={problem === null ? "expression-hint" : "expression-problem"}
        aria-invalid={problem === null ? undefined : true}
        onInput={(event) => {
          isEnded.value = false;
          store.trials.choose({ filter: event.currentTarget.value });
        }}
        onChange={() => {
          isEnded.value = true;
        }}
        onKeyDown={(event) => {
          isEnded.value = event.key === "Enter" || isEnded.value;
        }}
      />
      <p class="field-problem" id="expression-problem" role="alert" data-problem={problem?.code}>
        {problem === null
          ? null
          : `${words.problems[problem.code](problem.what)} ${words.problemAt(
              store.format.value.integer(problem.at + 1),
            )}`}
      </p>
      <p class="field-hint" id="expression-hint">
        {words.expressionHint}
      </p>
    </div>
  );
}

/** Lists the names that a filter may use. */
function Names({ store }: Props) {
  const words = store.words.value.table;
  const params = store.trials.columns.value.flatMap((one) =>
    one.kind === "param" ? [one.name] : [],
  );
  return (
    <details class="more">
      <summary>{words.names}</summary>
      <p class="names">
        {[...fieldNames, ...params.slice(0, MOST_NAMES)].map((name) => (
          <code key={name}>{/^[\p{L}_][\p{L}\p{N}_.]*$/u.test(name) ? name : `\`${name}\``}</code>
        ))}
      </p>
    </details>
  );
}

/** Shows the full text of the active cell, which a narrow column shortens. */
function ActiveCell({
  store,
  onCopy,
  outcome,
}: Props & { readonly onCopy: (text: string) => void; readonly outcome: string }) {
  const words = store.words.value;
  const { active } = store.trials.choice.value;
  const trial = store.trials.rows.value.find((row) => row.trial === active?.trial);
  const column = store.trials.shown.value.find((one) => columnKey(one) === active?.key);
  const text =
    trial === undefined || column === undefined ? null : cellText(trial, column, store).full;
  return (
    <div class="active-cell" data-part="cell">
      {text === null || trial === undefined || column === undefined ? (
        <p class="quiet" id="grid-hint">
          {words.table.cellHint}
        </p>
      ) : (
        <>
          <p id="grid-hint">
            <span class="quiet">
              {words.table.cell(
                words.trial.heading(store.format.value.integer(trial.trial)),
                headingOf(column, store),
              )}
            </span>{" "}
            <strong data-full>{text}</strong>
          </p>
          <button
            type="button"
            class="button button-quiet button-small"
            data-action="copy_cell"
            onClick={() => onCopy(text)}
          >
            {words.table.copy}
          </button>
        </>
      )}
      <p class="quiet" role="status">
        {outcome}
      </p>
    </div>
  );
}

export function TrialsTable({ store }: Props) {
  const words = store.words.value.table;
  const format = store.format.value;
  const outcome = useSignal("");
  const onCopy = (text: string) => {
    // `clipboard` is missing on pages without HTTPS.
    const copying = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("none"));
    copying.then(
      () => {
        outcome.value = words.copied;
      },
      () => {
        outcome.value = words.copyByHand;
      },
    );
  };
  const { state, filter, ranges } = store.trials.choice.value;
  const total = store.data.value.trials.length;
  const matching = store.trials.rows.value.length;
  const isFiltered = state !== "all" || filter.trim() !== "" || ranges.size > 0;
  return (
    <div class="stack">
      {total === 0 ? null : (
        <>
          <Expression store={store} />
          <Names store={store} />
        </>
      )}
      <Ranges store={store} />
      <div class="table-tools">
        <StateFilter store={store} />
        <p class="quiet" role="status" data-matching={matching}>
          {isFiltered
            ? words.matchingOf(format.integer(matching), format.integer(total))
            : words.matching(format.integer(total))}
        </p>
      </div>
      {matching === 0 ? (
        <p class="quiet">{isFiltered ? words.emptyFilter : words.empty}</p>
      ) : (
        <>
          <TrialsGrid store={store} onCopy={onCopy} />
          <ActiveCell store={store} onCopy={onCopy} outcome={outcome.value} />
          <ColumnChoice store={store} />
        </>
      )}
    </div>
  );
}
