// The button that shares a card of what was given: by the system's dialogue where there is one, else as a file. Page thread.

import { useSignal } from "@preact/signals";
import type { Dictionary } from "../../i18n/dictionary.ts";
import { saveFile } from "../../ui/browser.ts";
import type { GivenView } from "../given/given_view.ts";
import { type Card, cardOf } from "./card.ts";

interface Props {
  readonly view: GivenView;
  readonly words: Dictionary["given"];
}

const FILE_NAME = "hyperflock.png";

/** Returns how the card went out; "left" if the person closed the dialogue. */
async function share(card: Card): Promise<"saved" | "left"> {
  const { pictureOf } = await import("./draw_card.ts");
  const picture = await pictureOf(card);
  const files = [new File([picture], FILE_NAME, { type: picture.type })];
  // A desktop's dialogue often has no place for a picture, so there the file is more use.
  if (navigator.maxTouchPoints > 0 && navigator.canShare?.({ files }) === true) {
    try {
      await navigator.share({ files });
      return "left";
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return "left";
    }
  }
  saveFile(FILE_NAME, picture);
  return "saved";
}

export function CardButton({ view, words }: Props) {
  const outcome = useSignal<"none" | "saved" | "left" | "failed">("none");
  const card = cardOf(view, words);
  if (card === null) {
    return null;
  }
  const onClick = async () => {
    outcome.value = "none";
    outcome.value = await share(card).catch(() => "failed" as const);
  };
  return (
    <div class="card-offer">
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="share_card"
        onClick={() => void onClick()}
      >
        {words.card.make}
      </button>
      <p role="status">
        {outcome.value === "saved" ? words.card.saved : null}
        {outcome.value === "failed" ? words.card.failed : null}
      </p>
    </div>
  );
}
