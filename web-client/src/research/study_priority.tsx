// The priority of a study among those of its owner, and a field that changes it. Page thread.

import type { StudyRow } from "./model/rows.ts";
import type { ResearchStore } from "./research_store.ts";

/** The highest priority. The lowest one is -MAX_PRIORITY. */
const MAX_PRIORITY = 100;

interface Props {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}

export function StudyPriority({ study, store }: Props) {
  const words = store.words.value.study;
  return (
    <form
      class="priority"
      onSubmit={(event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget).get("priority");
        void store.prioritizeStudy(Number(given));
      }}
    >
      <label class="field-label" for="priority">
        {words.priority}
      </label>
      <div class="button-row">
        <input
          id="priority"
          name="priority"
          class="field"
          type="number"
          required
          min={-MAX_PRIORITY}
          max={MAX_PRIORITY}
          step={1}
          defaultValue={String(study.priority)}
          aria-describedby="priority-hint"
        />
        <button
          type="submit"
          class="button button-quiet button-small"
          data-action="prioritize"
          aria-disabled={store.busy.value}
        >
          {words.prioritize}
        </button>
      </div>
      <p class="field-hint" id="priority-hint">
        {words.priorityHint}
      </p>
    </form>
  );
}
