// The actions on a study: pause, cancel, try again, delete. Those that cannot be undone need a confirmation. Page
// thread.

import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { shownName } from "../ui/shown_name.ts";
import type { StudyRow } from "./model/rows.ts";
import type { ResearchStore } from "./research_store.ts";
import { doneOf } from "./view_model.ts";

interface Props {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}

interface Question {
  /** The name of the action. The buttons are named after it: `cancel_no` and `cancel_yes` for `cancel`. */
  readonly action: string;
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly title: string;
  readonly no: string;
  readonly yes: string;
  readonly onYes: () => void;
  readonly children: ComponentChildren;
}

/** Asks for confirmation of an action that cannot be undone. Escape means no. The browser then restores the focus. */
function Ask({ action, dialog, title, no, yes, onYes, children }: Question) {
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={`${action}-title`}
      aria-describedby={`${action}-text`}
    >
      <h2 id={`${action}-title`}>{title}</h2>
      <div class="stack" id={`${action}-text`}>
        {children}
      </div>
      <div class="button-row">
        <button
          type="button"
          class="button button-quiet button-small"
          data-action={`${action}_no`}
          onClick={() => dialog.current?.close()}
        >
          {no}
        </button>
        <button
          type="button"
          class="button button-danger button-small"
          data-action={`${action}_yes`}
          onClick={() => {
            dialog.current?.close();
            onYes();
          }}
        >
          {yes}
        </button>
      </div>
    </dialog>
  );
}

function Cancel({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value.study;
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="cancel"
        onClick={() => dialog.current?.showModal()}
      >
        {words.cancel}
      </button>
      <Ask
        action="cancel"
        dialog={dialog}
        title={words.cancelTitle}
        no={words.cancelNo}
        yes={words.cancelYes}
        onYes={() => void store.cancelStudy()}
      >
        <p>{words.cancelText}</p>
      </Ask>
    </>
  );
}

function Remove({ study, store }: Props) {
  const words = store.words.value.study;
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="remove"
        aria-disabled={store.busy.value}
        onClick={() => dialog.current?.showModal()}
      >
        {words.remove}
      </button>
      <Ask
        action="remove"
        dialog={dialog}
        title={words.removeTitle}
        no={words.removeNo}
        yes={words.removeYes}
        onYes={() => void store.removeStudy()}
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
