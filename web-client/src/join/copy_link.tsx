// The join link once more, to be opened in another browser. Page thread.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Dictionary } from "../i18n/dictionary.ts";

interface Props {
  readonly link: string;
  readonly words: Dictionary["actions"];
  readonly weight: "button-main" | "button-quiet";
}

/** In-app browsers often lack the clipboard interface: then the old command, then the volunteer's hand. */
async function copy(field: HTMLInputElement): Promise<boolean> {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

export function CopyLink({ link, words, weight }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const outcome = useSignal<"none" | "copied" | "by_hand">("none");
  const onClick = async () => {
    if (field.current !== null) {
      outcome.value = (await copy(field.current)) ? "copied" : "by_hand";
    }
  };
  return (
    <div class="copy-link">
      <input
        ref={field}
        class="copy-field"
        readOnly
        value={link}
        aria-label={words.linkLabel}
        spellcheck={false}
      />
      <button type="button" class={`button ${weight}`} data-action="copy_link" onClick={onClick}>
        {words.copyLink}
      </button>
      <p class="copy-outcome" role="status">
        {outcome.value === "copied" ? words.copied : null}
        {outcome.value === "by_hand" ? words.copyByHand : null}
      </p>
    </div>
  );
}
