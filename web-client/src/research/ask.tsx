// A dialog that asks for confirmation of an action that ends people's work or cannot be undone. Page thread.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ResearchStore } from "./research_store.ts";

interface Question {
  readonly store: ResearchStore;
  /** The name of the action. The buttons are named after it: `cancel_no` and `cancel_yes` for `cancel`. */
  readonly action: string;
  readonly title: string;
  readonly no: string;
  readonly yes: string;
  /** Whether the action ends something, so that its button must stand out. */
  readonly isDangerous?: boolean;
  readonly onYes: (form: FormData) => void;
  /** Called after the dialog was closed, in whatever way. The caller then removes it. */
  readonly onClose: () => void;
  /** What will happen, and to whom. */
  readonly children: ComponentChildren;
  /** Fields that the reader fills in before the action. */
  readonly fields?: ComponentChildren;
}

/** Asks before an action. Escape means no. The browser then gives the focus back to the button that asked. */
export function Ask({
  store,
  action,
  title,
  no,
  yes,
  isDangerous = true,
  onYes,
  onClose,
  children,
  fields,
}: Question) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  // The event `close` comes later. Until then somebody may already have asked for the next dialog, which it must not
  // remove. So this reports the end at once, and once only.
  const isOver = useRef(false);
  const end = () => {
    if (isOver.current) return;
    isOver.current = true;
    onClose();
  };
  const shut = () => {
    dialog.current?.close();
    end();
  };
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={`${action}-title`}
      aria-describedby={`${action}-text`}
      onCancel={(event) => {
        event.preventDefault();
        shut();
      }}
      onClose={end}
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          // The dialog stays open during another request, which would make the store ignore this one.
          if (!store.busy.value) {
            const form = new FormData(event.currentTarget);
            shut();
            onYes(form);
          }
        }}
      >
        {/* With fields, the title has the focus first. In a field, a key that is held down could confirm at once. */}
        <h2
          id={`${action}-title`}
          {...(fields === undefined ? {} : { tabIndex: -1, autofocus: true })}
        >
          {title}
        </h2>
        <div class="stack" id={`${action}-text`}>
          {children}
        </div>
        {fields}
        <div class="button-row">
          <button
            type="button"
            class="button button-quiet button-small"
            data-action={`${action}_no`}
            onClick={shut}
          >
            {no}
          </button>
          <button
            type="submit"
            class={`button button-small ${isDangerous ? "button-danger" : "button-main"}`}
            data-action={`${action}_yes`}
            aria-disabled={store.busy.value}
          >
            {yes}
          </button>
        </div>
      </form>
    </dialog>
  );
}
