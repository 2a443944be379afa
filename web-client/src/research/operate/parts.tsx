// What the sections of the administrators' view share: buttons, and a dialog with a reason. Page thread.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Ask } from "../ask.tsx";
import type { ResearchStore } from "../research_store.ts";

export interface Props {
  readonly store: ResearchStore;
}

interface ActionProps extends Props {
  readonly action: string;
  readonly label: string;
  /** The name of what the button is about, which a screen reader reads after its label. */
  readonly about: string;
}

/** A button whose label, for a screen reader, also says what it is about. */
export function Action({
  store,
  action,
  label,
  about,
  onClick,
}: ActionProps & { readonly onClick: () => void }) {
  return (
    <button
      type="button"
      class="button button-quiet button-small"
      data-action={action}
      aria-label={`${label}: ${about}`}
      aria-disabled={store.busy.value}
      onClick={onClick}
    >
      {label}
    </button>
  );
}

interface StopProps extends ActionProps {
  readonly title: string;
  readonly onStop: (reason: string) => void;
  /** What will happen, and to whom. */
  readonly children: ComponentChildren;
}

/** A button for what ends people's work. It first asks, and for a reason, which the researchers read. */
export function Stop({ store, action, label, about, title, onStop, children }: StopProps) {
  const words = store.words.value.operate;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Action
        store={store}
        action={action}
        label={label}
        about={about}
        onClick={() => setIsOpen(true)}
      />
      {isOpen ? (
        <Ask
          store={store}
          action={action}
          title={title}
          no={words.no}
          yes={label}
          onYes={(form) => onStop(String(form.get("reason") ?? "").trim())}
          onClose={() => setIsOpen(false)}
          fields={
            <Field id={`${action}-reason`} label={words.reason} hint={words.reasonHint}>
              {(described) => <input {...described} name="reason" class="field" maxLength={500} />}
            </Field>
          }
        >
          {children}
        </Ask>
      ) : null}
    </>
  );
}

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly children: (described: {
    readonly id: string;
    readonly autocomplete: "off";
    readonly "aria-describedby"?: string;
  }) => ComponentChildren;
}

/** A labelled field, with a hint below it. */
export function Field({ id, label, hint, children }: FieldProps) {
  const described = hint === undefined ? {} : { "aria-describedby": `${id}-hint` };
  return (
    <div>
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({ id, autocomplete: "off", ...described })}
      {hint === undefined ? null : (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
