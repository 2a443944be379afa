// Turns what the server has counted into rows of words. Pure.

import type { Dictionary } from "../../i18n/dictionary.ts";
import type { Formatter } from "../../i18n/format.ts";
import { shownName } from "../../ui/shown_name.ts";
import type { Given, Span } from "./given_api.ts";

export interface GivenRow {
  readonly label: string;
  readonly trials: string;
  readonly time: string;
  readonly improved: string;
}

export interface GivenView {
  /** Today, the last seven days, and all. */
  readonly spans: readonly GivenRow[];
  /** The names of the projects, as the page shows them. */
  readonly names: readonly string[];
  /** Empty if there is only one project. */
  readonly projects: readonly GivenRow[];
}

const NOTHING: Span = { trials: 0, ms: 0, improved: 0 };

function sum(spans: readonly Span[]): Span {
  return spans.reduce(
    (all, one) => ({
      trials: all.trials + one.trials,
      ms: all.ms + one.ms,
      improved: all.improved + one.improved,
    }),
    NOTHING,
  );
}

/** Returns what a device gave in all projects. */
export function givenInAll(given: Given): Span {
  return sum(given.projects.map(({ all }) => all));
}

/** Returns the rows of all devices of this browser; null if they gave nothing. `now` is Unix milliseconds. */
export function givenView(
  devices: readonly Given[],
  now: number,
  words: Dictionary["given"],
  format: Formatter,
): GivenView | null {
  const projects = devices.flatMap((device) => device.projects);
  const all = sum(projects.map((project) => project.all));
  if (all.trials === 0) {
    return null;
  }
  const row = (label: string, span: Span): GivenRow => ({
    label,
    trials: format.integer(span.trials),
    time: format.briefDuration(span.ms),
    improved: format.integer(span.improved),
  });
  // The devices' answers may be from before and after the server's midnight. Then only the newer ones are of today.
  const since = Math.max(...devices.map((device) => device.todaySince));
  const today = devices.filter((device) => device.todaySince === since);
  const names = [...new Set(projects.map(({ name }) => name))];
  return {
    names: names.map(shownName),
    spans: [
      row(
        words.today(format.clock(since), format.isSameDay(since, now)),
        sum(today.flatMap((device) => device.projects.map((project) => project.today))),
      ),
      row(words.week, sum(projects.map((project) => project.week))),
      row(words.all, all),
    ],
    projects:
      names.length < 2
        ? []
        : names.map((name) => {
            const spans = projects.filter((project) => project.name === name);
            return row(shownName(name), sum(spans.map((project) => project.all)));
          }),
  };
}
