// Lets the volunteer say when this device computes. It offers only what this browser can notice. Page thread.

import {
  BATTERY_FLOORS,
  DATA_A_DAY,
  DATA_A_STUDY,
  type Limits,
  MINUTES_A_DAY,
  PROCESSOR_SHARES,
} from "@hyperflock/worker-runtime/limits";
import { useEffect, useRef } from "preact/hooks";
import type { JoinStore } from "./join_store.ts";
import { hourText, limitsSummary } from "./limits_view.ts";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
/** What the hours are at first, when the volunteer chooses a beginning. */
const NIGHT_ENDS = 7;

interface SwitchProps {
  readonly name: string;
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

function Switch({ name, label, checked, onChange }: SwitchProps) {
  return (
    <label class="limit-switch">
      <input
        type="checkbox"
        name={name}
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

interface SelectProps<Value extends number> {
  readonly name: string;
  readonly label: string;
  readonly value: Value | null;
  /** The choice for null; without it, null is no choice. */
  readonly none?: string;
  readonly choices: readonly Value[];
  readonly text: (choice: Value) => string;
  readonly onChange: (value: Value | null) => void;
}

function Select<Value extends number>({
  name,
  label,
  value,
  none,
  choices,
  text,
  onChange,
}: SelectProps<Value>) {
  return (
    <label class="limit-select">
      <span>{label}</span>
      <select
        name={name}
        onChange={(event) => {
          const chosen = Number(event.currentTarget.value || Number.NaN);
          onChange(choices.find((choice) => choice === chosen) ?? null);
        }}
      >
        {none === undefined ? null : (
          <option value="" selected={value === null}>
            {none}
          </option>
        )}
        {choices.map((choice) => (
          <option key={choice} value={choice} selected={choice === value}>
            {text(choice)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function LimitsPanel({ store }: { readonly store: JoinStore }) {
  const words = store.words.value.limits;
  const format = store.format.value;
  const limits = store.limits.value;
  const isShown = store.maySetLimits.value;
  const wasUsed = useRef(false);
  // A choice that ends a pause takes these controls away, so the keyboard's focus moves to the state's heading.
  useEffect(() => {
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (!isShown && wasUsed.current && lost) {
      document.getElementById("state")?.focus();
    }
    wasUsed.current = false;
  }, [isShown]);
  if (!isShown) {
    return null;
  }
  const set = (change: Partial<Limits>) => {
    wasUsed.current = true;
    store.setLimits({ ...limits, ...change });
  };
  const { hours } = limits;
  return (
    <details class="limits">
      <summary>
        <span>
          {words.heading}
          <span class="limits-now">{limitsSummary(limits, words, format)}</span>
        </span>
      </summary>
      <div class="limits-list">
        {store.reports.battery ? (
          <Switch
            name="only_charging"
            label={words.onlyCharging}
            checked={limits.onlyCharging}
            onChange={(onlyCharging) => set({ onlyCharging })}
          />
        ) : null}
        {store.reports.connection ? (
          <Switch
            name="only_unmetered"
            label={words.onlyUnmetered}
            checked={limits.onlyUnmetered}
            onChange={(onlyUnmetered) => set({ onlyUnmetered })}
          />
        ) : null}
        {store.reports.battery ? (
          <Select
            name="battery_floor"
            label={words.batteryFloor}
            value={limits.batteryFloor}
            none={words.noFloor}
            choices={BATTERY_FLOORS}
            text={(floor) => words.floor(format.percent(floor / 100))}
            onChange={(batteryFloor) => set({ batteryFloor })}
          />
        ) : null}
        <fieldset class="limit-hours">
          <legend>{words.hours}</legend>
          <Select
            name="from"
            label={words.from}
            value={hours?.from ?? null}
            none={words.anyHour}
            choices={HOURS}
            text={hourText}
            onChange={(from) => {
              const end = hours?.until ?? NIGHT_ENDS;
              const until = end === from ? (end + 1) % 24 : end;
              set({ hours: from === null ? null : { from, until } });
            }}
          />
          {hours === null ? null : (
            <Select
              name="until"
              label={words.until}
              value={hours.until}
              choices={HOURS.filter((hour) => hour !== hours.from)}
              text={hourText}
              onChange={(until) => set({ hours: { from: hours.from, until: until ?? 0 } })}
            />
          )}
        </fieldset>
        <Select
          name="minutes_a_day"
          label={words.minutesADay}
          value={limits.minutesADay}
          none={words.noEnd}
          choices={MINUTES_A_DAY}
          text={(minutes) => words.minutes(format.minutes(minutes))}
          onChange={(minutesADay) => set({ minutesADay })}
        />
        <Select
          name="data_a_day"
          label={words.dataADay}
          value={limits.dataADay}
          none={words.anyData}
          choices={DATA_A_DAY}
          text={(bytes) => words.data(format.size(bytes))}
          onChange={(dataADay) => set({ dataADay })}
        />
        <Select
          name="data_a_study"
          label={words.dataAStudy}
          value={limits.dataAStudy}
          none={words.anyData}
          choices={DATA_A_STUDY}
          text={(bytes) => words.data(format.size(bytes))}
          onChange={(dataAStudy) => set({ dataAStudy })}
        />
        <Select
          name="processor_share"
          label={words.processor}
          value={limits.processorShare}
          choices={PROCESSOR_SHARES}
          text={(share) => words.processorShares[share]}
          onChange={(share) => set({ processorShare: share ?? 1 })}
        />
        <p class="limits-hint">{words.hint}</p>
      </div>
    </details>
  );
}
