// The actions on a study: pause, cancel, try again, delete. Those that cannot be undone need a confirmation. Page
// thread.

import { useState } from "preact/hooks";
import { shownName } from "../ui/shown_name.ts";
import { Ask } from "./ask.tsx";
import type { StudyRow } from "./model/rows.ts";
import type { ResearchStore } from "./research_store.ts";
import { doneOf } from "./view_model.ts";

interface Props {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}

function Cancel({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value.study;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="cancel"
        onClick={() => setIsOpen(true)}
      >
        {words.cancel}
      </button>
      {isOpen ? (
        <Ask
          store={store}
          action="cancel"
          title={words.cancelTitle}
          no={words.cancelNo}
          yes={words.cancelYes}
          onYes={() => void store.cancelStudy()}
          onClose={() => setIsOpen(false)}
        >
          <p>{words.cancelText}</p>
        </Ask>
      ) : null}
    </>
  );
}

function Remove({ study, store }: Props) {
  const words = store.words.value.study;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="remove"
        aria-disabled={store.busy.value}
        onClick={() => setIsOpen(true)}
      >
        {words.remove}
      </button>
      {isOpen ? (
        <Ask
          store={store}
          action="remove"
          title={words.removeTitle}
          no={words.removeNo}
          yes={words.removeYes}
          onYes={() => void store.removeStudy()}
          onClose={() => setIsOpen(false)}
        >
          <p>
            <strong>{shownName(study.name)}</strong>
          </p>
          <p>{words.removeLead}</p>
          <ul class="goes">
            <li>{words.removeTrials(store.format.value.integer(doneOf(study)))}</li>
            <li>{words.removeFiles}</li>
            <li>{words.removeInputs}</li>
          </ul>
          <p>{words.removeText}</p>
        </Ask>
      ) : null}
    </>
  );
}

export function StudyActions({ study, store }: Props) {
  const words = store.words.value.study;
  const busy = store.busy.value;
  const runs = study.state === "running";
  return (
    <div class="button-row">
      {study.failed > 0 && study.state !== "cancelled" ? (
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="replay"
          aria-disabled={busy}
          onClick={() => void store.replayFailed()}
        >
          {words.replay(store.format.value.integer(study.failed))}
        </button>
      ) : null}
      {runs ? (
        <button
          type="button"
          class="button button-quiet button-small"
          data-action={study.isPaused ? "resume" : "pause"}
          aria-disabled={busy}
          onClick={() => void store.pauseStudy(!study.isPaused)}
        >
          {study.isPaused ? words.resume : words.pause}
        </button>
      ) : null}
      {runs ? <Cancel store={store} /> : <Remove study={study} store={store} />}
    </div>
  );
}
