// A button that opens the form of a person's quota. Page thread.

import { useState } from "preact/hooks";
import { shownName } from "../../ui/shown_name.ts";
import { Ask } from "../ask.tsx";
import type { PersonRow } from "../model/rows.ts";
import { Action, Field, type Props } from "./parts.tsx";
import { changedQuota, type Quota, quotaTexts } from "./quota_form.ts";

interface QuotaProps extends Props {
  readonly person: PersonRow;
  /** Called with the limits that were changed, if there are some. */
  readonly onQuota: (quota: Partial<Quota>) => void;
}

export function QuotaButton({ store, person, onQuota }: QuotaProps) {
  const words = store.words.value.operate;
  const { quota } = words.people;
  const [isOpen, setIsOpen] = useState(false);
  const name = shownName(person.name);
  const texts = quotaTexts(person.quota);
  return (
    <>
      <Action
        store={store}
        action="quota"
        label={quota.change}
        about={name}
        onClick={() => setIsOpen(true)}
      />
      {isOpen ? (
        <Ask
          store={store}
          action="quota"
          title={quota.title(name)}
          no={words.no}
          yes={quota.set}
          isDangerous={false}
          onClose={() => setIsOpen(false)}
          onYes={(form) => {
            const changed = changedQuota(form, person.quota);
            if (Object.keys(changed).length > 0) {
              onQuota(changed);
            }
          }}
          fields={(["studies", "trials", "bytes"] as const).map((limit) => (
            <Field key={limit} id={`quota-${limit}`} label={quota.fields[limit]}>
              {(described) => (
                <input
                  {...described}
                  name={limit}
                  class="field"
                  type="number"
                  inputMode="decimal"
                  min={0}
                  step={limit === "bytes" ? "any" : 1}
                  defaultValue={texts[limit]}
                />
              )}
            </Field>
          ))}
        >
          <p>{quota.text}</p>
        </Ask>
      ) : null}
    </>
  );
}
