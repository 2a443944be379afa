// Every state that the join page can show, with plausible and with awkward content. Pure data.

import type {
  Interrupted,
  ProjectView,
  TrialView,
  VolunteerState,
} from "@hyperflock/worker-runtime/page";
import type { CodeResult } from "../join/enrolment_code.ts";
import type { InAppBrowser } from "../join/in_app.ts";
import type { ProjectLoad } from "../join/project_api.ts";

/** The stories' clock stands still: 2026-11-21 09:30 UTC. */
export const kStoryNowMs = 1_795_253_400_000;

export interface Story {
  readonly code: CodeResult;
  readonly load: ProjectLoad;
  readonly state: VolunteerState;
  readonly trials: number;
  readonly seconds: number;
  readonly awake: boolean;
  readonly interrupted: Interrupted | null;
  readonly finishing: boolean;
  readonly online: boolean;
  readonly inApp: InAppBrowser | null;
}

export const kProject: ProjectView = {
  name: "Small CNNs on MNIST",
  owner: "Aoki Lab",
  studies: 3,
  trialsDone: 412,
  trialsTotal: 1024,
};

/** What the stories' second code opens. */
export const kOtherProject: ProjectView = {
  name: "Weather of small islands",
  owner: "Marine Institute",
  studies: 1,
  trialsDone: 0,
  trialsTotal: 0,
};

const kLongProject: ProjectView = {
  name: "Hyperparametersuchemitgefaltetennetzwerkenundverteiltenfreiwilligengeräten, second round of the autumn term",
  owner: "Department of Applied Computational Statistics and Machine Learning",
  studies: 1234,
  trialsDone: 9_876_543,
  trialsTotal: 12_345_678,
};

/** A loss that falls with a ripple; a fixed formula, so that pictures can be compared. */
function falling(count: number): (readonly [number, number])[] {
  return Array.from({ length: count }, (_, i) => {
    const ripple = 0.09 * Math.sin(i * 1.7) * Math.exp(-i / 60);
    return [i * 10, 0.12 + 2.18 * Math.exp(-i / 14) + ripple] as const;
  });
}

export const kTrial: TrialView = {
  study: 7,
  studyName: "mnist-grid",
  owner: "Aoki Lab",
  number: 16,
  total: 64,
  params: { channels1: 16, channels2: 64, channels3: 4 },
  startedAt: kStoryNowMs - 132_000,
  points: falling(60),
};

const kAwkwardTrial: TrialView = {
  study: 8,
  studyName: "a_study_name_without_any_place_to_break_it_because_it_uses_underscores_only",
  owner: kLongProject.owner,
  number: 9_999_998,
  total: 12_345_678,
  params: {
    learning_rate: 0.00031622776601683794,
    optimizer: "MomentumSGD",
    layers: [32, 64, 128],
    augment: true,
    weight_decay: null,
    "a parameter whose name is much longer than anyone would like it to be":
      "and a value that is just as long, longer than the page wants to show",
  },
  startedAt: kStoryNowMs - 8_040_000,
  points: [
    [1_000_000, -123_456_789],
    [2_000_000, 0.000_000_123],
    [3_000_000, 987_654_321],
  ],
};

export const kStoryCode = "hfe_Zm9yLXN0b3JpZXMtb25seQ";
export const kOtherCode = "hfe_YW5vdGhlci1wcm9qZWN0";

const kBase: Story = {
  code: { kind: "codes", codes: [kStoryCode] },
  load: { kind: "ready", project: kProject },
  state: { phase: "idle" },
  trials: 0,
  seconds: 0,
  awake: true,
  interrupted: null,
  finishing: false,
  online: true,
  inApp: null,
};

const state = (value: VolunteerState, rest: Partial<Story> = {}): Story => ({
  ...kBase,
  state: value,
  ...rest,
});
const problem = (kind: Extract<ProjectLoad, { kind: "problem" }>["problem"]): Story => ({
  ...kBase,
  load: { kind: "problem", problem: kind },
});
const some = { trials: 12, seconds: 1_490 } as const;

const inside = (
  app: InAppBrowser["app"],
  label: string | null,
  system: InAppBrowser["system"],
): Partial<Story> => ({ inApp: { app, label, system } });

export const stories = {
  idle: kBase,
  choices: { ...kBase, code: { kind: "codes", codes: [kStoryCode, kOtherCode] } },
  in_app_line: { ...kBase, ...inside("line", "LINE", "ios") },
  in_app_instagram: { ...kBase, ...inside("instagram", "Instagram", "android") },
  in_app_facebook: { ...kBase, ...inside("facebook", "Facebook", "ios") },
  in_app_x: { ...kBase, ...inside("x", "X", "ios") },
  in_app_google: { ...kBase, ...inside("google", "Google", "ios") },
  in_app_wechat: state(
    { phase: "unsupported", reason: "not_isolated" },
    inside("wechat", "WeChat", "android"),
  ),
  in_app_other: { ...kBase, ...inside("other", null, "android") },
  idle_long: { ...kBase, load: { kind: "ready", project: kLongProject } },
  idle_empty: {
    ...kBase,
    load: { kind: "ready", project: { ...kProject, studies: 0, trialsDone: 0, trialsTotal: 0 } },
  },
  project_loading: { ...kBase, load: { kind: "loading" } },
  no_code: { ...kBase, code: { kind: "missing" } },
  malformed_code: { ...kBase, code: { kind: "malformed" } },
  bad_code: problem("bad_code"),
  project_rate_limited: problem("rate_limited"),
  project_unreachable: problem("unreachable"),
  project_server: problem("server"),
  not_isolated: state({ phase: "unsupported", reason: "not_isolated" }),
  insecure_context: state({ phase: "unsupported", reason: "insecure_context" }),
  no_shared_memory: state({ phase: "unsupported", reason: "no_shared_memory" }),
  no_module_workers: state({ phase: "unsupported", reason: "no_module_workers" }),
  no_wasm_simd: state({ phase: "unsupported", reason: "no_wasm_simd" }),
  joining: state({ phase: "joining" }),
  connecting: state({ phase: "connecting", attempt: 1, retryAt: null }),
  retrying: state({ phase: "connecting", attempt: 4, retryAt: kStoryNowMs + 12_000 }, some),
  retrying_now: state({ phase: "connecting", attempt: 4, retryAt: null }, some),
  no_work: state({ phase: "waiting", reason: "no_work" }, some),
  no_matching_work: state({ phase: "waiting", reason: "no_matching_work" }),
  draining: state({ phase: "waiting", reason: "draining" }, some),
  read_only: state({ phase: "waiting", reason: "read_only" }, some),
  loading: state({
    phase: "loading",
    loadedBytes: 4_310_000,
    totalBytes: 9_870_000,
    trial: { ...kTrial, points: [] },
  }),
  loading_unknown: state({
    phase: "loading",
    loadedBytes: 0,
    totalBytes: 0,
    trial: { ...kTrial, points: [] },
  }),
  computing: state({ phase: "computing", trial: kTrial }, some),
  computing_first: state(
    { phase: "computing", trial: { ...kTrial, points: [], startedAt: kStoryNowMs - 3_000 } },
    { awake: false },
  ),
  computing_one: state({ phase: "computing", trial: { ...kTrial, points: [[0, 2.25]] } }),
  computing_awkward: state(
    { phase: "computing", trial: kAwkwardTrial },
    { trials: 1_234_567, seconds: 4_321_987, load: { kind: "ready", project: kLongProject } },
  ),
  finishing: state({ phase: "computing", trial: kTrial }, { ...some, finishing: true }),
  computing_offline: state({ phase: "computing", trial: kTrial }, { ...some, online: false }),
  offline: state(
    { phase: "connecting", attempt: 4, retryAt: kStoryNowMs + 12_000 },
    { ...some, online: false },
  ),
  paused: state({ phase: "paused", reason: "hidden" }, some),
  paused_by_choice: state({ phase: "paused", reason: "by_choice" }, some),
  stopped: state({ phase: "stopped" }, some),
  finished: state({ phase: "finished" }, some),
  elsewhere: state({ phase: "elsewhere" }),
  interrupted: {
    ...kBase,
    interrupted: { during: "trial", study: 7, studyName: kTrial.studyName, number: 16 },
  },
  interrupted_awkward: {
    ...kBase,
    load: { kind: "ready", project: kLongProject },
    interrupted: {
      during: "trial",
      study: 8,
      studyName: kAwkwardTrial.studyName,
      number: kAwkwardTrial.number,
    },
  },
  interrupted_hidden: { ...kBase, interrupted: { during: "hidden" } },
  comes_back: state(
    { phase: "computing", trial: kTrial },
    { interrupted: { during: "trial", study: 7, studyName: kTrial.studyName, number: 16 } },
  ),
  forgetting: state({ phase: "forgetting" }, some),
  forgotten: state({ phase: "forgotten" }),
  not_forgotten: state({ phase: "not_forgotten" }, some),
  replaced: state({ phase: "replaced" }, some),
  failed_known: state({ phase: "failed", code: "full", message: "the pool is full" }),
  failed_other: state({
    phase: "failed",
    code: "runtime_missing",
    message: "The server has no runtime for this trial. Tell the person who sent the link.",
  }),
} as const satisfies Readonly<Record<string, Story>>;

export type StoryName = keyof typeof stories;

/** What Start leads to in a story. */
export const kAfterStart: VolunteerState = { phase: "joining" };
