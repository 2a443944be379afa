// Shows the list of studies, newest first, and the link for volunteers. Page thread.

import { ProgressBar } from "../ui/progress_bar.tsx";
import { shownName } from "../ui/shown_name.ts";
import { JoinLink } from "./join_link.tsx";
import { studyHash } from "./model/route.ts";
import type { StudyRow } from "./model/rows.ts";
import type { ResearchStore } from "./research_store.ts";
import { StateChip } from "./state_chip.tsx";
import { bestText, chipOf, progressOf, removedText } from "./view_model.ts";

function StudyCard({ study, store }: { readonly study: StudyRow; readonly store: ResearchStore }) {
  const words = store.words.value;
  const format = store.format.value;
  const progress = progressOf(study, words, format);
  return (
    <li class="card study-card" data-study={study.study}>
      <div class="study-head">
        <h2>
          <a class="study-link" href={studyHash(study.study)}>
            {shownName(study.name)}
          </a>
        </h2>
        <StateChip {...chipOf(study, words)} />
      </div>
      <ProgressBar label={`${words.study.progress}: ${shownName(study.name)}`} {...progress} />
      <dl class="pairs">
        <div>
          <dt>{words.studies.best}</dt>
          <dd>{bestText(study, words, format)}</dd>
        </div>
        {study.failed === 0 ? null : (
          <div>
            <dt>{words.study.counts.failed}</dt>
            <dd>{format.integer(study.failed)}</dd>
          </div>
        )}
        <div>
          <dt>{words.study.createdAt}</dt>
          <dd>{format.time(study.createdAt)}</dd>
        </div>
      </dl>
    </li>
  );
}

export function StudiesView({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value;
  const studies = store.studies.value;
  const removed = removedText(store);
  return (
    <div class="columns" data-view="studies">
      <section class="stack">
        <h1 tabIndex={-1}>{words.studies.heading}</h1>
        {removed === null ? null : (
          <p class="notice" data-removed>
            {removed}
          </p>
        )}
        {studies === null ? <p class="quiet">{words.loading}</p> : null}
        {studies?.length === 0 ? (
          <div class="card">
            <p>
              <strong>{words.studies.empty}</strong>
            </p>
            <p class="quiet">{words.studies.emptyHint}</p>
          </div>
        ) : null}
        {studies === null || studies.length === 0 ? null : (
          <ul class="stack">
            {studies.map((study) => (
              <StudyCard key={study.study} study={study} store={store} />
            ))}
          </ul>
        )}
        {store.olderStudies.value ? (
          <p>
            <button
              type="button"
              class="button button-quiet"
              data-action="older"
              disabled={store.busy.value}
              onClick={() => void store.showOlder()}
            >
              {words.studies.older}
            </button>
          </p>
        ) : null}
      </section>
      <JoinLink store={store} />
    </div>
  );
}
