// The ranges that the reader has chosen: a line that names them, and fields that choose them without a pointer. Page thread.

import { visibleText } from "../model/visible_text.ts";
import type { Axis } from "../plots/axis.ts";
import type { ResearchStore } from "../research_store.ts";
import type { Words } from "../words/dictionary.ts";
import { headingOf } from "./cells.ts";
import { columnKey, shortNumber } from "./columns.ts";
import type { Range } from "./range.ts";

/** The most values for which the fields have a box each. */
const MOST_VALUES = 20;

export function rangeText({ least, most, others }: Range, words: Words["ranges"]): string {
  const numbers =
    least <= most
      ? Number.isFinite(least)
        ? [
            Number.isFinite(most)
              ? words.between(shortNumber(least), shortNumber(most))
              : words.from(shortNumber(least)),
          ]
        : [Number.isFinite(most) ? words.upTo(shortNumber(most)) : words.numbers]
      : [];
  const parts = [...numbers, ...[...others].map(visibleText)];
  return parts.length === 0 ? words.nothing : parts.join(", ");
}

/** Names the chosen ranges, and takes them away. */
export function Ranges({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value.ranges;
  const { ranges } = store.trials.choice.value;
  if (ranges.size === 0) {
    return null;
  }
  const named = store.trials.columns.value.flatMap((column) => {
    const range = ranges.get(columnKey(column));
    return range === undefined
      ? []
      : [{ key: columnKey(column), name: headingOf(column, store), range }];
  });
  return (
    <ul class="ranges" data-part="ranges">
      {named.map(({ key, name, range }) => (
        <li key={key} data-range={key}>
          <span>{words.chosen(name, rangeText(range, words))}</span>
          <button
            type="button"
            class="button button-quiet button-small"
            aria-label={words.removeOf(name)}
            onClick={() => store.trials.chooseRange(key, null)}
          >
            {words.remove}
          </button>
        </li>
      ))}
    </ul>
  );
}

const ALL_NUMBERS = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY } as const;

interface FieldProps {
  readonly columnKey: string;
  readonly axis: Axis;
  readonly store: ResearchStore;
}

function RangeField({ columnKey: key, axis, store }: FieldProps) {
  const words = store.words.value.ranges;
  const chosen = store.trials.choice.value.ranges.get(key);
  const range: Range = chosen ?? { ...ALL_NUMBERS, others: new Set(axis.others) };
  const choose = (change: Partial<Range>) => {
    const next = { ...range, ...change };
    const isAll =
      next.least === Number.NEGATIVE_INFINITY &&
      next.most === Number.POSITIVE_INFINITY &&
      axis.others.every((text) => next.others.has(text));
    store.trials.chooseRange(key, isAll ? null : next);
  };
  const numberField = (end: "least" | "most") => (
    <label class="range-end">
      <span>{words.ends[end]}</span>
      <input
        class="field"
        type="number"
        step="any"
        data-end={end}
        value={Number.isFinite(range[end]) ? String(range[end]) : ""}
        onChange={(event) => {
          const text = event.currentTarget.value;
          choose({ [end]: text === "" ? ALL_NUMBERS[end] : Number(text) });
        }}
      />
    </label>
  );
  return (
    <fieldset class="range-field" data-range-of={key}>
      <legend>{axis.name}</legend>
      {axis.hasNumbers ? (
        <div class="range-ends">
          {numberField("least")}
          {numberField("most")}
        </div>
      ) : null}
      {axis.others.length > MOST_VALUES
        ? null
        : axis.others.map((text) => (
            <label class="switch" key={text}>
              <input
                type="checkbox"
                checked={range.others.has(text)}
                onChange={(event) => {
                  const others = new Set(range.others);
                  if (event.currentTarget.checked) {
                    others.add(text);
                  } else {
                    others.delete(text);
                  }
                  choose({ others });
                }}
              />
              <span>{visibleText(text)}</span>
            </label>
          ))}
    </fieldset>
  );
}

/** Fields for the range of each axis. They do what a brush does, by keyboard. */
export function RangeFields({
  axes,
  store,
}: {
  readonly axes: readonly { readonly key: string; readonly axis: Axis }[];
  readonly store: ResearchStore;
}) {
  return (
    <details class="more" data-part="range_fields">
      <summary>{store.words.value.ranges.choose}</summary>
      <div class="range-fields">
        {axes.map(({ key, axis }) => (
          <RangeField key={key} columnKey={key} axis={axis} store={store} />
        ))}
      </div>
    </details>
  );
}
