// The frame of every page: background, header with the choice of language, and the line that a screen reader speaks. Page
// thread.

import { useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type Language, languageNames, otherLanguage } from "../i18n/language.ts";
import { FlockBackdrop, Mark } from "./flock.tsx";

/** The button to the other language of a page that has two. */
interface TwoLanguages {
  readonly language: Language;
  readonly onLanguage: (language: Language) => void;
}

interface Props {
  /** How the reader chooses the language: the button for two of them, or another control. */
  readonly languages: ComponentChildren;
  /** The text that a screen reader speaks when it changes. */
  readonly announcement: string;
  /** The first element of the page, with which a keyboard user can skip the header. */
  readonly skip?: ComponentChildren;
  /** Shown in the header, before the choice of language. */
  readonly side?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function OtherLanguage({ language, onLanguage }: TwoLanguages) {
  const other = otherLanguage(language);
  return (
    <button
      type="button"
      class="language"
      lang={other}
      data-action="language"
      onClick={() => onLanguage(other)}
    >
      {languageNames[other]}
    </button>
  );
}

export function Frame({ languages, announcement, skip, side, children }: Props) {
  return (
    <div class="page">
      {skip}
      <FlockBackdrop />
      <header class="masthead">
        <div class="brand">
          <Mark />
          <span>Hyperflock</span>
        </div>
        <div class="masthead-side">
          {side}
          {languages}
        </div>
      </header>
      {children}
      <p class="unseen" role="status" aria-live="polite" data-announcement>
        {announcement}
      </p>
    </div>
  );
}

/** Keeps the document's language and title up to date. `read` reads them from signals. */
export function useDocument(read: () => { readonly tag: string; readonly title: string }): void {
  useSignalEffect(() => {
    const { tag, title } = read();
    document.documentElement.lang = tag;
    document.title = title;
  });
}
