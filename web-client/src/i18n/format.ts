// Writes numbers, sizes and durations in a language, with Intl. Page thread; pure.

import { jsonTree, readableJson } from "./json_tree.ts";

/** The greatest length of a parameter's value on the page, in characters. */
const PARAM_CHARS = 60;

export class Formatter {
  readonly tag: string;
  readonly #integer: Intl.NumberFormat;
  readonly #percent: Intl.NumberFormat;
  readonly #megabyte: Intl.NumberFormat;
  readonly #sizes: readonly Intl.NumberFormat[];
  readonly #metric: Intl.NumberFormat;
  readonly #scientific: Intl.NumberFormat;
  readonly #value: Intl.NumberFormat;
  readonly #scientificValue: Intl.NumberFormat;
  readonly #list: Intl.ListFormat;
  readonly #time: Intl.DateTimeFormat;
  readonly #shortTime: Intl.DateTimeFormat;
  readonly #clock: Intl.DateTimeFormat;
  readonly #units: Readonly<Record<"hour" | "minute" | "second", Intl.NumberFormat>>;

  constructor(tag: string) {
    this.tag = tag;
    this.#integer = new Intl.NumberFormat(tag, { maximumFractionDigits: 0 });
    this.#percent = new Intl.NumberFormat(tag, { style: "percent", maximumFractionDigits: 0 });
    this.#megabyte = new Intl.NumberFormat(tag, {
      style: "unit",
      unit: "megabyte",
      unitDisplay: "short",
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    });
    const size = (unit: string) =>
      new Intl.NumberFormat(tag, {
        style: "unit",
        unit,
        unitDisplay: "short",
        maximumSignificantDigits: 3,
      });
    this.#sizes = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"].map(size);
    this.#metric = new Intl.NumberFormat(tag, { maximumSignificantDigits: 4 });
    this.#scientific = new Intl.NumberFormat(tag, {
      notation: "scientific",
      maximumSignificantDigits: 3,
    });
    this.#value = new Intl.NumberFormat(tag, { maximumSignificantDigits: 7 });
    this.#scientificValue = new Intl.NumberFormat(tag, {
      notation: "scientific",
      maximumSignificantDigits: 7,
    });
    // In a list of the type "unit", Japanese would have spaces between the parts, which it does not
    // use, and Chinese would have nothing between them.
    const type = /^(ja|zh)\b/.test(tag) ? "conjunction" : "unit";
    this.#list = new Intl.ListFormat(tag, { type });
    this.#time = new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short" });
    this.#shortTime = new Intl.DateTimeFormat(tag, {
      month: "short",
      day: "numeric",
      hour: "numeric",
      minute: "2-digit",
    });
    this.#clock = new Intl.DateTimeFormat(tag, { hour: "numeric", minute: "2-digit" });
    const unit = (name: string) =>
      new Intl.NumberFormat(tag, {
        style: "unit",
        unit: name,
        unitDisplay: "short",
        maximumFractionDigits: 0,
      });
    this.#units = { hour: unit("hour"), minute: unit("minute"), second: unit("second") };
  }

  /** Joins the parts as a list in the language, such as "a, b, and c". */
  list(parts: readonly string[]): string {
    return this.#list.format(parts);
  }

  integer(value: number): string {
    return this.#integer.format(value);
  }

  /** Returns a part of 1 in full percent: `30%`. */
  percent(part: number): string {
    return this.#percent.format(part);
  }

  /** Returns minutes in the largest unit that leaves no rest: `30 min`, `2 hr`. */
  minutes(minutes: number): string {
    const { hour, minute } = this.#units;
    return minutes % 60 === 0 ? hour.format(minutes / 60) : minute.format(minutes);
  }

  /** Returns a size in megabytes of 10^6 bytes, with one digit after the point. */
  bytes(bytes: number): string {
    return this.#megabyte.format(Math.max(0, bytes) / 1e6);
  }

  /** Returns a size in a suitable unit, from `812 byte` and `3.4 kB` to `1.2 TB`; units of 1000. */
  size(bytes: number): string {
    let value = Math.max(0, bytes);
    let at = 0;
    while (value >= 1_000 && at < this.#sizes.length - 1) {
      value /= 1_000;
      at += 1;
    }
    return this.#sizes[at]?.format(value) ?? "";
  }

  /** Returns a duration in its two largest units: `8 sec`, `3 min 5 sec`, `2 hr 14 min`. */
  duration(ms: number): string {
    const seconds = Math.max(0, Math.floor(ms / 1000));
    const hours = Math.floor(seconds / 3600);
    const minutes = Math.floor(seconds / 60) % 60;
    const { hour, minute, second } = this.#units;
    if (hours > 0) {
      return `${hour.format(hours)} ${minute.format(minutes)}`;
    }
    if (minutes > 0) {
      return `${minute.format(minutes)} ${second.format(seconds % 60)}`;
    }
    return second.format(seconds);
  }

  /** Returns a duration as duration() does, but in full hours from ten hours on. */
  briefDuration(ms: number): string {
    const hours = Math.floor(ms / 3_600_000);
    return hours < 10 ? this.duration(ms) : this.#units.hour.format(hours);
  }

  /** Returns a trial's value with seven significant digits. */
  value(value: number): string {
    const size = Math.abs(value);
    const plain = value === 0 || (size >= 1e-4 && size < 1e6);
    return (plain ? this.#value : this.#scientificValue).format(value);
  }

  /** Returns a time in the reader's own time zone, to the minute. `at` is Unix milliseconds. */
  time(at: number): string {
    return this.#time.format(at);
  }

  /** Returns a time without the year, for columns of a table. `at` is Unix milliseconds. */
  shortTime(at: number): string {
    return this.#shortTime.format(at);
  }

  /** Returns the time of day in the reader's own time zone, to the minute. `at` is Unix milliseconds. */
  clock(at: number): string {
    return this.#clock.format(at);
  }

  /** Returns whether two times, in Unix milliseconds, are on the same day in the reader's own time zone. */
  isSameDay(one: number, other: number): boolean {
    return new Date(one).toDateString() === new Date(other).toDateString();
  }

  /** Returns a countdown in whole seconds. It is at least 1, so that it never shows zero. */
  countdown(ms: number): string {
    return this.duration(Math.max(1, Math.ceil(ms / 1000)) * 1000);
  }

  /** Returns a reported metric with four significant digits; very large or small ones in scientific notation. */
  metric(value: number): string {
    const size = Math.abs(value);
    const plain = value === 0 || (size >= 1e-4 && size < 1e6);
    return (plain ? this.#metric : this.#scientific).format(value);
  }

  /** Returns a parameter the same in every language: digits are not grouped, and the decimal sign is a point. */
  param(value: unknown): string {
    const text = typeof value === "string" ? value : readable(value);
    return text.length > PARAM_CHARS ? `${text.slice(0, PARAM_CHARS - 1)}…` : text;
  }
}

function readable(value: unknown): string {
  const text = JSON.stringify(value);
  return text === undefined ? String(value) : readableJson(jsonTree(text));
}
