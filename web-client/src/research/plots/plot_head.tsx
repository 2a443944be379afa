// What plots of one objective have above them: heading, note, ranges, controls, and how many trials match. Page thread.

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ResearchStore } from "../research_store.ts";
import { Ranges } from "../trials/ranges_view.tsx";
import { ObjectiveSelect } from "./choices.tsx";

interface ToolsProps {
  readonly store: ResearchStore;
  readonly objective: Signal<number>;
  /** The number of trials that the plot shows. */
  readonly count: number;
  /** Further controls. */
  readonly children?: ComponentChildren;
}

export function PlotTools({ store, objective, count, children }: ToolsProps) {
  return (
    <div class="table-tools">
      <ObjectiveSelect
        chosen={objective.value}
        onChoose={(index) => {
          objective.value = index;
        }}
        store={store}
      />
      {children}
      <p class="quiet" role="status" data-matching={count}>
        {store.words.value.slice.matching(store.format.value.integer(count))}
      </p>
    </div>
  );
}

interface HeadProps extends ToolsProps {
  readonly part: "edf" | "importance" | "rank" | "contour";
  readonly note: string;
}

export function PlotHead({ part, note, ...tools }: HeadProps) {
  return (
    <>
      <h2>{tools.store.words.value.parts.names[part]}</h2>
      <p class="quiet">{note}</p>
      <Ranges store={tools.store} />
      <PlotTools {...tools} />
    </>
  );
}
