// The self-test page. It shows whether this browser can take part, and a table of the findings. One button tries Python,
// another sends the report. Page thread.

import type { ComponentChild } from "preact";
import { Frame, useDocument } from "../ui/frame.tsx";
import { LanguageList } from "../ui/language_list.tsx";
import { ProgressBar } from "../ui/progress_bar.tsx";
import type { Check } from "./finding.ts";
import type { SelfTestStore } from "./selftest_store.ts";

interface Props {
  readonly store: SelfTestStore;
}

function verdictOf(store: SelfTestStore): string {
  const { verdict } = store.words.value;
  const obstacle = store.obstacle.value;
  if (obstacle !== null) {
    const { unsupported, states } = store.pageWords.value;
    return verdict.bad(`${unsupported.reasons[obstacle]} ${states.failureCode(obstacle)}`);
  }
  return store.isLooked.value ? verdict.good : verdict.looking;
}

function CheckRow({ check, store }: Props & { readonly check: Check }) {
  const words = store.words.value;
  const { name, state, detail } = check;
  const { title, remedy } = words.checks[name];
  const isWanting = state !== "ok" && state !== "skipped";
  return (
    <tr data-check={name} data-state={state}>
      <th scope="row">{title}</th>
      <td data-label={words.columns.state}>
        <span class={`finding finding-${state}`}>{words.states[state]}</span>
      </td>
      <td data-label={words.columns.detail} class="finding-detail">
        {detail || "–"}
      </td>
      <td data-label={words.columns.remedy}>{isWanting ? remedy : "–"}</td>
    </tr>
  );
}

function Findings({ store }: Props) {
  const { caption, columns } = store.words.value;
  return (
    <table class="findings">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{columns.check}</th>
          <th scope="col">{columns.state}</th>
          <th scope="col">{columns.detail}</th>
          <th scope="col">{columns.remedy}</th>
        </tr>
      </thead>
      <tbody>
        {store.checks.value.map((check) => (
          <CheckRow key={check.name} check={check} store={store} />
        ))}
      </tbody>
    </table>
  );
}

function Python({ store }: Props) {
  const words = store.words.value.python;
  const phase = store.python.value;
  const format = store.format.value;
  return (
    <section class="card" data-python={phase.kind}>
      <h2>{words.heading}</h2>
      <p class="soft">{phase.kind === "done" ? words.done : words.text}</p>
      {phase.kind === "runs" ? (
        <ProgressBar
          label={words.runs}
          fraction={phase.total === 0 ? null : Math.min(1, phase.loaded / phase.total)}
          text={
            phase.total === 0
              ? words.runs
              : words.bytes(format.bytes(phase.loaded), format.bytes(phase.total))
          }
        />
      ) : (
        <button
          type="button"
          class="button button-main"
          data-action="run_python"
          disabled={store.obstacle.value !== null}
          onClick={() => void store.runPython()}
        >
          {phase.kind === "done" ? words.again : words.button}
        </button>
      )}
    </section>
  );
}

function sendingText(store: SelfTestStore): string {
  const words = store.words.value.send;
  const phase = store.sending.value;
  switch (phase.kind) {
    case "not_sent":
      return store.environment.code === null ? words.withoutCode : words.text;
    case "sending":
      return words.sending;
    case "sent":
      return words.sent(store.format.value.integer(phase.number));
    case "refused":
      return words.refused(phase.code);
    default:
      return phase satisfies never;
  }
}

function Send({ store }: Props): ComponentChild {
  const words = store.words.value.send;
  const { kind } = store.sending.value;
  const mayBeSent = store.environment.code !== null && kind !== "sent" && kind !== "sending";
  return (
    <section class="card" data-sending={kind}>
      <h2>{words.heading}</h2>
      <p class="soft">{sendingText(store)}</p>
      {mayBeSent ? (
        <button
          type="button"
          class="button button-quiet"
          data-action="send_report"
          disabled={!store.isLooked.value || store.python.value.kind === "runs"}
          onClick={() => void store.send()}
        >
          {words.button}
        </button>
      ) : null}
    </section>
  );
}

export function SelfTestPage({ store }: Props) {
  const words = store.words.value;
  useDocument(() => ({ tag: store.words.value.tag, title: store.words.value.pageTitle }));
  const { class: deviceClass, engine } = store.environment;
  const obstacle = store.obstacle.value;
  const isGood = obstacle === null;
  const pythonDone = store.python.value.kind === "done" ? ` ${words.python.done}` : "";
  const sent = store.sending.value.kind === "not_sent" ? "" : ` ${sendingText(store)}`;
  return (
    <Frame
      languages={<LanguageList choice={store.choice} words={store.pageWords.value} />}
      announcement={store.isLooked.value ? `${verdictOf(store)}${pythonDone}${sent}` : ""}
    >
      <main class="selftest" data-looked={store.isLooked.value}>
        <h1>{words.heading}</h1>
        <p class="lead">{words.lead}</p>
        <p class={isGood ? "verdict" : "verdict is-bad"} data-verdict={obstacle ?? "good"}>
          {verdictOf(store)}
        </p>
        <p class="soft">{words.device(deviceClass, engine)}</p>
        <Findings store={store} />
        <div class="cards">
          <Python store={store} />
          <Send store={store} />
        </div>
        <p>
          <a class="button button-quiet" href="/join">
            {words.join}
          </a>
        </p>
      </main>
    </Frame>
  );
}
