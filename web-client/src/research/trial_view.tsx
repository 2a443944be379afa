// Shows one trial: parameters, value, reported curve, attempts with their devices, and its error. Page thread.

import { saveFile } from "../ui/browser.ts";
import { chartOf } from "../ui/chart.ts";
import { Chart } from "../ui/chart_view.tsx";
import { Failure } from "./failure.tsx";
import { paramText } from "./model/params.ts";
import { studyHash } from "./model/route.ts";
import type { AttemptRow, RejectionRow, TrialDetail } from "./model/rows.ts";
import { visibleText } from "./model/visible_text.ts";
import { Pairs } from "./pairs.tsx";
import { Reject } from "./reject.tsx";
import type { ResearchStore } from "./research_store.ts";
import { TrialSeriesCharts } from "./series_view.tsx";
import { StateChip } from "./state_chip.tsx";
import { BackLink } from "./study_view.tsx";
import { deviceText, studyName } from "./view_model.ts";
import type { Words } from "./words/dictionary.ts";

interface Props {
  readonly trial: TrialDetail;
  readonly store: ResearchStore;
}

function Summary({ trial, store }: Props) {
  const words = store.words.value.trial;
  const format = store.format.value;
  const values = trial.values.map((value) => format.value(value)).join(", ");
  const rows: readonly (readonly [string, string])[] = [
    [words.value, values === "" ? words.noValue : values],
    ...(trial.isInfeasible ? ([[words.constraints, words.notMet]] as const) : []),
    ...(trial.runMs === 0 ? [] : ([[words.time, format.duration(trial.runMs)]] as const)),
    [words.started, format.time(trial.startedAt)],
    ...(trial.finishedAt === 0 ? [] : ([[words.finished, format.time(trial.finishedAt)]] as const)),
    [words.seed, String(trial.seed)],
  ];
  return (
    <section class="card stack">
      <Pairs rows={rows} />
      <h2>{words.parameters}</h2>
      <dl class="params-list">
        {trial.params.map((param) => (
          <div class="param" key={param.name}>
            <dt>{param.name}</dt>
            <dd>{visibleText(paramText(param))}</dd>
          </div>
        ))}
      </dl>
      {trial.summary.length === 0 ? null : (
        <>
          <h2>{words.summary}</h2>
          <dl class="params-list" data-part="summary">
            {trial.summary.map(([name, value]) => (
              <div class="param" key={name}>
                <dt>{visibleText(name)}</dt>
                <dd>{Number.isFinite(value) ? format.value(value) : String(value)}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {trial.attributes.length === 0 ? null : (
        <>
          <h2>{words.attributes}</h2>
          <dl class="params-list" data-part="attributes">
            {trial.attributes.map((attribute) => (
              <div class="param" key={attribute.name}>
                <dt>{visibleText(attribute.name)}</dt>
                <dd>{visibleText(paramText(attribute))}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </section>
  );
}

function Curve({ trial, store }: Props) {
  const words = store.words.value.trial;
  const format = store.format.value;
  const chart = chartOf(trial.points, { scale: "linear", direction: null });
  const first = trial.points[0];
  const last = trial.points.at(-1);
  if (chart === null || first === undefined || last === undefined) {
    return (
      <section class="card stack">
        <h2>{words.curve}</h2>
        <p class="quiet">{words.curveEmpty}</p>
      </section>
    );
  }
  return (
    <section class="card stack">
      <Chart
        chart={chart}
        kind="line"
        title={words.curve}
        summary={words.curveSummary(
          format.integer(chart.count),
          format.value(first[1]),
          format.value(last[1]),
        )}
        xLabel={words.stepAxis}
        value={(value) => format.metric(value)}
        step={(value) => format.integer(value)}
      />
      <details class="more">
        <summary>{words.points}</summary>
        <div class="points">
          <table class="table is-small">
            <thead>
              <tr>
                <th scope="col">{words.step}</th>
                <th scope="col">{words.reported}</th>
              </tr>
            </thead>
            <tbody>
              {trial.points.map(([step, value]) => (
                <tr key={step}>
                  <td>{format.integer(step)}</td>
                  <td>{format.value(value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}

/** Returns why an attempt was rejected; the server itself gives a code. */
function reasonOf(rejected: RejectionRow, words: Words): string {
  const reason = rejected.reason ?? "";
  const known = rejected.by === "" ? words.trial.serverReasons[reason] : undefined;
  return known ?? visibleText(reason);
}

/** Returns why the server does not believe the result. Devices choose most codes themselves. */
function suspicionOf(code: string, words: Words): string | undefined {
  return Object.hasOwn(words.trial.suspicions, code) ? words.trial.suspicions[code] : undefined;
}

function Attempt({
  attempt,
  store,
  shownTraceback,
}: {
  readonly attempt: AttemptRow;
  readonly store: ResearchStore;
  readonly shownTraceback: string;
}) {
  const words = store.words.value;
  const format = store.format.value;
  const suspicion = attempt.error === null ? undefined : suspicionOf(attempt.error.code, words);
  const rows: readonly (readonly [string, string])[] = [
    [words.trial.device, `${deviceText(attempt.device, words)} (${attempt.device.device})`],
    [words.trial.started, format.time(attempt.startedAt)],
    ...(attempt.finishedAt === 0
      ? []
      : ([[words.trial.finished, format.time(attempt.finishedAt)]] as const)),
    ...(attempt.runMs === 0 ? [] : ([[words.trial.time, format.duration(attempt.runMs)]] as const)),
    ...(attempt.loadMs === 0
      ? []
      : ([[words.trial.load, format.duration(attempt.loadMs)]] as const)),
    ...(attempt.codeVersion === 1
      ? []
      : ([[words.trial.codeVersion, format.integer(attempt.codeVersion)]] as const)),
    ...(attempt.values.length === 0
      ? []
      : ([[words.trial.value, attempt.values.map((v) => format.value(v)).join(", ")]] as const)),
  ];
  return (
    <li class="attempt stack">
      <div class="title-row">
        <h3>{words.trial.attempt(format.integer(attempt.attempt))}</h3>
        <StateChip
          state={attempt.state}
          label={suspicion === undefined ? words.attemptStates[attempt.state] : words.trial.suspect}
        />
      </div>
      <Pairs rows={rows} />
      {attempt.rejected === null ? (
        <div class="button-row">
          <Reject store={store} which={{ device: attempt.device.device }} />
        </div>
      ) : (
        <p class="quiet" data-part="rejected">
          {attempt.rejected.by === ""
            ? words.trial.rejectedByServer(format.time(attempt.rejected.at))
            : words.trial.rejected(
                visibleText(attempt.rejected.by),
                format.time(attempt.rejected.at),
              )}
          {attempt.rejected.reason === undefined ? "" : `: ${reasonOf(attempt.rejected, words)}`}
        </p>
      )}
      {suspicion === undefined ? null : (
        <p class="quiet" data-part="suspect">
          {suspicion}
        </p>
      )}
      {attempt.error === null ? null : (
        <Failure error={attempt.error} store={store} shownTraceback={shownTraceback} />
      )}
    </li>
  );
}

function Files({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value.trial;
  const format = store.format.value;
  return (
    <section class="card stack" data-part="files">
      <h2>{words.files}</h2>
      <p class="quiet">{words.filesNote}</p>
      <ul class="files">
        {store.files.value.map(({ id, name, bytes }) => (
          <li class="file" key={id}>
            <span class="file-name">{visibleText(name)}</span>
            <span class="quiet">{format.size(bytes)}</span>
            <button
              type="button"
              class="button button-quiet button-small"
              disabled={store.fetching.value.has(id)}
              aria-label={words.downloadNamed(visibleText(name))}
              onClick={() => void store.fetchFile(id, (content) => saveFile(name, content))}
            >
              {store.fetching.value.has(id) ? store.words.value.loading : words.download}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function TrialView({ store }: { readonly store: ResearchStore }) {
  const route = store.route.value;
  const words = store.words.value;
  const format = store.format.value;
  const trial = store.detail.value;
  if (route.page !== "trial") {
    return null;
  }
  return (
    <div class="stack" data-view="trial">
      <nav>
        <BackLink href={studyHash(route.study)} label={studyName(store, route.study)} />
      </nav>
      <div class="title-row">
        <h1 tabIndex={-1}>{words.trial.heading(format.integer(route.trial))}</h1>
        {trial === null ? null : (
          <StateChip state={trial.state} label={words.trialStates[trial.state]} />
        )}
      </div>
      {trial === null ? (
        store.problem.value === null ? (
          <p class="quiet">{words.loading}</p>
        ) : null
      ) : (
        <div class="columns is-even">
          <div class="stack">
            <Summary trial={trial} store={store} />
            <Curve trial={trial} store={store} />
            <TrialSeriesCharts store={store} />
            {store.files.value.length === 0 ? null : <Files store={store} />}
          </div>
          <div class="stack">
            {trial.error === null ? null : (
              <section class="card stack">
                <h2>{words.trial.error}</h2>
                <Failure error={trial.error} store={store} />
              </section>
            )}
            <section class="card stack">
              <h2>{words.trial.attempts}</h2>
              <ol class="attempts">
                {trial.attemptsList.map((attempt) => (
                  <Attempt
                    key={attempt.attempt}
                    attempt={attempt}
                    store={store}
                    shownTraceback={trial.error?.traceback ?? ""}
                  />
                ))}
              </ol>
              {trial.attemptsList.every((attempt) => attempt.rejected !== null) ? null : (
                <div class="button-row">
                  <Reject store={store} which={{ trial: route.trial }} />
                </div>
              )}
            </section>
          </div>
        </div>
      )}
    </div>
  );
}
