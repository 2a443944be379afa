// Two quiet notes below the panel: a new version is ready, and the page can get an icon on the home screen. Page thread.

import type { ReadonlySignal } from "@preact/signals";
import type { InstallHint } from "./install_hint.ts";
import type { AppWords } from "./words.ts";

export interface AppNotesProps {
  readonly words: AppWords;
  readonly hasNewVersion: ReadonlySignal<boolean>;
  readonly install: InstallHint;
  readonly reload: () => void;
  /** Whether nothing is joined or computed, so that a reload interrupts nothing. */
  readonly isResting: boolean;
  /** Whether this device takes part, so that there is something to come back to. */
  readonly takesPart: boolean;
}

export function AppNotes({
  words,
  hasNewVersion,
  install,
  reload,
  isResting,
  takesPart,
}: AppNotesProps) {
  const way = takesPart ? install.way.value : "none";
  return (
    <>
      {hasNewVersion.value && isResting ? (
        <div class="app-note" data-note="new_version">
          <p>
            <strong>{words.newVersion.title}</strong>
            <span>{words.newVersion.text}</span>
          </p>
          <button
            type="button"
            class="button button-quiet button-small"
            data-action="reload"
            onClick={reload}
          >
            {words.reload}
          </button>
        </div>
      ) : null}
      {way === "none" ? null : (
        <div class="app-note" data-note="install">
          <p>
            <strong>{words.install.title}</strong>
            <span>{words.install.text}</span>
          </p>
          {way === "ios" ? (
            <ol class="steps">
              {words.iosSteps.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
          ) : null}
          <div class="more-actions">
            {way === "button" ? (
              <button
                type="button"
                class="button button-quiet button-small"
                data-action="install"
                onClick={() => void install.accept()}
              >
                {words.add}
              </button>
            ) : null}
            <button
              type="button"
              class="button button-quiet button-small"
              data-action="install_dismiss"
              onClick={() => install.dismiss()}
            >
              {words.notNow}
            </button>
          </div>
        </div>
      )}
    </>
  );
}
