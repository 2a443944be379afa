// Every state that the join page can show, with plausible and with awkward content. Pure data.

import { NO_LIMITS } from "@hyperflock/worker-runtime/limits";
import type {
  Contribution,
  Cooling,
  Interrupted,
  Limits,
  ProjectView,
  TrialView,
  VolunteerState,
} from "@hyperflock/worker-runtime/page";
import type { InstallWay } from "../app_shell/install_hint.ts";
import type { Downloads } from "../join/download/download.ts";
import type { CodeResult } from "../join/enrolment_code.ts";
import type { Given } from "../join/given/given_api.ts";
import type { InAppBrowser } from "../join/in_app.ts";
import type { Together } from "../join/passphrase/passphrase_api.ts";
import type { ProjectLoad } from "../join/project_api.ts";

/** The fixed time of the stories: 2026-11-21 09:30 UTC. */
export const STORY_NOW_MS = 1_795_253_400_000;

export interface Story {
  readonly code: CodeResult;
  readonly load: ProjectLoad;
  readonly state: VolunteerState;
  readonly trials: number;
  readonly seconds: number;
  readonly awake: boolean;
  readonly interrupted: Interrupted | null;
  readonly finishing: boolean;
  readonly cooling: Cooling | null;
  readonly online: boolean;
  readonly inApp: InAppBrowser | null;
  /** What this device gave before, if it has joined the project on an earlier visit. */
  readonly before: Contribution | null;
  /** What the server has counted, by enrolment code. */
  readonly given: Readonly<Record<string, Given>>;
  /** What the devices of the passphrase gave; null without one. */
  readonly together: Together | null;
  /** What is open in the part about the passphrase. */
  readonly passphrase: "closed" | "words" | "entry" | "no_device";
  /** The project's name on the earlier visit. */
  readonly earlierName: string;
  readonly damaged: number;
  /** Whether the browser refuses to remember. */
  readonly refusesStorage: boolean;
  /** How the page offers an icon on the home screen. */
  readonly hint: InstallWay;
  readonly hasNewVersion: boolean;
  readonly limits: Limits;
}

export const PROJECT: ProjectView = {
  name: "Small CNNs on MNIST",
  owner: "Aoki Lab",
  studies: 3,
  trialsDone: 412,
  trialsTotal: 1024,
};

/** The project that belongs to the second code of the stories' link. */
/** Returns what the server lists for studies that fetch these amounts. */
const downloadsOf = (...sizes: readonly number[]): Downloads => ({
  pieces: [],
  studies: sizes.map((bytes, i) => ({ pieces: [], blobs: [{ sha256: `${i}`, bytes }] })),
});
export const OTHER_PROJECT: ProjectView = {
  name: "Weather of small islands",
  owner: "Marine Institute",
  studies: 1,
  trialsDone: 0,
  trialsTotal: 0,
};

const LONG_PROJECT: ProjectView = {
  name: "Hyperparametersuchemitgefaltetennetzwerkenundverteiltenfreiwilligengeräten, second round of the autumn term",
  owner: "Department of Applied Computational Statistics and Machine Learning",
  studies: 1234,
  trialsDone: 9_876_543,
  trialsTotal: 12_345_678,
};

/** Returns a loss that falls and oscillates. The formula is fixed, so that pictures can be compared. */
function falling(count: number): (readonly [number, number])[] {
  return Array.from({ length: count }, (_, i) => {
    const ripple = 0.09 * Math.sin(i * 1.7) * Math.exp(-i / 60);
    return [i * 10, 0.12 + 2.18 * Math.exp(-i / 14) + ripple] as const;
  });
}

export const TRIAL: TrialView = {
  study: 7,
  studyName: "mnist-grid",
  owner: "Aoki Lab",
  number: 16,
  total: 64,
  params: { channels1: 16, channels2: 64, channels3: 4 },
  startedAt: STORY_NOW_MS - 132_000,
  points: falling(60),
};

const AWKWARD_TRIAL: TrialView = {
  study: 8,
  studyName: "a_study_name_without_any_place_to_break_it_because_it_uses_underscores_only",
  owner: LONG_PROJECT.owner,
  number: 9_999_998,
  total: 12_345_678,
  params: {
    learning_rate: 0.00031622776601683794,
    optimizer: "MomentumSGD",
    layers: { "()": [32, 64, 128] },
    augment: true,
    weight_decay: null,
    "a parameter whose name is much longer than anyone would like it to be":
      "and a value that is just as long, longer than the page wants to show",
  },
  startedAt: STORY_NOW_MS - 8_040_000,
  points: [
    [1_000_000, -123_456_789],
    [2_000_000, 0.000_000_123],
    [3_000_000, 987_654_321],
  ],
};

export const STORY_CODE = "hfe_Zm9yLXN0b3JpZXMtb25seQ";
export const OTHER_CODE = "hfe_YW5vdGhlci1wcm9qZWN0";

const BASE: Story = {
  code: { kind: "codes", codes: [STORY_CODE] },
  load: { kind: "ready", project: PROJECT },
  state: { phase: "idle" },
  trials: 0,
  seconds: 0,
  awake: true,
  interrupted: null,
  finishing: false,
  cooling: null,
  online: true,
  inApp: null,
  before: null,
  given: {},
  together: null,
  passphrase: "closed",
  earlierName: PROJECT.name,
  damaged: 0,
  refusesStorage: false,
  hint: "none",
  hasNewVersion: false,
  limits: NO_LIMITS,
};

const LIMITS: Limits = {
  onlyCharging: true,
  batteryFloor: 30,
  onlyUnmetered: true,
  hours: { from: 22, until: 7 },
  minutesADay: 120,
  dataADay: 200e6,
  dataAStudy: 20e6,
  processorShare: 0.5,
};

const state = (value: VolunteerState, rest: Partial<Story> = {}): Story => ({
  ...BASE,
  state: value,
  ...rest,
});
const problem = (kind: Extract<ProjectLoad, { kind: "problem" }>["problem"]): Story => ({
  ...BASE,
  load: { kind: "problem", problem: kind },
});
const BACK: CodeResult = { kind: "codes", codes: [STORY_CODE], isMemory: true };
const BACK_TO_TWO: CodeResult = { kind: "codes", codes: [STORY_CODE, OTHER_CODE], isMemory: true };
const some = { trials: 12, seconds: 1_490 } as const;

/** What the server has counted for a device. `todaySince` is 0:00 UTC of the stories' day. */
const counted = (trials: number, ms: number, improved: number, name = PROJECT.name): Given => ({
  todaySince: STORY_NOW_MS - 34_200_000,
  projects: [
    {
      name,
      today: { trials: Math.ceil(trials / 4), ms: ms / 4, improved: Math.floor(improved / 4) },
      week: { trials: Math.ceil(trials / 2), ms: ms / 2, improved: Math.floor(improved / 2) },
      all: { trials, ms, improved },
    },
  ],
});

const inside = (
  app: InAppBrowser["app"],
  label: string | null,
  system: InAppBrowser["system"],
): Partial<Story> => ({ inApp: { app, label, system } });

export const stories = {
  idle: BASE,
  choices: { ...BASE, code: { kind: "codes", codes: [STORY_CODE, OTHER_CODE] } },
  welcome_back: { ...BASE, code: BACK, before: some },
  welcome_back_first: { ...BASE, code: BACK, before: { trials: 0, seconds: 0 } },
  welcome_back_long: {
    ...BASE,
    code: BACK_TO_TWO,
    before: { trials: 1_234_567, seconds: 4_321_987 },
    load: { kind: "ready", project: LONG_PROJECT },
  },
  welcome_back_sized: {
    ...BASE,
    code: BACK,
    before: some,
    load: { kind: "ready", project: PROJECT, downloads: downloadsOf(3_200_000) },
  },
  idle_sized: {
    ...BASE,
    load: { kind: "ready", project: PROJECT, downloads: downloadsOf(8_612_345, 270_000_000) },
  },
  two_projects: { ...BASE, code: BACK_TO_TWO, before: some },
  given: { ...BASE, code: BACK, before: some, given: { [STORY_CODE]: counted(12, 1_490_000, 3) } },
  given_to_two: {
    ...BASE,
    code: BACK_TO_TWO,
    before: some,
    given: {
      [STORY_CODE]: counted(12, 1_490_000, 3),
      [OTHER_CODE]: counted(7, 11_640_000, 0, OTHER_PROJECT.name),
    },
  },
  given_awkward: {
    ...BASE,
    code: BACK_TO_TWO,
    before: some,
    load: { kind: "ready", project: LONG_PROJECT },
    given: {
      [STORY_CODE]: counted(1_234_567, 4_321_987_000, 1_234, LONG_PROJECT.name),
      [OTHER_CODE]: counted(1, 0, 0, OTHER_PROJECT.name),
    },
  },
  given_together: {
    ...BASE,
    code: BACK,
    before: some,
    given: { [STORY_CODE]: counted(12, 1_490_000, 3) },
    together: { devices: 3, given: counted(240, 61_490_000, 17) },
  },
  passphrase_words: { ...BASE, code: BACK, before: some, passphrase: "words" },
  passphrase_entry: { ...BASE, code: BACK, before: some, passphrase: "entry" },
  passphrase_no_device: { ...BASE, passphrase: "no_device" },
  renamed: { ...BASE, code: BACK, before: some, earlierName: "CNNs" },
  link_ended: { ...BASE, code: BACK, before: some, load: { kind: "problem", problem: "bad_code" } },
  back_unreachable: {
    ...BASE,
    code: BACK_TO_TWO,
    before: some,
    load: { kind: "problem", problem: "unreachable" },
  },
  back_one_unreachable: {
    ...BASE,
    code: BACK,
    before: some,
    load: { kind: "problem", problem: "unreachable" },
  },
  new_version: { ...BASE, code: BACK, before: some, hasNewVersion: true },
  install_button: { ...BASE, code: BACK, before: some, hint: "button" },
  install_ios: { ...BASE, code: BACK, before: some, hint: "ios" },
  limited: { ...BASE, code: BACK, before: some, limits: LIMITS },
  not_charging: state({ phase: "paused", reason: "not_charging" }, { ...some, limits: LIMITS }),
  battery_low: state({ phase: "paused", reason: "battery_low" }, { ...some, limits: LIMITS }),
  metered: state({ phase: "paused", reason: "metered" }, { ...some, limits: LIMITS }),
  outside_hours: state({ phase: "paused", reason: "outside_hours" }, { ...some, limits: LIMITS }),
  minutes_used: state({ phase: "paused", reason: "minutes_used" }, { ...some, limits: LIMITS }),
  data_used: state({ phase: "paused", reason: "data_used" }, { ...some, limits: LIMITS }),
  study_too_large: state(
    {
      phase: "waiting",
      reason: "no_matching_work",
      refused: { rule: "study", bytes: 270e6, study: TRIAL.studyName },
    },
    { ...some, limits: LIMITS },
  ),
  day_too_small: state(
    {
      phase: "waiting",
      reason: "no_matching_work",
      refused: { rule: "day", bytes: 170e6, study: AWKWARD_TRIAL.studyName },
    },
    { ...some, limits: LIMITS },
  ),
  damaged: { ...BASE, code: { kind: "missing" }, damaged: 1 },
  in_app_line: { ...BASE, ...inside("line", "LINE", "ios") },
  in_app_instagram: { ...BASE, ...inside("instagram", "Instagram", "android") },
  in_app_facebook: { ...BASE, ...inside("facebook", "Facebook", "ios") },
  in_app_x: { ...BASE, ...inside("x", "X", "ios") },
  in_app_google: { ...BASE, ...inside("google", "Google", "ios") },
  in_app_wechat: state(
    { phase: "unsupported", reason: "not_isolated" },
    inside("wechat", "WeChat", "android"),
  ),
  in_app_yahoo_japan: { ...BASE, ...inside("yahoo_japan", "Yahoo! JAPAN", "android") },
  in_app_kakaotalk: { ...BASE, ...inside("kakaotalk", "KakaoTalk", "ios") },
  in_app_other: { ...BASE, ...inside("other", null, "android") },
  idle_long: { ...BASE, load: { kind: "ready", project: LONG_PROJECT } },
  idle_empty: {
    ...BASE,
    load: { kind: "ready", project: { ...PROJECT, studies: 0, trialsDone: 0, trialsTotal: 0 } },
  },
  project_loading: { ...BASE, load: { kind: "loading" } },
  no_code: { ...BASE, code: { kind: "missing" } },
  malformed_code: { ...BASE, code: { kind: "malformed" } },
  bad_code: problem("bad_code"),
  project_rate_limited: problem("rate_limited"),
  project_unreachable: problem("unreachable"),
  project_server: problem("server"),
  not_isolated: state({ phase: "unsupported", reason: "not_isolated" }),
  insecure_context: state({ phase: "unsupported", reason: "insecure_context" }),
  no_shared_memory: state({ phase: "unsupported", reason: "no_shared_memory" }),
  no_module_workers: state({ phase: "unsupported", reason: "no_module_workers" }),
  no_wasm_simd: state({ phase: "unsupported", reason: "no_wasm_simd" }),
  no_webassembly: state({ phase: "unsupported", reason: "no_webassembly" }),
  no_crypto: state({ phase: "unsupported", reason: "no_crypto" }),
  no_websocket: state({ phase: "unsupported", reason: "no_websocket" }),
  no_streams: state({ phase: "unsupported", reason: "no_streams" }),
  joining: state({ phase: "joining" }),
  connecting: state({ phase: "connecting", attempt: 1, retryAt: null }),
  retrying: state({ phase: "connecting", attempt: 4, retryAt: STORY_NOW_MS + 12_000 }, some),
  retrying_now: state({ phase: "connecting", attempt: 4, retryAt: null }, some),
  no_work: state({ phase: "waiting", reason: "no_work" }, some),
  no_matching_work: state({ phase: "waiting", reason: "no_matching_work" }),
  stopped_by_operator: state(
    { phase: "waiting", reason: "no_work", stoppedStudy: "mnist-grid" },
    some,
  ),
  draining: state({ phase: "waiting", reason: "draining" }, some),
  read_only: state({ phase: "waiting", reason: "read_only" }, some),
  loading: state({
    phase: "loading",
    loadedBytes: 4_310_000,
    totalBytes: 9_870_000,
    trial: { ...TRIAL, points: [] },
  }),
  loading_unknown: state({
    phase: "loading",
    loadedBytes: 0,
    totalBytes: 0,
    trial: { ...TRIAL, points: [] },
  }),
  computing: state({ phase: "computing", trial: TRIAL }, some),
  computing_given: state(
    { phase: "computing", trial: TRIAL },
    { ...some, code: BACK, before: some, given: { [STORY_CODE]: counted(13, 1_622_000, 4) } },
  ),
  computing_first: state(
    { phase: "computing", trial: { ...TRIAL, points: [], startedAt: STORY_NOW_MS - 3_000 } },
    { awake: false },
  ),
  computing_one: state({ phase: "computing", trial: { ...TRIAL, points: [[0, 2.25]] } }),
  computing_awkward: state(
    { phase: "computing", trial: AWKWARD_TRIAL },
    { trials: 1_234_567, seconds: 4_321_987, load: { kind: "ready", project: LONG_PROJECT } },
  ),
  delivering: state(
    { phase: "delivering", trial: TRIAL },
    { ...some, online: false, awake: false },
  ),
  finishing: state({ phase: "computing", trial: TRIAL }, { ...some, finishing: true }),
  cooling_heat: state(
    { phase: "computing", trial: TRIAL },
    { ...some, cooling: { cause: "heat", share: 0.5 } },
  ),
  cooling_pressure: state(
    { phase: "computing", trial: TRIAL },
    { ...some, cooling: { cause: "pressure", share: 0.25 }, limits: LIMITS },
  ),
  computing_offline: state({ phase: "computing", trial: TRIAL }, { ...some, online: false }),
  offline: state(
    { phase: "connecting", attempt: 4, retryAt: STORY_NOW_MS + 12_000 },
    { ...some, online: false },
  ),
  paused: state({ phase: "paused", reason: "hidden" }, some),
  paused_by_choice: state({ phase: "paused", reason: "by_choice" }, some),
  paused_kept: state({ phase: "paused", reason: "hidden", kept: true }, some),
  paused_by_choice_kept: state({ phase: "paused", reason: "by_choice", kept: true }, some),
  not_charging_kept: state(
    { phase: "paused", reason: "not_charging", kept: true },
    { ...some, limits: LIMITS },
  ),
  stopped: state({ phase: "stopped" }, some),
  finished: state({ phase: "finished" }, some),
  elsewhere: state({ phase: "elsewhere" }),
  interrupted: {
    ...BASE,
    interrupted: { during: "trial", study: 7, studyName: TRIAL.studyName, number: 16 },
  },
  interrupted_awkward: {
    ...BASE,
    load: { kind: "ready", project: LONG_PROJECT },
    interrupted: {
      during: "trial",
      study: 8,
      studyName: AWKWARD_TRIAL.studyName,
      number: AWKWARD_TRIAL.number,
    },
  },
  interrupted_hidden: { ...BASE, interrupted: { during: "hidden" } },
  comes_back: state(
    { phase: "computing", trial: TRIAL },
    { interrupted: { during: "trial", study: 7, studyName: TRIAL.studyName, number: 16 } },
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

/** The state of a story's volunteer after Start was pressed. */
export const AFTER_START: VolunteerState = { phase: "joining" };
