// Code and data of which no study may run (R67). Page thread.

import { useRef, useState } from "preact/hooks";
import { Ask } from "../ask.tsx";
import type { BarredRow } from "../model/rows.ts";
import { visibleText } from "../model/visible_text.ts";
import { Action, Field, type Props } from "./parts.tsx";

function Bar({ store }: Props) {
  const words = store.words.value.operate;
  const form = useRef<HTMLFormElement>(null);
  /** What the dialog asks about; null while it is closed. */
  const [hash, setHash] = useState<string | null>(null);
  const bar = async (sha256: string, reason: string) => {
    const isBarred = await store.operate(
      (api) => api.bar(sha256, reason),
      (texts) => texts.operate.done.barred,
    );
    if (isBarred) {
      form.current?.reset();
    }
  };
  return (
    <>
      <form
        class="stack"
        ref={form}
        aria-label={words.bar}
        onSubmit={(event) => {
          event.preventDefault();
          setHash(String(new FormData(event.currentTarget).get("sha256")).trim());
        }}
      >
        <Field id="sha256" label={words.sha256} hint={words.sha256Hint}>
          {(described) => (
            <input
              {...described}
              name="sha256"
              class="field"
              required
              pattern="\s*[0-9a-f]{64}\s*"
              spellcheck={false}
            />
          )}
        </Field>
        <div class="button-row">
          <button
            type="submit"
            class="button button-quiet button-small"
            data-action="bar"
            aria-disabled={store.busy.value}
          >
            {words.bar}
          </button>
        </div>
      </form>
      {hash === null ? null : (
        <Ask
          store={store}
          action="bar"
          title={words.ask.bar.title}
          no={words.no}
          yes={words.bar}
          onYes={(given) => void bar(hash, String(given.get("reason") ?? "").trim())}
          onClose={() => setHash(null)}
          fields={
            <Field id="bar-reason" label={words.reason} hint={words.reasonHint}>
              {(described) => <input {...described} name="reason" class="field" maxLength={500} />}
            </Field>
          }
        >
          <p>{words.ask.bar.text}</p>
          <code class="breaks">{hash}</code>
        </Ask>
      )}
    </>
  );
}

export function Barred({ store, barred }: Props & { readonly barred: readonly BarredRow[] }) {
  const words = store.words.value.operate;
  const { held } = store.words.value;
  return (
    <section class="card stack">
      <h2 tabIndex={-1}>{words.barred}</h2>
      {barred.length === 0 ? (
        <p class="quiet">{words.noneBarred}</p>
      ) : (
        <ul class="entries">
          {barred.map(({ sha256, reason }) => (
            <li key={sha256} class="entry" data-barred={sha256}>
              <div>
                <code class="breaks">{sha256}</code>
                {reason === "" ? null : <p class="quiet">{held.reason(visibleText(reason))}</p>}
              </div>
              <div class="button-row">
                <Action
                  store={store}
                  action="lift"
                  label={words.lift}
                  about={sha256}
                  onClick={() =>
                    void store.operate(
                      (api) => api.lift(sha256),
                      (texts) => texts.operate.done.lifted,
                    )
                  }
                />
              </div>
            </li>
          ))}
        </ul>
      )}
      <Bar store={store} />
    </section>
  );
}
