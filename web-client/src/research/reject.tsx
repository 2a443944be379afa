// A button that rejects results, and bans their device if the reader wants that. Page thread.

import { useState } from "preact/hooks";
import { Ask } from "./ask.tsx";
import type { Selection } from "./model/rows.ts";
import type { ResearchStore } from "./research_store.ts";

interface Props {
  readonly store: ResearchStore;
  readonly which: Selection;
  /** Whether the button looks like a link, because a list has one for each item. */
  readonly isLink?: boolean;
}

/** Rejects attempts of the study after a confirmation. */
export function Reject({ store, which, isLink = false }: Props) {
  const words = store.words.value.trial;
  const [isOpen, setIsOpen] = useState(false);
  const { device } = which;
  const action = device === undefined ? "reject_trial" : "reject_device";
  const onYes = (form: FormData) => {
    const reason = String(form.get("reason") ?? "").trim();
    const bans = device !== undefined && form.get("ban") !== null;
    void (bans ? store.banDevice(device, reason) : store.reject(which, reason));
  };
  return (
    <>
      <button
        type="button"
        class={`button button-quiet button-small ${isLink ? "button-link" : ""}`}
        data-action={action}
        aria-disabled={store.busy.value}
        onClick={() => setIsOpen(true)}
      >
        {device === undefined ? words.rejectTrial : words.rejectDevice}
      </button>
      {isOpen ? (
        <Ask
          store={store}
          action={action}
          title={device === undefined ? words.rejectTrialTitle : words.rejectDeviceTitle}
          no={words.rejectNo}
          yes={words.rejectYes}
          onYes={onYes}
          onClose={() => setIsOpen(false)}
          fields={
            <>
              {device === undefined ? null : (
                <label class="switch">
                  <input type="checkbox" name="ban" />
                  <span>{words.rejectBan}</span>
                </label>
              )}
              <div>
                <label class="field-label" for={`${action}-reason`}>
                  {words.rejectReason}
                </label>
                <input id={`${action}-reason`} name="reason" class="field" maxLength={500} />
              </div>
            </>
          }
        >
          <p>{words.rejectText}</p>
          <p>{words.rejectElsewhere}</p>
          <p>{words.rejectKept}</p>
        </Ask>
      ) : null}
    </>
  );
}
