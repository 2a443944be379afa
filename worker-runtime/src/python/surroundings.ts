// Hides from trial code what distinguishes two devices and does not help to compute: the time zone, the languages, the
// number of cores, and a clock that is precise enough to watch the processor's caches. Runs on the python thread, once,
// before any code of a trial.

/** The clock's step: what Chromium gives pages that are not isolated. A training loop needs no finer one. */
const TICK_MS = 0.1;

/** What every trial sees of these properties. A trial has one thread, so it also has one core. */
const NAVIGATOR = {
  language: "en-US",
  languages: Object.freeze(["en-US"]),
  hardwareConcurrency: 1,
  onLine: true,
};

/** The methods of `Performance` that stay. The others return precise times or the size of JavaScript's heap. */
const PERFORMANCE = new Set([
  ..."constructor now timeOrigin addEventListener removeEventListener dispatchEvent".split(" "),
]);

const FIELDS = "FullYear Month Date Hours Minutes Seconds Milliseconds".split(" ");

/** The global object, as far as this file changes it. */
export interface Surroundings {
  Date: DateConstructor;
  readonly Number: NumberConstructor;
  readonly BigInt: BigIntConstructor;
  readonly String: StringConstructor;
  readonly Event?: { readonly prototype: object };
  readonly performance: object;
}

export function hideDevice(scope: Surroundings, navigator: object): void {
  coarsenClock(scope);
  scope.Date = universalDate(scope.Date);
  forgetLocale(scope);
  for (const [name, value] of Object.entries(NAVIGATOR)) define(navigator, name, value);
}

function define(target: object, name: string | symbol, value: unknown): void {
  Reflect.defineProperty(target, name, { value, writable: false, configurable: false });
}

function coarse(ms: number): number {
  return Math.floor(ms / TICK_MS) * TICK_MS;
}

function coarsenClock({ performance, Event }: Surroundings): void {
  const now = Reflect.get(performance, "now") as () => number;
  const precise = now.bind(performance);
  const interface_ = Object.getPrototypeOf(performance) as object;
  for (const target of [interface_, performance]) define(target, "now", () => coarse(precise()));
  for (const name of Object.getOwnPropertyNames(interface_)) {
    if (!PERFORMANCE.has(name)) Reflect.deleteProperty(interface_, name);
  }
  if (Event === undefined) return;
  const stamp = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp")?.get;
  if (stamp === undefined) return;
  Reflect.defineProperty(Event.prototype, "timeStamp", {
    configurable: false,
    get(this: object) {
      return coarse(Number(Reflect.apply(stamp, this, [])));
    },
  });
}

/** Returns a `Date` whose local time is UTC, and changes the methods that it shares with the given one. */
function universalDate(local: DateConstructor): DateConstructor {
  const { prototype } = local;
  const method = (name: string) =>
    Reflect.get(prototype, name) as (this: Date, ...values: number[]) => number;
  const localFields = FIELDS.map((field) => method(`get${field}`));
  const localParse = local.parse;

  const parse = (text: string): number => {
    const time = localParse(text);
    if (Number.isNaN(time) || namesZone(text)) return time;
    const read = new local(time);
    const [year = 0, month = 0, day = 0, ...clock] = localFields.map((field) => field.call(read));
    const found = new local(0);
    found.setUTCFullYear(year, month, day);
    found.setUTCHours(...(clock as [number, number, number, number]));
    return found.getTime();
  };
  const timeOf = (values: readonly unknown[]): number => {
    if (values.length === 0) return local.now();
    if (values.length > 1) return local.UTC(...(values.map(Number) as [number, number]));
    const [value] = values;
    if (value instanceof local) return value.getTime();
    const plain = typeof value === "object" && value !== null ? primitiveOf(value) : value;
    return typeof plain === "string" ? parse(plain) : Number(plain);
  };

  for (const field of [...FIELDS, "Day"]) {
    define(prototype, `get${field}`, method(`getUTC${field}`));
    if (field !== "Day") define(prototype, `set${field}`, method(`setUTC${field}`));
  }
  const { getUTCFullYear, setUTCFullYear, toUTCString, getTime } = prototype;
  const texts = {
    toDateString(this: Date) {
      const [name, day, month, year] = toUTCString.call(this).replace(",", "").split(" ");
      return name === "Invalid" ? "Invalid Date" : `${name} ${month} ${day} ${year}`;
    },
    toTimeString(this: Date) {
      const clock = toUTCString.call(this).split(" ")[4];
      return clock === undefined
        ? "Invalid Date"
        : `${clock} GMT+0000 (Coordinated Universal Time)`;
    },
    toString(this: Date) {
      if (Number.isNaN(getTime.call(this))) return "Invalid Date";
      return `${texts.toDateString.call(this)} ${texts.toTimeString.call(this)}`;
    },
  };
  for (const [name, text] of Object.entries(texts)) define(prototype, name, text);
  define(prototype, "toLocaleString", texts.toString);
  define(prototype, "toLocaleDateString", texts.toDateString);
  define(prototype, "toLocaleTimeString", texts.toTimeString);
  define(prototype, "getTimezoneOffset", function (this: Date) {
    return Number.isNaN(getTime.call(this)) ? Number.NaN : 0;
  });
  define(prototype, "getYear", function (this: Date) {
    return getUTCFullYear.call(this) - 1900;
  });
  define(prototype, "setYear", function (this: Date, year: number) {
    return setUTCFullYear.call(this, year >= 0 && year <= 99 ? 1900 + year : year);
  });
  define(local, "parse", parse);
  const universal = new Proxy(local, {
    construct: (target, values, newTarget) =>
      Reflect.construct(target, [timeOf(values)], newTarget) as Date,
    apply: (target) => texts.toString.call(new target()),
  });
  define(prototype, "constructor", universal);
  return universal;
}

function primitiveOf(value: object): unknown {
  const convert: unknown = Reflect.get(value, Symbol.toPrimitive);
  if (typeof convert === "function") return Reflect.apply(convert, value, ["default"]);
  const number: unknown = value.valueOf();
  return typeof number === "object" ? String(value) : number;
}

/** Returns whether the text says itself in which time zone it is. Dates without a time, as ISO writes them, are in UTC. */
function namesZone(text: string): boolean {
  return (
    /^\s*[+-]?\d{4,6}(-\d\d){0,2}\s*$/.test(text) ||
    /(?:\d|\s|\))(?:Z|UTC?|GMT|[ECMP][SD]T)\b|[+-]\d\d:?\d\d(?!\d)(?=[^-]*$)/i.test(
      text.replace(/^\s*[+-]?\d{4,6}-\d\d-\d\d/, ""),
    )
  );
}

/** Makes texts not depend on the browser's language. `Intl` is removed by the lockdown. */
function forgetLocale({ Number: number, BigInt: bigint, String: string }: Surroundings): void {
  const numberText = number.prototype.toString;
  define(number.prototype, "toLocaleString", function (this: number) {
    return numberText.call(this);
  });
  const bigintText = bigint.prototype.toString;
  define(bigint.prototype, "toLocaleString", function (this: bigint) {
    return bigintText.call(this);
  });
  const { toUpperCase, toLowerCase } = string.prototype;
  define(string.prototype, "toLocaleUpperCase", function (this: string) {
    return toUpperCase.call(this);
  });
  define(string.prototype, "toLocaleLowerCase", function (this: string) {
    return toLowerCase.call(this);
  });
  define(string.prototype, "localeCompare", function (this: string, other: unknown) {
    const [one, two] = [String(this), String(other)];
    return one < two ? -1 : Number(one > two);
  });
}
