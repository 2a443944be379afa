// The texts of the trials table: headings, short and full cells. Page thread; pure, except that it reads signals.

import { paramText } from "../model/params.ts";
import type { TrialRow } from "../model/rows.ts";
import { visibleText } from "../model/visible_text.ts";
import type { ResearchStore } from "../research_store.ts";
import { deviceText } from "../view_model.ts";
import { type Column, paramNamed, shortNumber, shortParam } from "./columns.ts";

export interface CellText {
  readonly short: string;
  /** All digits of a number, or the whole text. */
  readonly full: string;
}

const NOTHING: CellText = { short: "–", full: "–" };

export function headingOf(column: Column, store: ResearchStore): string {
  const words = store.words.value.table.columns;
  switch (column.kind) {
    case "param":
      return visibleText(column.name);
    case "value": {
      const isSingle =
        store.trials.columns.value.filter(({ kind }) => kind === "value").length === 1;
      return isSingle
        ? words.value
        : words.valueNumbered(store.format.value.integer(column.index + 1));
    }
    default:
      return words[column.kind];
  }
}

export function stateTextOf(trial: TrialRow, store: ResearchStore): string {
  const words = store.words.value;
  return trial.isInfeasible ? words.table.infeasible : words.trialStates[trial.state];
}

export function cellText(trial: TrialRow, column: Column, store: ResearchStore): CellText {
  const words = store.words.value;
  const format = store.format.value;
  const same = (text: string): CellText => ({ short: text, full: text });
  switch (column.kind) {
    case "trial":
      return same(format.integer(trial.trial));
    case "state":
      return same(stateTextOf(trial, store));
    case "value": {
      const value = trial.values[column.index];
      return value === undefined ? NOTHING : { short: shortNumber(value), full: String(value) };
    }
    case "param": {
      const param = paramNamed(trial, column.name);
      return param === undefined
        ? NOTHING
        : { short: visibleText(shortParam(param)), full: visibleText(paramText(param)) };
    }
    case "device": {
      const { device } = trial;
      return device === null
        ? NOTHING
        : {
            short: deviceText({ ...device, backend: "", adapter: "" }, words),
            full: `${deviceText(device, words)} (${visibleText(device.device)})`,
          };
    }
    case "run":
      return trial.runMs === 0
        ? NOTHING
        : { short: format.duration(trial.runMs), full: `${trial.runMs} ms` };
    case "attempts":
      return same(format.integer(trial.attempts));
    case "finished":
      return trial.finishedAt === 0
        ? NOTHING
        : {
            short: format.shortTime(trial.finishedAt),
            full: new Date(trial.finishedAt).toISOString(),
          };
    default:
      return column satisfies never;
  }
}
