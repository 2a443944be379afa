// How much of the devices researchers and projects get, and which projects lend theirs (R70). Page thread.

import { shownName } from "../../ui/shown_name.ts";
import type { ShareRow } from "../model/rows.ts";
import { Pairs } from "../pairs.tsx";
import { Field, type Props } from "./parts.tsx";
import { shareOf } from "./share_form.ts";

const MOST_WEIGHT = 1000;

function Share({ store, share }: Props & { readonly share: ShareRow }) {
  const words = store.words.value.operate;
  const format = store.format.value;
  const lent = share.lends.map((name) => (name === "*" ? words.everyProject : shownName(name)));
  const lends: [string, string] = [words.lends, lent.join(", ") || words.lendsNothing];
  return (
    <li class="stack" data-share={share.scope}>
      <h3>{`${words.scopes[share.scope]}: ${shownName(share.name)}`}</h3>
      <Pairs
        rows={[
          [words.weight, share.weight === null ? words.usualWeight : format.value(share.weight)],
          [words.guaranteed, format.value(share.guaranteed)],
          ...(share.scope === "project" ? [lends] : []),
        ]}
      />
    </li>
  );
}

export function Shares({ store, shares }: Props & { readonly shares: readonly ShareRow[] }) {
  const words = store.words.value.operate;
  return (
    <section class="card stack">
      <h2 tabIndex={-1}>{words.shares}</h2>
      <p class="quiet">{words.sharesNote}</p>
      {shares.length === 0 ? (
        <p class="quiet">{words.noShares}</p>
      ) : (
        <ul class="stack">
          {shares.map((share) => (
            <Share key={`${share.scope} ${share.name}`} store={store} share={share} />
          ))}
        </ul>
      )}
      <form
        class="stack"
        aria-label={words.setShare}
        onSubmit={(event) => {
          event.preventDefault();
          const share = shareOf(new FormData(event.currentTarget));
          void store.operate(
            (api) => api.setShare(share),
            (texts) => texts.operate.done.shareSet,
          );
        }}
      >
        <div class="fields">
          <Field id="share-scope" label={words.scope}>
            {(described) => (
              <select {...described} name="scope" class="field">
                {(["researcher", "project"] as const).map((scope) => (
                  <option key={scope} value={scope}>
                    {words.scopes[scope]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field id="share-name" label={words.name}>
            {(described) => <input {...described} name="name" class="field" required />}
          </Field>
          <Field id="share-weight" label={words.weight} hint={words.weightHint}>
            {(described) => (
              <input
                {...described}
                name="weight"
                class="field"
                type="number"
                min={1}
                max={MOST_WEIGHT}
                step={1}
              />
            )}
          </Field>
          <Field id="share-guaranteed" label={words.guaranteed} hint={words.guaranteedHint}>
            {(described) => (
              <input
                {...described}
                name="guaranteed"
                class="field"
                type="number"
                min={0}
                step={1}
              />
            )}
          </Field>
          <Field id="share-lends" label={words.lends} hint={words.lendsHint}>
            {(described) => <textarea {...described} name="lends" class="field" rows={2} />}
          </Field>
        </div>
        <div class="button-row">
          <button
            type="submit"
            class="button button-quiet button-small"
            data-action="set_share"
            aria-disabled={store.busy.value}
          >
            {words.setShare}
          </button>
        </div>
      </form>
    </section>
  );
}
