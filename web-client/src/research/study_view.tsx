// Shows one study: progress, best trial, running trials, a chart of values, a table of trials, exports. Page thread.

import { useSignal } from "@preact/signals";
import { saveFile } from "../ui/browser.ts";
import { canBeLogarithmic, chartOf } from "../ui/chart.ts";
import { Chart } from "../ui/chart_view.tsx";
import type { Point } from "../ui/curve.ts";
import { Icon } from "../ui/icons.tsx";
import { ProgressBar } from "../ui/progress_bar.tsx";
import { shownName } from "../ui/shown_name.ts";
import { Failure } from "./failure.tsx";
import { csvOf, fileName, jsonOf } from "./model/export.ts";
import { paramText } from "./model/params.ts";
import { hashOf, type StudyPart, studyParts } from "./model/route.ts";
import type { StudyRow } from "./model/rows.ts";
import { visibleText } from "./model/visible_text.ts";
import { Pairs } from "./pairs.tsx";
import { PlotFrame } from "./plots/frame/plot_frame.tsx";
import type { PlotTable } from "./plots/frame/plot_table.ts";
import { Loaded } from "./plots/loaded.tsx";
import { Reject } from "./reject.tsx";
import type { ResearchStore } from "./research_store.ts";
import { StudySeries } from "./series_view.tsx";
import { StateChip } from "./state_chip.tsx";
import { StudyActions } from "./study_actions.tsx";
import { StudyPriority } from "./study_priority.tsx";
import { TrialsTable } from "./trials/trials_table.tsx";
import {
  backendText,
  chipOf,
  deviceText,
  doneOf,
  estimateText,
  missingText,
  noBestOf,
  progressOf,
  rangeText,
  stateText,
  studyName,
  waitsText,
} from "./view_model.ts";
import { Webhook } from "./webhook_view.tsx";
import type { HeldCode } from "./words/dictionary.ts";

/** The most best trials to which the overview links. The view of the front names more. */
const MAX_BEST = 6;

interface Props {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}

function Progress({ study, store }: Props) {
  const words = store.words.value;
  const format = store.format.value;
  const { counts } = words.study;
  const estimate = estimateText(study, words, format);
  const rows: readonly (readonly [string, number])[] = [
    [counts.complete, study.complete],
    [counts.pruned, study.pruned],
    [counts.failed, study.failed],
    [counts.open, Math.max(0, study.total - doneOf(study))],
    [counts.attempts, study.attempts],
  ];
  return (
    <section class="card stack">
      <h2>{words.study.progress}</h2>
      <ProgressBar label={words.study.progress} {...progressOf(study, words, format)} />
      {estimate === null ? null : <p data-estimate>{estimate}</p>}
      <Pairs rows={rows.map(([label, count]) => [label, format.integer(count)])} />
    </section>
  );
}

/** Shows why an administrator lets nothing of the study run (R67, R68). */
function Held({ study, store }: Props) {
  const { held } = study;
  const { texts, reason } = store.words.value.held;
  if (held === null) {
    return null;
  }
  const text = Object.hasOwn(texts, held.code) ? texts[held.code as HeldCode] : texts.other;
  return (
    <section class="card stack" data-held={held.code}>
      <h2>{stateText(study, store.words.value)}</h2>
      <p>{text}</p>
      {held.reason === undefined ? null : <p>{reason(visibleText(held.reason))}</p>}
    </section>
  );
}

/** Shows the failure because of which the study has paused itself. */
function Stopped({ study, store }: Props) {
  const words = store.words.value.study;
  const format = store.format.value;
  const stop = study.stoppedBy;
  if (stop === null) {
    return null;
  }
  return (
    <section class="card stack" data-stopped>
      <h2>{words.stopped}</h2>
      <p>{words.stoppedWhy(format.integer(stop.trial), format.integer(stop.failures))}</p>
      <Failure error={stop.error} store={store} />
      <p>{words.stoppedHow}</p>
    </section>
  );
}

function TrialLink({ study, trial, store }: Props & { readonly trial: number }) {
  const words = store.words.value.study;
  return (
    <a class="text-link" href={hashOf({ page: "trial", study: study.study, trial })}>
      {words.bestTrial(store.format.value.integer(trial))}
    </a>
  );
}

/** Shows the best trials of a study with several directions: those on its Pareto front. */
function BestOfSeveral({ study, store }: Props) {
  const words = store.words.value.study;
  const count = store.format.value.integer(study.bestTrials.length);
  return (
    <>
      <p data-best>{words.bestOfSeveral(count)}</p>
      <ul class="running">
        {study.bestTrials.slice(0, MAX_BEST).map((trial) => (
          <li key={trial}>
            <TrialLink study={study} store={store} trial={trial} />
          </li>
        ))}
      </ul>
      <p>
        <a class="text-link" href={hashOf({ page: "study", study: study.study, part: "front" })}>
          {store.words.value.front.heading}
        </a>
      </p>
    </>
  );
}

function Best({ study, store }: Props) {
  const words = store.words.value;
  const format = store.format.value;
  const { best } = study;
  const why = noBestOf(study);
  const range = rangeText(study, words, format);
  return (
    <section class="card stack">
      <h2>{study.directions.length > 1 ? words.study.bests : words.study.best}</h2>
      {why === null ? null : (
        <p class="quiet" data-no-best={why}>
          {words.study.noBest[why]}
        </p>
      )}
      {study.bestTrials.length > 0 ? <BestOfSeveral study={study} store={store} /> : null}
      {best === null ? null : (
        <>
          <p class="best">
            <strong data-best>{format.value(best.value)}</strong>
            <span class="quiet">{words.study.direction[study.direction]}</span>
          </p>
          <dl class="params-list">
            {best.params.map((param) => (
              <div class="param" key={param.name}>
                <dt>{param.name}</dt>
                <dd>{visibleText(paramText(param))}</dd>
              </div>
            ))}
          </dl>
          <p>
            <TrialLink study={study} store={store} trial={best.trial} />
          </p>
        </>
      )}
      {range === null ? null : (
        <p class="quiet" data-range>
          {range}
        </p>
      )}
    </section>
  );
}

/** Explains that no trial can run, because no connected device has what the study requires. */
function Unmatched({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value;
  const format = store.format.value;
  const placement = store.placement.value;
  if (placement === null || placement.devices === 0 || placement.matching > 0) {
    return null;
  }
  return (
    <p class="notice" data-unmatched>
      {words.study.unmatched(
        format.integer(placement.devices),
        missingText(placement, words, format),
      )}
    </p>
  );
}

/** Says why the next trial waits while all devices compute for others. */
function Waiting({ store }: { readonly store: ResearchStore }) {
  const placement = store.placement.value;
  const text =
    placement === null ? "" : waitsText(placement, store.words.value, store.format.value);
  return text === "" ? null : (
    <p class="quiet" data-waits>
      {text}
    </p>
  );
}

function Running({ study, store }: Props) {
  const words = store.words.value;
  const format = store.format.value;
  const workers = store.workers.value.filter((worker) => worker.study === study.study);
  return (
    <section class="card stack">
      <h2>{words.study.running}</h2>
      {workers.length === 0 ? <p class="quiet">{words.study.nothingRuns}</p> : null}
      <Unmatched store={store} />
      <Waiting store={store} />
      <ul class="running">
        {workers.map((worker) =>
          worker.trial === null ? null : (
            <li key={worker.device}>
              <a
                class="text-link"
                href={hashOf({ page: "trial", study: study.study, trial: worker.trial })}
              >
                {words.study.runningTrial(format.integer(worker.trial))}
              </a>
              <span class="quiet">{deviceText(worker, words)}</span>
              <Reject store={store} which={{ device: worker.device }} isLink />
            </li>
          ),
        )}
      </ul>
    </section>
  );
}

/** Returns the table of the values by trial, each with the best feasible value so far if there is one objective. */
function historyTable(
  points: readonly Point[],
  study: StudyRow,
  infeasible: ReadonlySet<number>,
  store: ResearchStore,
): PlotTable {
  const words = store.words.value;
  const { columns } = words.table;
  const pick = study.direction === "minimize" ? Math.min : Math.max;
  const hasBest = study.directions.length === 1;
  let best: number | undefined;
  return {
    columns: [
      ...[columns.trial, hasBest ? columns.value : columns.valueNumbered("1")],
      ...(hasBest ? [words.plots.frame.best] : []),
    ],
    rows: [...points]
      .sort(([a], [b]) => a - b)
      .map(([trial, value]) => {
        if (!infeasible.has(trial)) {
          best = pick(best ?? value, value);
        }
        return hasBest ? [trial, value, best] : [trial, value];
      }),
  };
}

function Values({ study, store }: Props) {
  const words = store.words.value.study;
  const format = store.format.value;
  const wantsLog = useSignal(false);
  const points: readonly Point[] = store.data.value.trials.flatMap(({ state, trial, values }) =>
    state === "complete" && values[0] !== undefined ? [[trial, values[0]] as const] : [],
  );
  const mayLog = canBeLogarithmic(points);
  const infeasible = new Set(
    store.data.value.trials.filter((row) => row.isInfeasible).map((row) => row.trial),
  );
  const chart = chartOf(points, {
    scale: wantsLog.value && mayLog ? "log" : "linear",
    direction: study.directions.length > 1 ? null : study.direction,
    mayBeBest: (trial) => !infeasible.has(trial),
  });
  if (chart === null) {
    return (
      <section class="card stack">
        <h2>{words.chart}</h2>
        <p class="quiet">{words.chartEmpty}</p>
      </section>
    );
  }
  return (
    <section class="card stack" data-values={chart.count}>
      <PlotFrame
        store={store}
        id="history"
        title={words.chart}
        table={() => historyTable(points, study, infeasible, store)}
      >
        <Chart
          chart={chart}
          kind="dots"
          title={words.chart}
          summary={words.chartSummary(
            format.integer(chart.count),
            format.value(chart.minValue),
            format.value(chart.maxValue),
            study.best === null ? words.noneBest : format.value(study.best.value),
          )}
          xLabel={words.trialAxis}
          value={(value) => format.metric(value)}
          step={(value) => format.integer(value)}
        />
      </PlotFrame>
      {mayLog ? (
        <label class="switch">
          <input
            type="checkbox"
            checked={wantsLog.value}
            onChange={(event) => {
              wantsLog.value = event.currentTarget.checked;
            }}
          />
          <span>{words.logScale}</span>
        </label>
      ) : null}
    </section>
  );
}

function Exports({ study, store }: Props) {
  const words = store.words.value.study;
  const { trials } = store.data.value;
  return (
    <div class="button-row">
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="csv"
        onClick={() =>
          saveFile(fileName(study, "csv"), new Blob([csvOf(study, trials)], { type: "text/csv" }))
        }
      >
        {words.csv}
      </button>
      <button
        type="button"
        class="button button-quiet button-small"
        data-action="json"
        onClick={() =>
          saveFile(
            fileName(study, "json"),
            new Blob([jsonOf(study, trials)], { type: "application/json" }),
          )
        }
      >
        {words.json}
      </button>
    </div>
  );
}

function About({ study, store }: Props) {
  const words = store.words.value.study;
  const format = store.format.value;
  const rows: readonly (readonly [string, string])[] = [
    [words.project, shownName(study.project)],
    [words.owner, shownName(study.owner)],
    [words.entry, study.entry],
    [words.seed, String(study.seed)],
    [words.runtime, study.chainer],
    [words.backend, backendText(study.backend, store.words.value)],
    [words.createdAt, format.time(study.createdAt)],
    ...(study.finishedAt === null
      ? []
      : ([[words.finishedAt, format.time(study.finishedAt)]] as const)),
  ];
  return (
    <section class="card stack">
      <h2>{words.details}</h2>
      <Pairs rows={rows} />
      {study.state === "running" ? <StudyPriority study={study} store={store} /> : null}
      <StudyActions study={study} store={store} />
    </section>
  );
}

export function BackLink({ href, label }: { readonly href: string; readonly label: string }) {
  return (
    <a class="back" href={href}>
      <Icon name="back" />
      <span>{label}</span>
    </a>
  );
}

function Overview({ study, store }: Props) {
  return (
    <>
      <Held study={study} store={store} />
      <Stopped study={study} store={store} />
      <div class="tiles">
        <Progress study={study} store={store} />
        <Best study={study} store={store} />
        <Running study={study} store={store} />
      </div>
      <Values study={study} store={store} />
      <Webhook study={study} store={store} />
      <About study={study} store={store} />
    </>
  );
}

function Trials({ study, store }: Props) {
  const words = store.words.value;
  const { full, trials } = store.data.value;
  return (
    <section class="card stack">
      <div class="title-row">
        <h2>{words.study.trials}</h2>
        <Exports study={study} store={store} />
      </div>
      {full ? (
        <p class="notice">{words.study.full(store.format.value.integer(trials.length))}</p>
      ) : null}
      <TrialsTable store={store} />
    </section>
  );
}

/** Returns the views that a study has something for. The shown one is always among them. */
function partsOf(study: StudyRow, shown: StudyPart, store: ResearchStore): readonly StudyPart[] {
  return studyParts.filter((part) => {
    switch (part) {
      case "front":
        return study.directions.length > 1 || part === shown;
      case "series":
        return (
          store.series.names.value.length > 0 ||
          store.series.hasReports.value === true ||
          part === shown
        );
      default:
        return true;
    }
  });
}

/** The links to the study's views. Each view has its own address, so they are links and no tabs. */
function Parts({ study, shown, store }: Props & { readonly shown: StudyPart }) {
  const words = store.words.value.parts;
  return (
    <nav class="parts" aria-label={words.label}>
      {partsOf(study, shown, store).map((part) => (
        <a
          key={part}
          class="part-link"
          data-part-link={part}
          href={hashOf({ page: "study", study: study.study, part })}
          aria-current={part === shown ? "page" : undefined}
        >
          {words.names[part]}
        </a>
      ))}
    </nav>
  );
}

/** Keeps the table and the plots as they are while a study runs, and says how much is newer. */
function Still({ study, store }: Props) {
  const words = store.words.value.plots.frame;
  const isStill = store.isStill.value;
  if (study.state !== "running" && !isStill) {
    return null;
  }
  return (
    <div class="table-tools">
      <label class="switch">
        <input
          type="checkbox"
          data-action="still"
          checked={isStill}
          onChange={(event) => store.keepStill(event.currentTarget.checked)}
        />
        <span>{words.still}</span>
      </label>
      <p class="quiet" role="status">
        {isStill ? words.waiting(store.format.value.integer(store.waiting.value)) : ""}
      </p>
    </div>
  );
}

const loadFront = () => import("./plots/front_view.tsx").then(({ FrontView }) => FrontView);

const loadParallel = () =>
  import("./plots/parallel_view.tsx").then(({ ParallelView }) => ParallelView);
const loadImportance = () =>
  import("./plots/importance_view.tsx").then(({ ImportanceView }) => ImportanceView);
const loadTimeline = () =>
  import("./plots/timeline_view.tsx").then(({ TimelineView }) => TimelineView);
const loadContour = () => import("./plots/contour_view.tsx").then(({ ContourView }) => ContourView);
const loadRank = () => import("./plots/rank_view.tsx").then(({ RankView }) => RankView);
const loadEdf = () => import("./plots/edf_view.tsx").then(({ EdfView }) => EdfView);
const loadSlice = () => import("./plots/slice_view.tsx").then(({ SliceView }) => SliceView);

function Part({ part, study, store }: Props & { readonly part: StudyPart }) {
  switch (part) {
    case "overview":
      return <Overview study={study} store={store} />;
    case "trials":
      return <Trials study={study} store={store} />;
    case "front":
      return <Loaded load={loadFront} store={store} />;
    case "parallel":
      return <Loaded load={loadParallel} store={store} />;
    case "slice":
      return <Loaded load={loadSlice} store={store} />;
    case "importance":
      return <Loaded load={loadImportance} store={store} />;
    case "timeline":
      return <Loaded load={loadTimeline} store={store} />;
    case "contour":
      return <Loaded load={loadContour} store={store} />;
    case "rank":
      return <Loaded load={loadRank} store={store} />;
    case "edf":
      return <Loaded load={loadEdf} store={store} />;
    case "series":
      return <StudySeries study={study} store={store} />;
    default:
      return part satisfies never;
  }
}

export function StudyView({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value;
  const study = store.study.value;
  const route = store.route.value;
  if (route.page !== "study") {
    return null;
  }
  return (
    <div class="stack" data-view="study" data-study-state={study?.state}>
      <nav aria-label={words.studies.heading}>
        <BackLink href={hashOf({ page: "studies" })} label={words.study.back} />
      </nav>
      <div class="title-row">
        <h1 tabIndex={-1}>{studyName(store, route.study)}</h1>
        {study === null ? null : <StateChip {...chipOf(study, words)} />}
      </div>
      {study === null && store.problem.value === null ? <p class="quiet">{words.loading}</p> : null}
      {study === null ? null : (
        <>
          <Parts study={study} shown={route.part} store={store} />
          <Still study={study} store={store} />
          <Part part={route.part} study={study} store={store} />
        </>
      )}
    </div>
  );
}
