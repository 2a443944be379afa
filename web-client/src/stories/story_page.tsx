// Shows the story that the URL names, such as `?story=computing&lang=ja`. Without a query, it shows the list of all
// stories. Page thread.

import type { ComponentChild } from "preact";
import { isLanguage, type Names } from "../i18n/language.ts";
import { show } from "../ui/browser.ts";

/**
 * Shows the story. `page` makes its content and is called only once. Later, only components that read signals render
 * again, when these signals change.
 */
export async function showStory<Name extends string, Language extends string>(
  stories: Readonly<Record<Name, unknown>>,
  languages: Names<Language>,
  page: (name: Name, language: Language | "en") => ComponentChild | Promise<ComponentChild>,
): Promise<void> {
  const query = new URLSearchParams(location.search);
  const name = query.get("story");
  const language = query.get("lang");
  if (name !== null && Object.hasOwn(stories, name)) {
    show(await page(name as Name, isLanguage(language, languages) ? language : "en"));
  } else {
    show(<Index names={Object.keys(stories)} languages={languages} />);
  }
}

interface IndexProps {
  readonly names: readonly string[];
  readonly languages: Readonly<Record<string, string>>;
}

function Index({ names, languages }: IndexProps) {
  return (
    <ul>
      {names.map((name) => (
        <li key={name}>
          {name}:{" "}
          {Object.entries(languages).map(([language, title]) => (
            <a key={language} href={`?story=${name}&lang=${language}`}>
              {title}{" "}
            </a>
          ))}
        </li>
      ))}
    </ul>
  );
}
