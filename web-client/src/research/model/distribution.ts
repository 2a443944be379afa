// The distribution from which a parameter was suggested, as Optuna writes it as JSON. It comes from a volunteer's device, so
// a text that is not understood is null. Page thread; pure.

export type Distribution =
  | {
      readonly kind: "float" | "int";
      readonly low: number;
      readonly high: number;
      readonly isLog: boolean;
      /** The distance of two values; null for a float that may have any value. */
      readonly step: number | null;
    }
  | { readonly kind: "categorical"; readonly choices: readonly unknown[] };

/** The distributions of a trial's parameters, by name. Trials with the same ones share the object. */
export type Distributions = ReadonlyMap<string, Distribution>;

const NONE: Distributions = new Map();
/** So many texts are kept. A study has few different ones, unless its space changes with each trial. */
const MOST_KEPT = 10_000;

const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);

function parsed(text: string): Distribution | null {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  const { name, attributes } = (read ?? {}) as { name?: unknown; attributes?: unknown };
  const { low, high, log, step, choices } = (attributes ?? {}) as Record<string, unknown>;
  if (name === "CategoricalDistribution") {
    const isValid = Array.isArray(choices) && choices.length > 0;
    return isValid ? { kind: "categorical", choices } : null;
  }
  const kind = name === "FloatDistribution" ? "float" : name === "IntDistribution" ? "int" : null;
  if (kind === null || !isNumber(low) || !isNumber(high)) {
    return null;
  }
  const isLog = log === true;
  // Optuna refuses these, too. A plot would divide by zero.
  const isWrong = low > high || (isLog && low <= 0) || (isNumber(step) && step <= 0);
  return isWrong ? null : { kind, low, high, isLog, step: isNumber(step) ? step : null };
}

const keptOnes = new Map<string, Distribution | null>();
const keptSets = new Map<string, Distributions>();

function kept<T>(store: Map<string, T>, key: string, make: () => T): T {
  const known = store.get(key);
  if (known !== undefined) {
    return known;
  }
  if (store.size >= MOST_KEPT) {
    store.clear();
  }
  const made = make();
  store.set(key, made);
  return made;
}

/** Returns the distribution of a text, and the same object for the same text. */
export function distributionOf(text: string): Distribution | null {
  return kept(keptOnes, text, () => parsed(text));
}

/** Returns the distributions of a trial's suggestions: for each its name, its distribution and its value as JSON texts. */
export function distributionsOf(
  suggested: readonly (readonly [name: string, distribution: string, value: string])[] = [],
): Distributions {
  if (suggested.length === 0) {
    return NONE;
  }
  const key = suggested.map(([name, text]) => JSON.stringify([name, text])).join();
  return kept(
    keptSets,
    key,
    () =>
      new Map(
        suggested.flatMap(([name, text]) => {
          const one = distributionOf(text);
          return one === null ? [] : [[name, one] as const];
        }),
      ),
  );
}

/** A dimension of a study's space (server/docs/rest.md), as far as its distribution follows from it. */
export interface SpaceDimension {
  readonly name: string;
  readonly values: readonly unknown[];
  readonly range?: {
    readonly low: number;
    readonly high: number;
    readonly integer: boolean;
    readonly log: boolean;
    readonly step?: number;
  };
}

/** Returns the distributions of a space from which the server draws, as `Study.to_optuna` has them. */
export function spaceOf(dimensions: readonly SpaceDimension[]): Distributions {
  return new Map(
    dimensions.map(({ name, values, range }) => [
      name,
      range === undefined
        ? { kind: "categorical", choices: distinct(values) }
        : {
            ...{ kind: range.integer ? "int" : "float", low: range.low, high: range.high },
            ...{ isLog: range.log, step: range.step ?? (range.integer ? 1 : null) },
          },
    ]),
  );
}

/** Returns each value once. Lists and objects are compared by their texts. */
function distinct(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
