// Shows why an attempt, a trial or a study failed: cause, code, message and traceback. Page thread.

import type { FailureRow } from "./model/rows.ts";
import { visibleText } from "./model/visible_text.ts";
import type { ResearchStore } from "./research_store.ts";

export function Failure({
  error,
  store,
  shownTraceback = "",
}: {
  readonly error: FailureRow;
  readonly store: ResearchStore;
  /** A traceback that the page shows elsewhere, so that it is not shown again. */
  readonly shownTraceback?: string;
}) {
  const words = store.words.value.trial;
  return (
    <>
      <dl class="pairs">
        {(
          [
            [words.cause, error.cause],
            [words.code, error.code],
            [words.message, error.message],
          ] as const
        )
          .filter(([, value]) => value !== "")
          .map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{visibleText(value)}</dd>
            </div>
          ))}
      </dl>
      {error.traceback === "" || error.traceback === shownTraceback ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take focus.
        <section class="traceback" tabIndex={0} aria-label={words.traceback}>
          <pre>{visibleText(error.traceback)}</pre>
        </section>
      )}
    </>
  );
}
