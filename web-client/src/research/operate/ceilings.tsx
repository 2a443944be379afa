// The limits of the server, of projects and of researchers (R68). Page thread.

import { shownName } from "../../ui/shown_name.ts";
import type { CeilingRow } from "../model/rows.ts";
import { Pairs } from "../pairs.tsx";
import { ceilingOf } from "./ceiling_form.ts";
import { Field, type Props } from "./parts.tsx";

/** The steps of the fields: devices are whole. */
const STEPS = { minutes: "any", devices: 1, megabytes: "any" } as const;

function Ceiling({ store, ceiling }: Props & { readonly ceiling: CeilingRow }) {
  const words = store.words.value.operate;
  const format = store.format.value;
  const { approval } = ceiling;
  const text = (value: number | null, factor: number) => {
    if (value === null) {
      return words.unset;
    }
    return value === 0 ? words.noLimit : format.value(value / factor);
  };
  const unset = approval ? words.approvals.yes : words.approvals.no;
  const scope = words.scopes[ceiling.scope];
  return (
    <li class="stack" data-ceiling={ceiling.scope}>
      <h3>{ceiling.name === undefined ? scope : `${scope}: ${shownName(ceiling.name)}`}</h3>
      <Pairs
        rows={[
          [words.minutes, text(ceiling.timeLimitMs, 60_000)],
          [words.devices, text(ceiling.devices, 1)],
          [words.megabytes, text(ceiling.dataBytes, 1_000_000)],
          [words.approval, approval === null ? words.unset : unset],
        ]}
      />
    </li>
  );
}

export function Ceilings({
  store,
  ceilings,
}: Props & { readonly ceilings: readonly CeilingRow[] }) {
  const words = store.words.value.operate;
  return (
    <section class="card stack">
      <h2 tabIndex={-1}>{words.ceilings}</h2>
      <p class="quiet">{words.ceilingsNote}</p>
      <ul class="stack">
        {ceilings.map((ceiling) => (
          <Ceiling key={`${ceiling.scope} ${ceiling.name}`} store={store} ceiling={ceiling} />
        ))}
      </ul>
      <form
        class="stack"
        aria-label={words.set}
        onSubmit={(event) => {
          event.preventDefault();
          const ceiling = ceilingOf(new FormData(event.currentTarget));
          void store.operate(
            (api) => api.setCeiling(ceiling),
            (texts) => texts.operate.done.ceilingSet,
          );
        }}
      >
        <div class="fields">
          <Field id="scope" label={words.scope}>
            {(described) => (
              <select {...described} name="scope" class="field">
                {(["server", "project", "researcher"] as const).map((scope) => (
                  <option key={scope} value={scope}>
                    {words.scopes[scope]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field id="name" label={words.name} hint={words.nameHint}>
            {(described) => <input {...described} name="name" class="field" />}
          </Field>
          <Field id="minutes" label={words.minutes}>
            {(described) => (
              <input
                {...described}
                name="minutes"
                class="field"
                type="number"
                min={0}
                step={STEPS.minutes}
              />
            )}
          </Field>
          <Field id="devices" label={words.devices}>
            {(described) => (
              <input
                {...described}
                name="devices"
                class="field"
                type="number"
                min={0}
                step={STEPS.devices}
              />
            )}
          </Field>
          <Field id="megabytes" label={words.megabytes}>
            {(described) => (
              <input
                {...described}
                name="megabytes"
                class="field"
                type="number"
                min={0}
                step={STEPS.megabytes}
              />
            )}
          </Field>
          <Field id="approval" label={words.approval}>
            {(described) => (
              <select {...described} name="approval" class="field">
                <option value="">{words.approvals.unset}</option>
                <option value="yes">{words.approvals.yes}</option>
                <option value="no">{words.approvals.no}</option>
              </select>
            )}
          </Field>
        </div>
        <div class="button-row">
          <button
            type="submit"
            class="button button-quiet button-small"
            data-action="set_ceiling"
            aria-disabled={store.busy.value}
          >
            {words.set}
          </button>
        </div>
      </form>
    </section>
  );
}
