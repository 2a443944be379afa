// Shows the story that the URL names, such as `?story=computing&lang=ja`. Without a query, it shows the list of all
// stories. Page thread.

import type { ComponentChild } from "preact";
import { isLanguage, type Language } from "../i18n/language.ts";
import { show } from "../ui/browser.ts";

/**
 * Shows the story. `page` makes its content and is called only once. Later, only components that read signals render
 * again, when these signals change.
 */
export async function showStory<Name extends string>(
  stories: Readonly<Record<Name, unknown>>,
  page: (name: Name, language: Language) => ComponentChild | Promise<ComponentChild>,
): Promise<void> {
  const query = new URLSearchParams(location.search);
  const name = query.get("story");
  const language = query.get("lang");
  if (name !== null && Object.hasOwn(stories, name)) {
    show(await page(name as Name, isLanguage(language) ? language : "en"));
  } else {
    show(<Index names={Object.keys(stories)} />);
  }
}

function Index({ names }: { readonly names: readonly string[] }) {
  return (
    <ul>
      {names.map((name) => (
        <li key={name}>
          {name}: <a href={`?story=${name}&lang=en`}>English</a>{" "}
          <a href={`?story=${name}&lang=ja`}>日本語</a>
        </li>
      ))}
    </ul>
  );
}
