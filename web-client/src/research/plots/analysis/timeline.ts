// When each device computed which trial: a lane for each device, with a bar for each trial. Page thread; pure.

import { roundTicks } from "../../../ui/chart.ts";
import type { TrialRow, TrialState } from "../../model/rows.ts";

/** The width of a lane's drawing. */
export const LANE_WIDTH = 1_000;
export const LANE_HEIGHT = 14;
/** A bar is at least so wide, so that a short trial is seen. */
const LEAST_BAR = 2;

export type BarKind = Exclude<TrialState, "running"> | "infeasible";
export const barKinds = [
  ...(["complete", "infeasible", "pruned", "failed", "cancelled"] as const),
] as const satisfies readonly BarKind[];

export interface Lane {
  /** The device's id; empty for trials that no device has finished. */
  readonly device: string;
  /** The rows of its trials, by their start. */
  readonly rows: readonly TrialRow[];
  readonly paths: Readonly<Record<BarKind, string>>;
}

export interface Timeline {
  readonly lanes: readonly Lane[];
  /** The first start and the last end, in Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

export const kindOf = (row: TrialRow): BarKind =>
  row.isInfeasible ? "infeasible" : row.state === "running" ? "cancelled" : row.state;

const hasTimes = ({ startedAt, finishedAt }: TrialRow) => startedAt > 0 && finishedAt >= startedAt;

/** Returns where a time is along a lane. */
export function placeOfTime({ from, to }: Pick<Timeline, "from" | "to">, at: number): number {
  return to === from ? 0 : ((at - from) / (to - from)) * LANE_WIDTH;
}

/** Returns the lanes of the rows that have a start and an end, those that began first above; null without such a row. */
export function timelineOf(rows: readonly TrialRow[]): Timeline | null {
  const timed = rows.filter(hasTimes).sort((a, b) => a.startedAt - b.startedAt);
  const first = timed[0];
  if (first === undefined) {
    return null;
  }
  const span = {
    from: first.startedAt,
    to: timed.reduce((latest, { finishedAt }) => Math.max(latest, finishedAt), 0),
  };
  const lanes = new Map<string, TrialRow[]>();
  for (const row of timed) {
    const device = row.device?.device ?? "";
    const lane = lanes.get(device);
    if (lane === undefined) {
      lanes.set(device, [row]);
    } else {
      lane.push(row);
    }
  }
  return {
    ...span,
    lanes: [...lanes].map(([device, own]) => ({ device, rows: own, paths: pathsOf(own, span) })),
  };
}

/** Returns the bars of a lane. Bars that would look the same are drawn once, so that many trials are drawn soon. */
function pathsOf(rows: readonly TrialRow[], span: Pick<Timeline, "from" | "to">): Lane["paths"] {
  const paths: Record<BarKind, string> = {
    ...{ complete: "", infeasible: "", pruned: "", failed: "", cancelled: "" },
  };
  const drawn = new Set<string>();
  for (const row of rows) {
    const kind = kindOf(row);
    const start = Math.min(Math.floor(placeOfTime(span, row.startedAt)), LANE_WIDTH - LEAST_BAR);
    const width = Math.max(LEAST_BAR, Math.round(placeOfTime(span, row.finishedAt)) - start);
    const bar = `M${start} 1h${width}v${LANE_HEIGHT - 2}h${-width}z`;
    if (!drawn.has(`${kind}${bar}`)) {
      drawn.add(`${kind}${bar}`);
      paths[kind] += bar;
    }
  }
  return paths;
}

/** Returns the trial of a lane at a time; of several the one that began last. Between trials it is the nearest one. */
export function trialAt(lane: Lane, at: number): TrialRow | undefined {
  let found: TrialRow | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const row of lane.rows) {
    const distance = Math.max(0, row.startedAt - at, at - row.finishedAt);
    if (distance <= least) {
      least = distance;
      found = row;
    }
  }
  return found;
}

const SECOND = 1_000;
const [MINUTE, HOUR, DAY] = [60 * SECOND, 3_600 * SECOND, 86_400 * SECOND];

/** Returns times since the start for the labels of the axis: round numbers of seconds, minutes, hours or days. */
export function timeTicks(length: number): readonly number[] {
  const unit =
    length < 3 * MINUTE ? SECOND : length < 3 * HOUR ? MINUTE : length < 3 * DAY ? HOUR : DAY;
  return roundTicks(0, length / unit, 4)
    .filter(Number.isInteger)
    .map((count) => count * unit);
}
