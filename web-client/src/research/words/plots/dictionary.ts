// The texts of a study's plots, which have an English and a Japanese file next to this one. Page thread; pure.

export interface PlotWords {
  /** The frame that all plots have. */
  readonly frame: {
    readonly more: string;
    readonly numbers: (title: string) => string;
    readonly save: Readonly<Record<"csv" | "svg" | "png", string>>;
    readonly first: (count: string) => string;
    readonly best: string;
    readonly feasible: string;
    readonly still: string;
    readonly waiting: (count: string) => string;
    readonly nothing: string;
  };
  readonly edf: {
    readonly note: string;
    readonly title: (name: string) => string;
    readonly summary: (count: string, low: string, median: string, high: string) => string;
    readonly share: string;
  };
  readonly rank: {
    readonly note: string;
    readonly title: (x: string, y: string) => string;
    readonly summary: (dots: string, x: string, y: string) => string;
    readonly rank: string;
    /** The texts of the legend, with the value at each part of the order. */
    readonly parts: Readonly<Record<"least" | "quarter" | "middle" | "most" | "last", string>>;
    readonly part: (name: string, value: string) => string;
  };
  readonly contour: {
    readonly note: string;
    readonly title: (x: string, y: string) => string;
    readonly summary: (dots: string, x: string, y: string, low: string, high: string) => string;
    readonly atLeast: (value: string) => string;
    readonly atMost: (value: string) => string;
    readonly flat: string;
  };
  readonly importance: {
    readonly note: string;
    readonly title: (name: string) => string;
    readonly few: (trials: string) => string;
    readonly nothing: string;
    readonly parameter: string;
    readonly share: string;
    readonly raw: string;
  };
  readonly timeline: {
    readonly note: string;
    readonly nothing: string;
    readonly span: (from: string, to: string) => string;
    readonly trials: (count: string) => string;
    readonly noDevice: string;
    readonly runMs: string;
    readonly attempts: (count: string) => string;
    readonly again: (count: string) => string;
    readonly causes: string;
    readonly count: (what: string, count: string) => string;
    readonly all: (count: string) => string;
  };
  readonly hypervolume: {
    readonly heading: string;
    readonly note: string;
    readonly reference: string;
    readonly title: (reference: string) => string;
    readonly summary: (trials: string, last: string) => string;
    readonly cut: (trials: string) => string;
  };
  readonly curves: {
    readonly nothing: string;
    readonly smoothing: (percent: string) => string;
    readonly near: (trial: string, step: string, value: string) => string;
  };
  readonly across: string;
  readonly up: string;
  readonly oneParameter: string;
}
