// Shows the trial that this device works on: study, parameters, curve and time. Page thread.

import type { Dictionary } from "../i18n/dictionary.ts";
import type { Formatter } from "../i18n/format.ts";
import { Sparkline } from "../ui/sparkline.tsx";
import type { TrialCard } from "./view_model.ts";

interface Props {
  readonly trial: TrialCard;
  readonly words: Dictionary["trial"];
  readonly format: Formatter;
}

export function TrialDetails({ trial, words, format }: Props) {
  const runs = trial.elapsed !== null;
  return (
    <div class="trial">
      <div class="trial-head">
        <h3 class="trial-counter">{trial.counter}</h3>
        <p class="trial-study">
          <strong>{trial.study}</strong> <span>{trial.owner}</span>
        </p>
      </div>
      {trial.params.length === 0 ? null : (
        <div class="params">
          <h4 class="label">{words.parameters}</h4>
          <dl class="params-list">
            {trial.params.map(({ name, value }) => (
              <div class="param" key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
      {runs ? <Sparkline points={trial.points} words={words} format={format} /> : null}
      {runs ? (
        <p class="elapsed">
          <span>{words.elapsed}</span> <strong>{trial.elapsed}</strong>
        </p>
      ) : null}
    </div>
  );
}
