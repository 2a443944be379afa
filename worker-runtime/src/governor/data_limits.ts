// Decides whether a study's files may be fetched, from the volunteer's limits on data. Pure; agent thread.

/** What may still be fetched, in bytes. null: no limit. */
export interface DataLimits {
  /** The most that one study may fetch. */
  readonly study: number | null;
  /** What is left of the limit for one day. */
  readonly dayLeft: number | null;
}

/** Why a study was not taken. */
export interface TooMuchData {
  readonly rule: "study" | "day";
  /** The bytes that the study would fetch. */
  readonly bytes: number;
}

export const NO_DATA_LIMITS: DataLimits = { study: null, dayLeft: null };

/** Returns why a study may not fetch so many bytes; null if it may. A study that fetches nothing always may. */
export function tooMuchData(bytes: number, limits: DataLimits): TooMuchData | null {
  if (bytes === 0) return null;
  if (limits.study !== null && bytes > limits.study) return { rule: "study", bytes };
  return limits.dayLeft !== null && bytes > limits.dayLeft ? { rule: "day", bytes } : null;
}

/** Whether something may be fetched now that might not be fetched before. */
export function allowsMore(before: DataLimits, now: DataLimits): boolean {
  const grew = (from: number | null, to: number | null) =>
    from !== null && (to === null || to > from);
  return grew(before.study, now.study) || grew(before.dayLeft, now.dayLeft);
}
