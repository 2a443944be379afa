// The limits as the page shows them, and how this browser remembers them. Pure; page thread.

import { type Limits, limitsOf, NO_LIMITS } from "@hyperflock/worker-runtime/limits";
import type { Cooling, PausingRule, TooMuchData } from "@hyperflock/worker-runtime/page";
import type { Notice } from "../i18n/dictionary.ts";
import type { Formatter } from "../i18n/format.ts";
import type { KeyValueStore } from "../i18n/language.ts";
import type { LimitsWords, LimitValues } from "../i18n/limits_words.ts";
import { shownName } from "../ui/shown_name.ts";

const STORAGE_KEY = "hyperflock.limits";

/** Returns the stored limits; none if none are stored or storage is forbidden. */
export function rememberedLimits(store: KeyValueStore): Limits {
  try {
    return limitsOf(JSON.parse(store.getItem(STORAGE_KEY) ?? "null"));
  } catch {
    return NO_LIMITS;
  }
}

export function rememberLimits(store: KeyValueStore, limits: Limits): void {
  try {
    store.setItem(STORAGE_KEY, JSON.stringify(limits));
  } catch {
    // Storage is forbidden, so the choice lasts only as long as the page.
  }
}

/** Returns a full hour as clocks show it, such as 9:00. */
export function hourText(hour: number): string {
  return `${hour}:00`;
}

function valuesOf(limits: Limits, format: Formatter): LimitValues {
  const { batteryFloor, hours, minutesADay, dataADay, dataAStudy } = limits;
  return {
    dataADay: format.size(dataADay ?? 0),
    dataAStudy: format.size(dataAStudy ?? 0),
    percent: format.percent((batteryFloor ?? 0) / 100),
    from: hourText(hours?.from ?? 0),
    until: hourText(hours?.until ?? 0),
    minutes: format.minutes(minutesADay ?? 0),
  };
}

/** Returns the sentence about the limit that pauses this device. */
export function pausedNotice(
  rule: PausingRule,
  limits: Limits,
  words: LimitsWords,
  format: Formatter,
): Notice {
  return words.paused[rule](valuesOf(limits, format));
}

/** Returns the sentence about the rests of the processor. */
export function coolingNotice(
  { cause, share }: Cooling,
  { processorShare }: Limits,
  words: LimitsWords,
  format: Formatter,
): Notice {
  return words.cooling[cause](format.percent(share * processorShare));
}

/** Returns why a study was not taken, and what would change it. */
export function refusedText(
  { study, rule, bytes }: TooMuchData & { readonly study: string },
  limits: Limits,
  words: LimitsWords,
  format: Formatter,
): string {
  const { dataADay, dataAStudy } = valuesOf(limits, format);
  const limit = rule === "day" ? dataADay : dataAStudy;
  return words.refused[rule](shownName(study), format.size(bytes), limit);
}

/** Returns the limits in few words. A limit that this browser cannot keep is left out. */
export function limitsSummary(limits: Limits, words: LimitsWords, format: Formatter): string {
  const values = valuesOf(limits, format);
  const set: readonly (readonly [PausingRule, boolean])[] = [
    ["not_charging", limits.onlyCharging],
    ["battery_low", limits.batteryFloor !== null],
    ["metered", limits.onlyUnmetered],
    ["outside_hours", limits.hours !== null],
    ["minutes_used", limits.minutesADay !== null],
    ["data_used", limits.dataADay !== null],
  ];
  const parts = set.filter(([, isSet]) => isSet).map(([rule]) => words.short[rule](values));
  if (limits.dataAStudy !== null) parts.push(words.shortStudy(values.dataAStudy));
  return parts.length === 0 ? words.none : format.list(parts);
}
