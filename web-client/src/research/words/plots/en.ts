// The English texts of a study's plots. Page thread; pure.

import type { PlotWords } from "./dictionary.ts";

export const plotsEn: PlotWords = {
  frame: {
    more: "Table and files",
    numbers: (title) => `Numbers of ${title}`,
    save: { csv: "Save CSV", svg: "Save SVG", png: "Save PNG" },
    first: (count) => `These are the first ${count} rows. The CSV file has all of them.`,
    best: "Best so far",
    feasible: "Meets its constraints",
    still: "Keep still",
    waiting: (count) => `${count} newer results wait`,
    nothing: "No complete trial has a finite value.",
  },
  edf: {
    note: "The share of complete trials whose value is at most x. Of two studies of the same objective, the one whose line rises earlier has more small values.",
    title: (name) => `Empirical distribution of ${name}`,
    summary: (count, low, median, high) =>
      `Distribution of the values of ${count} complete trials, from ${low} to ${high}; half of them are at most ${median}.`,
    share: "Share of trials",
  },
  rank: {
    note: "The complete trials by two parameters. The colour is the rank of the trial's value among all complete trials, so a few extreme values do not hide the others. Press a dot to open its trial.",
    title: (x, y) => `Rank by ${x} and ${y}`,
    summary: (dots, x, y) =>
      `Ranks of ${dots} trials by ${x} and ${y}. The table below has every rank.`,
    rank: "Rank",
    parts: {
      least: "smallest",
      quarter: "25 %",
      middle: "50 %",
      most: "75 %",
      last: "largest",
    },
    part: (name, value) => `${name}: ${value}`,
  },
  contour: {
    note: "The best value near each pair of two parameters. Where no trial is near, the surface follows from those around, the nearest first. Press a dot to open its trial.",
    title: (x, y) => `Contour of ${x} and ${y}`,
    summary: (dots, x, y, low, high) =>
      `Values of ${dots} trials by ${x} and ${y}, between ${low} and ${high}. The table below has the best value of each pair.`,
    atLeast: (value) => `at least ${value}`,
    atMost: (value) => `at most ${value}`,
    flat: "One of these parameters has a single value, so there is no surface.",
  },
  importance: {
    note: "How much each parameter decides whether a trial is among the best tenth (PED-ANOVA, as Optuna computes it). The parts add up to 100%.",
    title: (name) => `Importance for ${name}`,
    few: (trials) =>
      `With fewer than ${trials} complete trials, the best tenth has few of them, and these numbers say little.`,
    nothing: "No complete trial has a parameter with a known range.",
    parameter: "Parameter",
    share: "Importance",
    raw: "Before the parts add up to 1",
  },
  timeline: {
    note: "One row for each device, with a bar for each trial that it finished. Gaps are times in which the device computed nothing of this study, or attempts that did not decide a trial. Press a bar to open its trial.",
    nothing: "No trial that matches has a start and an end.",
    span: (from, to) => `${from} to ${to}`,
    trials: (count) => `${count} trials`,
    noDevice: "No device",
    runMs: "Run time (ms)",
    attempts: (count) => `${count} attempts`,
    again: (count) => `Further attempts after the first one of a trial: ${count}`,
    causes: "Why trials failed",
    count: (what, count) => `${what}: ${count}`,
    all: (count) => `Show all ${count} devices`,
  },
  hypervolume: {
    heading: "Hypervolume",
    note: "How much of the space of objectives the best trials so far dominate, up to a reference point. Trials beyond the point and infeasible ones add nothing. The point is the worst value of each objective unless you give another.",
    reference: "Reference point",
    title: (reference) => `Hypervolume up to (${reference})`,
    summary: (trials, last) =>
      `Hypervolume after each of ${trials} complete trials; at the end it is ${last}. The table below has every number.`,
    cut: (trials) =>
      `The hypervolume of so many best trials takes too long here. The first ${trials} complete trials are shown.`,
  },
  curves: {
    nothing: "No trial has reported a value or logged a series.",
    smoothing: (percent) => `Smoothing ${percent}`,
    near: (trial, step, value) => `${trial}, step ${step}: ${value}`,
  },
  across: "Across",
  up: "Up",
  oneParameter: "This plot needs two parameters.",
};
