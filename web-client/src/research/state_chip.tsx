// Shows a state as a word on a coloured background. The word alone is sufficient; the colour helps. Page thread.

import type { AttemptState, PersonRow, StudyState, TrialState } from "./model/rows.ts";

type Tone = "good" | "busy" | "muted" | "bad";

const TONES: Readonly<Record<StudyState | TrialState | AttemptState | PersonRow["state"], Tone>> = {
  running: "busy",
  live: "busy",
  finished: "good",
  complete: "good",
  accepted: "good",
  pruned: "muted",
  evidence: "muted",
  released: "muted",
  cancelled: "muted",
  revoked: "muted",
  active: "good",
  pending: "busy",
  refused: "muted",
  suspended: "bad",
  expired: "bad",
  failed: "bad",
};

interface Props {
  readonly state: keyof typeof TONES;
  readonly label: string;
}

export function StateChip({ state, label }: Props) {
  return (
    <span class="chip" data-tone={TONES[state]} data-state={state}>
      {label}
    </span>
  );
}
