// Shows a study's webhook: the host to which the server posts events, and the newest event with its delivery. Page
// thread.

import type { StudyRow, WebhookRow } from "./model/rows.ts";
import { visibleText } from "./model/visible_text.ts";
import { Pairs } from "./pairs.tsx";
import type { ResearchStore } from "./research_store.ts";
import { problemOfDelivery } from "./view_model.ts";

type Delivery = NonNullable<WebhookRow["last"]>;

interface Props {
  readonly study: StudyRow;
  readonly store: ResearchStore;
}

function pairsOf(last: Delivery, store: ResearchStore): readonly (readonly [string, string])[] {
  const words = store.words.value.study.webhook;
  const format = store.format.value;
  return [
    [words.event, words.events[last.event]],
    [words.at, format.time(last.at)],
    [words.outcome, words.outcomes[last.state]],
    [words.attempts, format.integer(last.attempts)],
    ...(last.status === null ? [] : ([[words.status, String(last.status)]] as const)),
    ...(last.nextAt === null || last.attempts === 0
      ? []
      : ([[words.nextAt, format.time(last.nextAt)]] as const)),
  ];
}

export function Webhook({ study, store }: Props) {
  const words = store.words.value.study.webhook;
  const hook = study.webhook;
  if (hook === null) {
    return null;
  }
  const { last } = hook;
  const problem = last === null ? null : problemOfDelivery(last, words.problems);
  return (
    <section class="card stack" data-webhook={last?.state ?? "none"}>
      <h2>{words.heading}</h2>
      <Pairs
        rows={[
          [words.host, visibleText(hook.host)],
          ...(last === null ? [] : pairsOf(last, store)),
        ]}
      />
      {last === null ? <p class="quiet">{words.none}</p> : null}
      {problem === null ? null : (
        <p class="notice" data-webhook-problem={last?.code}>
          {problem}
        </p>
      )}
    </section>
  );
}
