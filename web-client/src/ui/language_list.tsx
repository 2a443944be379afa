// The list of languages in the header of the pages that volunteers open. Page thread.

import type { Dictionary } from "../i18n/dictionary.ts";
import { type VolunteerLanguage, volunteerLanguageNames } from "../i18n/language.ts";
import type { LanguageChoice } from "../i18n/language_choice.ts";

interface Props {
  readonly choice: LanguageChoice;
  readonly words: Dictionary;
}

export function LanguageList({ choice, words }: Props) {
  const chosen = choice.language.value;
  const choose = async (list: HTMLSelectElement) => {
    await choice.choose(list.value as VolunteerLanguage);
    // If the texts could not be fetched, the list shows the old language again.
    list.value = choice.language.value;
  };
  return (
    <>
      {choice.hasFailed.value ? (
        <span class="language-failed" role="alert">
          {words.languageFailed}
        </span>
      ) : null}
      <select
        class="language"
        data-action="language"
        aria-label={words.language}
        onChange={(event) => void choose(event.currentTarget)}
      >
        {Object.entries(volunteerLanguageNames).map(([language, name]) => (
          <option key={language} value={language} lang={language} selected={language === chosen}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
}
