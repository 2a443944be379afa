// Lets the volunteer keep what their devices gave by eight words, or restore it by them. Page thread.

import "./passphrase.css";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Formatter } from "../../i18n/format.ts";
import type { PassphraseWords } from "../../i18n/passphrase/words.ts";
import { PASSPHRASE_WORDS } from "./passphrase.ts";
import type { EntryProblem, PassphraseStore } from "./passphrase_store.ts";

interface Props {
  readonly store: PassphraseStore;
  readonly words: PassphraseWords;
  readonly format: Formatter;
}

function problemText(problem: EntryProblem, words: PassphraseWords, format: Formatter): string {
  switch (problem.kind) {
    case "unknown_word":
      return words.unknownWord(problem.word.slice(0, 40));
    case "count":
      return words.count(format.integer(problem.count), format.integer(PASSPHRASE_WORDS));
    default:
      return words.problems[problem.kind];
  }
}

interface ButtonProps {
  readonly action: string;
  readonly label: string;
  readonly onClick: () => void;
}

function Small({ action, label, onClick }: ButtonProps) {
  return (
    <button
      type="button"
      class="button button-quiet button-small"
      data-action={action}
      onClick={onClick}
    >
      {label}
    </button>
  );
}

/** The words, to be written down. */
function Shown({ passphrase, words, store }: Props & { readonly passphrase: readonly string[] }) {
  const outcome = useSignal("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(passphrase.join(" "));
      outcome.value = words.copied;
    } catch {
      outcome.value = words.copyByHand;
    }
  };
  return (
    <>
      <p class="passphrase-once">{words.once}</p>
      {/* The words are English in every language, and no translator may change them. */}
      <ol class="passphrase-words" lang="en" translate={false} aria-label={words.words}>
        {passphrase.map((word) => (
          <li key={word}>{word}</li>
        ))}
      </ol>
      <div class="more-actions">
        <Small action="passphrase_copy" label={words.copy} onClick={() => void copy()} />
        <Small action="passphrase_done" label={words.done} onClick={() => store.close()} />
      </div>
      <p role="status">{outcome.value}</p>
    </>
  );
}

interface EntryProps extends Props {
  readonly problem: EntryProblem | null;
  readonly isWorking: boolean;
}

function Entry({ store, words, format, problem, isWorking }: EntryProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const hint = isWorking ? words.working : words.entryHint;
  return (
    <form
      class="passphrase-entry"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWorking) void store.restore(field.current?.value ?? "");
      }}
    >
      <label>
        <span>{words.entry}</span>
        <textarea
          ref={field}
          rows={3}
          name="passphrase"
          lang="en"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby="passphrase-hint"
          aria-invalid={problem !== null}
        />
      </label>
      <p id="passphrase-hint" role="status">
        {problem === null ? hint : problemText(problem, words, format)}
      </p>
      <div class="more-actions">
        <button
          type="submit"
          class="button button-quiet button-small"
          data-action="passphrase_confirm"
        >
          {words.confirm}
        </button>
        <Small action="passphrase_cancel" label={words.cancel} onClick={() => store.close()} />
      </div>
    </form>
  );
}

function Closed({ store, words, format }: Props) {
  const together = store.together.value;
  const make = (label: string) => (
    <Small action="passphrase_make" label={label} onClick={() => void store.make()} />
  );
  const enter = (
    <Small action="passphrase_enter" label={words.restore} onClick={() => store.enter()} />
  );
  return together === null ? (
    <>
      <p>{words.text}</p>
      <div class="more-actions">
        {make(words.make)}
        {enter}
      </div>
    </>
  ) : (
    <>
      <p data-passphrase="kept">{words.kept(together.devices, format.integer(together.devices))}</p>
      <div class="more-actions">
        {make(words.makeNew)}
        {enter}
      </div>
      <p>{words.makeNewHint}</p>
    </>
  );
}

function Body(props: Props) {
  const view = props.store.view.value;
  switch (view.kind) {
    case "working":
      return <p>{props.words.working}</p>;
    case "words":
      return <Shown {...props} passphrase={view.words} />;
    case "entry":
      return <Entry {...props} problem={view.problem} isWorking={view.isWorking} />;
    case "problem":
      return (
        <>
          <p>{problemText(view.problem, props.words, props.format)}</p>
          <Closed {...props} />
        </>
      );
    case "closed":
      return <Closed {...props} />;
    default:
      return view satisfies never;
  }
}

/** What the part shows once it was opened. */
export function PassphraseContent(props: Props) {
  const { kind } = props.store.view.value;
  const content = useRef<HTMLDivElement>(null);
  const before = useRef(kind);
  // The pressed button has disappeared, so the keyboard's focus moves to what has taken its place.
  useEffect(() => {
    if (before.current !== kind && kind !== "working") {
      content.current?.focus();
    }
    before.current = kind;
  }, [kind]);
  return (
    <div class="passphrase-content" data-passphrase-view={kind} ref={content} tabIndex={-1}>
      <Body {...props} />
    </div>
  );
}
