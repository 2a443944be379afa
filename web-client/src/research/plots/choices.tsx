// The controls above plots: which objective and which parameters they show. Page thread.

import type { ResearchStore } from "../research_store.ts";
import { headingOf } from "../trials/cells.ts";
import { type Column, columnKey } from "../trials/columns.ts";

interface Props {
  readonly label: string;
  readonly action: string;
  readonly columns: readonly Column[];
  /** The index of the chosen column. */
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
  readonly store: ResearchStore;
}

/** Chooses one of some columns. There is nothing to choose from one. */
export function ColumnSelect({ label, action, columns, chosen, onChoose, store }: Props) {
  return columns.length < 2 ? null : (
    <label class="choose">
      <span>{label}</span>
      <select
        class="field"
        data-action={action}
        value={String(chosen)}
        onChange={(event) => onChoose(Number(event.currentTarget.value))}
      >
        {columns.map((column, i) => (
          <option key={columnKey(column)} value={String(i)}>
            {headingOf(column, store)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Chooses the objective whose values plots show. */
export function ObjectiveSelect({
  chosen,
  onChoose,
  store,
}: Pick<Props, "chosen" | "onChoose" | "store">) {
  const columns = store.trials.columns.value.filter(({ kind }) => kind === "value");
  const label = store.words.value.slice.objective;
  return <ColumnSelect {...{ label, columns, chosen, onChoose, store }} action="objective" />;
}

/** A switch with its text. */
export function Switch({
  label,
  action,
  isOn,
  onChange,
}: {
  readonly label: string;
  readonly action: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        data-action={action}
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
