// How much each parameter decides whether a trial is among the best tenth: PED-ANOVA (https://arxiv.org/abs/2304.10255), as
// optuna.importance.PedAnovaImportanceEvaluator computes it, with its handling of conditional parameters. It takes time in
// proportion to the trials, so no worker is needed. Page thread; pure.

import type { Distribution, Distributions } from "../../model/distribution.ts";
import type { TrialRow } from "../../model/rows.ts";
import { paramReader } from "../../trials/columns.ts";
import { finiteRows } from "./complete_rows.ts";
import { normalMass } from "./normal.ts";

/** The part of the trials that are the best ones. */
const TARGET_QUANTILE = 0.1;
/** The most steps of a parameter's grid. */
const STEPS = 50;
/** The weight of the prior, next to one for each trial. */
const PRIOR = 1;
/** The least standard deviation of a kernel, in steps of the grid: with it 90 % lie in one step. */
const LEAST_SIGMA = 0.5 / 1.64;
/** The fewest trials with the same distribution that count. */
const FEWEST = 2;
const SMALL = 1e-12;

export interface Importance {
  readonly name: string;
  /** The importance as Optuna computes it without `normalize`. */
  readonly raw: number;
  /** Its part of the sum; equal parts if the sum is 0. */
  readonly share: number;
}

/** Returns the importance of each parameter that a complete trial has, the largest first. */
export function importancesOf(
  complete: readonly TrialRow[],
  objective: number,
  direction: "minimize" | "maximize",
  space: Distributions = new Map(),
): readonly Importance[] {
  const names = new Set<string>();
  for (const { params } of complete) {
    for (const { name } of params) {
      names.add(name);
    }
  }
  const known = [...names].filter(
    (name) => space.has(name) || complete.some((row) => row.distributions.has(name)),
  );
  const rows = finiteRows(complete, objective);
  const isTarget = targetsOf(rows, objective, direction);
  const targets = isTarget.reduce((sum, one) => sum + one, 0);
  const found = known.map((name) => ({
    name,
    raw: rows.length < 2 ? 0 : importanceOf(name, rows, isTarget, targets, space),
  }));
  const sum = found.reduce((total, { raw }) => total + raw, 0);
  return found
    .map((one) => ({ ...one, share: sum === 0 ? 1 / found.length : one.raw / sum }))
    .sort((a, b) => b.raw - a.raw || (a.name < b.name ? -1 : 1));
}

/** Returns 1 for each row that is among the best ones, and else 0. */
function targetsOf(
  rows: readonly TrialRow[],
  objective: number,
  direction: "minimize" | "maximize",
): Uint8Array {
  const sign = direction === "minimize" ? 1 : -1;
  const losses = Float64Array.from(rows, (row) => sign * (row.exactValues[objective] as number));
  const cutoff = losses.slice().sort()[Math.ceil(TARGET_QUANTILE * losses.length) - 1] ?? 0;
  return Uint8Array.from(losses, (loss) => Number(loss <= cutoff));
}

function isSingle(kind: Distribution): boolean {
  return kind.kind === "categorical"
    ? kind.choices.length === 1
    : kind.low === kind.high ||
        (kind.step !== null && !kind.isLog && kind.high - kind.low < kind.step);
}

/** The trials whose parameter has one distribution: the values of all, and of those among the best. */
interface Regime {
  readonly all: unknown[];
  readonly best: unknown[];
}

function importanceOf(
  name: string,
  rows: readonly TrialRow[],
  isTarget: Uint8Array,
  targets: number,
  space: Distributions,
): number {
  const read = paramReader(name);
  const regimes = new Map<Distribution, Regime>();
  rows.forEach((row, i) => {
    const param = read(row);
    const kind = row.distributions.get(name) ?? space.get(name);
    if (param === undefined || kind === undefined) {
      return;
    }
    const regime = regimes.get(kind) ?? { all: [], best: [] };
    regimes.set(kind, regime);
    regime.all.push(param.value);
    if (isTarget[i] === 1) {
      regime.best.push(param.value);
    }
  });
  let sum = 0;
  for (const [kind, { all, best }] of regimes) {
    if (all.length >= FEWEST && best.length > 0 && !isSingle(kind)) {
      const [ofBest, ofAll] = [best.length / targets, all.length / rows.length];
      sum += (ofBest ** 2 / ofAll) * divergence(densityOf(kind, best), densityOf(kind, all));
    }
  }
  return sum * (targets / rows.length) ** 2;
}

/** Returns Pearson's divergence of the best trials' density from that of all. */
function divergence(best: Float64Array, all: Float64Array): number {
  return all.reduce(
    (sum, density, i) => sum + density * ((best[i] as number) / density - 1) ** 2,
    0,
  );
}

function densityOf(kind: Distribution, values: readonly unknown[]): Float64Array {
  return kind.kind === "categorical"
    ? categoricalDensity(categoricalCounts(kind.choices, values))
    : numericalDensity(numericalCounts(kind, values));
}

/** Python takes True and 1 for the same choice. */
const plain = (value: unknown) => (typeof value === "boolean" ? Number(value) : value);

function categoricalCounts(choices: readonly unknown[], values: readonly unknown[]): Float64Array {
  const counts = new Float64Array(choices.length);
  const index = new Map([...choices.entries()].reverse().map(([i, choice]) => [plain(choice), i]));
  for (const value of values) {
    const at = index.get(plain(value));
    if (at !== undefined) {
      counts[at] = (counts[at] as number) + 1;
    }
  }
  return counts;
}

function stepsOf({ kind, low, high, isLog, step }: Exclude<Distribution, { kind: "categorical" }>) {
  if (kind === "int" && isLog) {
    return Math.min(Math.ceil(Math.log(high - low + 1) / Math.log(2)) + 1, STEPS);
  }
  return step === null ? STEPS : Math.min(Math.round((high - low) / step) + 1, STEPS);
}

/** Counts the values by the nearest step of the grid. A value in the middle belongs to the lower one. */
function numericalCounts(
  kind: Exclude<Distribution, { kind: "categorical" }>,
  values: readonly unknown[],
): Float64Array {
  const steps = stepsOf(kind);
  const along = kind.isLog ? Math.log : (value: number) => value;
  const low = along(kind.low);
  const size = (along(kind.high) - low) / (steps - 1);
  const counts = new Float64Array(steps);
  for (const value of values) {
    if (typeof value === "number") {
      const at = Math.min(steps - 1, Math.max(0, Math.ceil((along(value) - low) / size - 0.5)));
      counts[at] = (counts[at] as number) + 1;
    }
  }
  return counts;
}

/** Returns the density of a Parzen estimator over choices, plus SMALL. */
function categoricalDensity(counts: Float64Array): Float64Array {
  const observed = counts.filter((count) => count > 0).length;
  const total = counts.reduce((sum, count) => sum + count, 0) + PRIOR;
  const base = PRIOR / (observed + 1);
  // A kernel has the weight 1 at its choice, and the base at each of them.
  const row = 1 + counts.length * base;
  const spread = (base / row) * (total - PRIOR) + PRIOR / counts.length;
  return counts.map((count) => (count / row + spread) / total + SMALL);
}

/** Returns the density of a Parzen estimator with Scott's bandwidth over the steps of a grid, plus SMALL. */
function numericalDensity(counts: Float64Array): Float64Array {
  const steps = counts.length;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const sigma = sigmaOf(counts, total);
  const density = new Float64Array(steps);
  const add = (center: number, width: number, weight: number) => {
    const all = normalMass((-0.5 - center) / width, (steps - 0.5 - center) / width);
    for (let at = 0; at < steps; at += 1) {
      const mass = normalMass((at - 0.5 - center) / width, (at + 0.5 - center) / width);
      density[at] = (density[at] as number) + (weight / (total + PRIOR)) * (mass / all);
    }
  };
  counts.forEach((count, at) => {
    if (count > 0) {
      add(at, sigma, count);
    }
  });
  add((steps - 1) / 2, steps, PRIOR);
  return density.map((one) => one + SMALL);
}

function sigmaOf(counts: Float64Array, total: number): number {
  const observed = [...counts.keys()].filter((at) => (counts[at] as number) > 0);
  const mean = observed.reduce((sum, at) => sum + at * (counts[at] as number), 0) / total;
  const squares = observed.reduce((sum, at) => sum + (at - mean) ** 2 * (counts[at] as number), 0);
  const deviation = Math.sqrt(squares / Math.max(1, total - 1));
  // The quartiles are found in the sums of counts, as numpy.searchsorted finds them from the left and from the right.
  let sum = 0;
  const sums = observed.map((at) => {
    sum += counts[at] as number;
    return sum;
  });
  const first = sums.findIndex((one) => one >= Math.floor(total / 4));
  const beyond = sums.findIndex((one) => one > Math.floor((total * 3) / 4));
  const third = beyond < 0 ? observed.length - 1 : beyond;
  const range = (observed[third] as number) - (observed[first] as number);
  return Math.max(1.059 * Math.min(range / 1.34, deviation) * total ** -0.2, LEAST_SIGMA);
}
