// Night mode: a dark page with a dim clock, for a device that computes beside a bed. A tap or the key Escape ends it. The
// page stays visible, so computing goes on. Page thread.

import { useEffect, useRef, useState } from "preact/hooks";
import type { JoinStore } from "./join_store.ts";

/** The clock has minutes, and moves a little with each, so that no picture burns into the screen. */
const LOOK_MS = 5_000;
const PLACES = 5;

export interface NightClock {
  /** Returns the time in the device's calendar. */
  readonly date: () => Date;
  /** Calls `tick` about every `ms` milliseconds until the returned function is called. */
  readonly every: (ms: number, tick: () => void) => () => void;
}

interface Props {
  readonly store: JoinStore;
  readonly clock: NightClock;
}

export function Night({ store, clock }: Props) {
  const words = store.words.value.app.night;
  const [isOn, setOn] = useState(false);
  return (
    <div class="night-row">
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="night"
        onClick={() => setOn(true)}
      >
        {words.begin}
      </button>
      {isOn ? <NightPage store={store} clock={clock} onEnd={() => setOn(false)} /> : null}
    </div>
  );
}

function NightPage({ store, clock, onEnd }: Props & { readonly onEnd: () => void }) {
  const words = store.words.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const [now, setNow] = useState(clock.date());
  useEffect(() => clock.every(LOOK_MS, () => setNow(clock.date())), [clock]);
  useEffect(() => dialog.current?.showModal(), []);
  const minute = now.getMinutes();
  const time = new Intl.DateTimeFormat(words.tag, { hour: "numeric", minute: "2-digit" });
  const { title, trial } = store.panel.value;
  return (
    <dialog class="night" ref={dialog} aria-label={words.app.night.label} onClose={onEnd}>
      <button
        type="button"
        class="night-end"
        data-action="night_end"
        onClick={() => dialog.current?.close()}
      >
        <span class={`night-face night-place-${minute % PLACES}`}>
          <time class="night-time">{time.format(now)}</time>
          <span>{trial === null ? title : `${title} · ${trial.counter}`}</span>
          <span>{words.app.night.end}</span>
        </span>
      </button>
    </dialog>
  );
}
