// The text of the card that a volunteer may share. It has the numbers of the table and the projects' names, and nothing
// about the device, the person, the server or the time. Pure.

import type { Dictionary } from "../../i18n/dictionary.ts";
import type { GivenView } from "../given/given_view.ts";

export interface Card {
  readonly heading: string;
  /** The largest text. */
  readonly time: string;
  readonly project: string;
  /** Each with its label. */
  readonly numbers: readonly (readonly [value: string, label: string])[];
}

/** Returns the card of what was given in all. */
export function cardOf(view: GivenView, words: Dictionary["given"]): Card | null {
  const all = view.spans.at(-1);
  const [name] = view.names;
  if (all === undefined || name === undefined) {
    return null;
  }
  return {
    heading: words.card.heading,
    time: all.time,
    project:
      view.names.length === 1
        ? words.card.project(name)
        : words.card.projects(String(view.names.length)),
    numbers: [
      [all.trials, words.trials],
      [all.improved, words.improved],
    ],
  };
}
