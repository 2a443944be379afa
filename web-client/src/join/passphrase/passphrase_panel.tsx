// The folded part about the passphrase. What it shows is fetched when it is opened. Page thread.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Formatter } from "../../i18n/format.ts";
import type { VolunteerLanguage } from "../../i18n/language.ts";
import type { PassphraseContent } from "./passphrase_content.tsx";
import type { PassphrasePart } from "./passphrase_part.ts";

interface Props {
  readonly part: PassphrasePart;
  readonly language: VolunteerLanguage;
  readonly format: Formatter;
  readonly summary: string;
  /** Said if the part could not be fetched. */
  readonly failed: string;
}

interface Fetched {
  readonly Content: typeof PassphraseContent;
  readonly words: Parameters<typeof PassphraseContent>[0]["words"];
}

async function fetchContent(language: VolunteerLanguage): Promise<Fetched> {
  const [{ PassphraseContent: Content }, { fetchPassphraseWords }] = await Promise.all([
    import("./passphrase_content.tsx"),
    import("../../i18n/passphrase/words.ts"),
  ]);
  return { Content, words: await fetchPassphraseWords[language]() };
}

export function PassphrasePanel({ part, language, format, summary, failed }: Props) {
  const isOpen = useSignal(false);
  const fetched = useSignal<Fetched | "failed" | null>(null);
  useEffect(() => {
    if (!isOpen.value) {
      return;
    }
    let isWanted = true;
    void Promise.all([fetchContent(language), part.load()]).then(
      ([content, store]) => {
        if (isWanted) fetched.value = store === null ? "failed" : content;
      },
      () => {
        if (isWanted) fetched.value = "failed";
      },
    );
    return () => {
      isWanted = false;
    };
  }, [isOpen.value, language, part, fetched]);
  const shown = fetched.value;
  const store = part.store.value;
  return (
    <details
      class="privacy passphrase"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>{summary}</summary>
      {shown === "failed" ? <p role="status">{failed}</p> : null}
      {shown === null || shown === "failed" || store === null ? null : (
        <shown.Content store={store} words={shown.words} format={format} />
      )}
    </details>
  );
}
