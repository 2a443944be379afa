// A join link for opening elsewhere, with a button that copies it. Page thread.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

export interface CopyWords {
  readonly copyLink: string;
  readonly copied: string;
  readonly copyByHand: string;
  readonly linkLabel: string;
}

interface Props {
  readonly link: string;
  readonly words: CopyWords;
  readonly weight: "button-main" | "button-quiet";
}

/**
 * Copies the field's text and returns whether this succeeded. Browsers inside apps often lack `navigator.clipboard`, so
 * `document.execCommand` is tried next. If it fails too, the page asks the volunteer to copy by hand.
 */
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
