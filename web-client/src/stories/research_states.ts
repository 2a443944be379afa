// Every state that the researcher's page can show, with plausible and with awkward content. Pure data.

import type { ConsoleRows } from "./fake_console.ts";

export interface ResearchStory {
  readonly hash: string;
  /** The researcher's token; null if nobody has signed in. */
  readonly token: string | null;
  readonly rows: ConsoleRows;
}

type Row = Readonly<Record<string, unknown>>;

/** The fixed time of the stories: 2026-11-21 09:30 UTC. */
const NOW = 1_795_253_400_000;

const SPACE = [
  { name: "channels", values: [8, 16, 32] },
  { name: "lr", values: [0.1, 0.01, 0.001] },
  { name: "optimizer", values: ["Adam", "MomentumSGD"] },
];

export function studyRow(study: number, rest: Row = {}): Row {
  const row = {
    study,
    name: "mnist-grid",
    owner: "Aoki Lab",
    project: "default",
    state: "running",
    direction: "minimize",
    total: 64,
    complete: 38,
    pruned: 4,
    failed: 2,
    running: 3,
    attempts: 51,
    cursor: 144,
    entry: "digits_grid:objective",
    seed: 7,
    created_at: NOW - 5_400_000,
    space: SPACE,
    runtime: { chainer: "7.8.1" },
    bundle: { sha256: "0".repeat(64), bytes: 2_048 },
    best: {
      trial: 21,
      value: 0.041_327_5,
      params: '{"channels": 32, "lr": 0.001, "optimizer": "Adam"}',
    },
    // Only the row of a study that runs has an estimate.
    ...(rest.state === undefined
      ? { estimate: { runs: 38, devices: 3, left_ms: 1_260_000, device_ms: 3_780_000 } }
      : {}),
    ...rest,
  };
  // Removes undefined values, which JSON does not have.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
}

const DEVICES = [
  {
    device: "d_4fk2",
    class: "phone",
    engine: "Chrome 140",
    backend: "webgpu",
    adapter: "qualcomm adreno-7xx",
  },
  { device: "d_9mzq", class: "desktop", engine: "Firefox 145", backend: "cpu" },
  { device: "d_b7t1", class: "tablet", engine: "Safari 26", backend: "webgpu" },
  { device: "d_kk03", class: "node", engine: "Node 24", backend: "cpu" },
] as const;

/** Returns the part of a number after its point. */
function part(value: number): number {
  return value - Math.floor(value);
}

/** Returns a loss between 0.04 and 2.3. The formula is fixed, so that pictures can be compared. */
function lossOf(trial: number): number {
  return (
    0.041_327_5 + 1.9 * Math.abs(Math.sin(trial * 2.7 - 56.7)) ** 3 + (trial === 21 ? 0 : 0.03)
  );
}

function trialRow(study: number, trial: number, rest: Row = {}): Row {
  const finished = NOW - 5_000_000 + trial * 70_000;
  return {
    study,
    trial,
    state: "complete",
    params: JSON.stringify({
      channels: [8, 16, 32][trial % 3],
      lr: [0.1, 0.01, 0.001][Math.floor(trial / 3) % 3],
      optimizer: trial % 2 === 0 ? "Adam" : "MomentumSGD",
    }),
    seed: (1_000_003 * (trial + 1)) % 2 ** 32,
    values: [lossOf(trial)],
    attempts: 1,
    accepted_attempt: 500 + trial,
    device: DEVICES[trial % DEVICES.length],
    started_at: finished - 65_000,
    finished_at: finished,
    run_ms: 61_000 + (trial % 7) * 3_300,
    load_ms: 3_100,
    seq: 100 + trial,
    ...rest,
  };
}

const TRACEBACK = `Traceback (most recent call last):
  File "/bundle/digits_grid.py", line 41, in objective
    loss = train(model, trial.params["lr"], batches=trial.data["train"])
  File "/bundle/digits_grid.py", line 27, in train
    raise ValueError("The loss is not finite after epoch 3; a smaller learning rate may help, see the note in the file's head.")
ValueError: The loss is not finite after epoch 3; a smaller learning rate may help, see the note in the file's head.`;

const ERROR = {
  cause: "user_error",
  code: "ValueError",
  message: "The loss is not finite after epoch 3.",
  traceback: TRACEBACK,
};

const ATTRS = JSON.stringify({
  user: { git: "a3f9c2e", augment: true, layers: [64, 64, 10] },
  summary: { parameters: 1_234_567, gap: "NaN" },
});

const TRIALS: readonly Row[] = Array.from({ length: 44 }, (_, i) => {
  if (i === 9 || i === 30) {
    return trialRow(7, i, { state: "failed", values: [], error: ERROR });
  }
  if (i % 11 === 6) {
    return trialRow(7, i, { state: "pruned", values: [], ...seriesOf(i, 8) });
  }
  return trialRow(7, i, { ...seriesOf(i), ...(i === 21 ? { attrs: ATTRS } : {}) });
});

function attempt(id: number, state: string, device: Row, rest: Row = {}): Row {
  return {
    attempt: id,
    kind: "primary",
    state,
    device,
    values: [],
    started_at: NOW - 900_000,
    finished_at: NOW - 830_000,
    run_ms: 61_000,
    load_ms: 3_100,
    ...rest,
  };
}

/** Returns the row of a file that a trial uploaded. */
export function artifact(id: string, name: string, bytes: number, trial = 21): Row {
  return {
    ...{ id, trial, attempt: 521, name, type: "application/octet-stream" },
    ...{ sha256: "0".repeat(64), bytes, created_at: NOW - 840_000 },
  };
}

const POINTS = Array.from({ length: 30 }, (_, i) => [
  (i + 1) * 10,
  0.12 + 2.1 * Math.exp(-i / 7) + 0.05 * Math.sin(i),
]);

/** Returns the series that a trial logged. The formula is fixed, so that pictures can be compared. */
function seriesOf(trial: number, epochs = 30): Row {
  const steps = Array.from({ length: epochs }, (_, i) => (i + 1) * 10);
  const rate = 4 + (trial % 7);
  const loss = steps.map((_, i) => 0.1 + lossOf(trial) + 2 * Math.exp(-i / rate));
  const acc = steps.map((_, i) => 1 - 0.9 * Math.exp(-i / rate) - 0.02 * Math.abs(Math.sin(i)));
  const rates = steps.map((_, i) => 0.1 * 0.5 ** Math.floor(i / 10));
  return {
    series: [
      ["train/loss", steps, trial % 9 === 4 ? loss.map((v, i) => (i === 8 ? "NaN" : v)) : loss],
      ["val/accuracy", steps.filter((_, i) => i % 3 === 2), acc.filter((_, i) => i % 3 === 2)],
      ["learning rate", steps, rates],
    ],
    last: [
      ["train/loss", loss.at(-1)],
      ["val/accuracy", acc.at(-1)],
      ["learning rate", rates.at(-1)],
    ],
  };
}

const WORKERS: readonly Row[] = [
  { ...DEVICES[0], state: "computing", attempt: 601, trial: 44, study: 7 },
  { ...DEVICES[1], state: "computing", attempt: 602, trial: 45, study: 7 },
  { ...DEVICES[2], state: "computing", attempt: 603, trial: 46, study: 7 },
  { ...DEVICES[3], state: "idle" },
];

const LONG_NAME =
  "a_study_name_without_any_place_to_break_it_because_it_uses_underscores_only_and_goes_on";

const AWKWARD: readonly Row[] = [
  studyRow(8, {
    name: LONG_NAME,
    direction: "maximize",
    total: 12_345_678,
    complete: 9_876_543,
    failed: 1_234,
    attempts: 11_111_111,
    cursor: 104,
    entry: "a_module_with_a_rather_long_name.and_a_submodule:an_objective_with_a_long_name_too",
    best: {
      trial: 9_999_998,
      value: -0.000_000_123_456_7,
      params: JSON.stringify({
        "a parameter whose name is much longer than anyone would like it to be":
          "and a value that is just as long, longer than the page wants to show",
        weight_decay: null,
        layers: { "()": [{ name: "conv", width: 64 }, { "()": [2] }] },
      }),
    },
    kind: "points",
    space: [
      {
        name: "a parameter whose name is much longer than anyone would like it to be",
        values: [],
      },
      { name: "weight_decay", values: [] },
      { name: "layers", values: [] },
    ],
  }),
];

const AWKWARD_TRIALS: readonly Row[] = [0, 1, 2, 3, 4].map((i) =>
  trialRow(8, 9_999_990 + i, {
    values: [[-123_456_789, 0.000_000_123, 987_654_321, 0, -0.5][i], 42],
    params: JSON.stringify({
      "a parameter whose name is much longer than anyone would like it to be":
        "=HYPERLINK(\u202e) and a value that is just as long, longer than the page wants to show",
      weight_decay: i % 2 === 0 ? null : 0.5,
      layers: {
        "()": [{ name: "conv", width: 64 }, { name: "dense", width: 2 ** i }, { "()": [i] }],
      },
    }),
    seq: 100 + i,
    ...(i === 3 ? { state: "failed", values: [], error: ERROR } : {}),
  }),
);

const ROWS: ConsoleRows = {
  studies: [
    studyRow(7),
    studyRow(5, {
      name: "digits, first round",
      state: "finished",
      total: 16,
      complete: 16,
      pruned: 0,
      failed: 0,
      running: 0,
      attempts: 18,
      cursor: 115,
      finished_at: NOW - 3_600_000,
    }),
    studyRow(2, {
      name: "learning rates",
      state: "cancelled",
      total: 200,
      complete: 0,
      pruned: 0,
      failed: 0,
      running: 0,
      cursor: 0,
      best: undefined,
      finished_at: NOW - 86_400_000,
    }),
  ],
  trials: [
    ...TRIALS,
    ...Array.from({ length: 16 }, (_, i) => trialRow(5, i)),
    trialRow(7, 44, {
      state: "running",
      values: [],
      finished_at: 0,
      run_ms: 0,
      seq: 0,
      points: POINTS.slice(0, 11),
      ...seriesOf(44, 11),
      attempts_list: [attempt(601, "live", DEVICES[0], { finished_at: 0, run_ms: 0 })],
    }),
  ].map((row) => {
    if (row.study !== 7 || row.trial === 44) {
      return row;
    }
    if (row.trial === 30) {
      return {
        ...row,
        attempts: 2,
        attempts_list: [
          attempt(530, "expired", DEVICES[2], {
            run_ms: 0,
            error: { cause: "worker_lost", code: "worker_lost", message: "", traceback: "" },
          }),
          attempt(561, "failed", DEVICES[1], { error: ERROR }),
        ],
      };
    }
    return {
      ...row,
      points: POINTS,
      attempts_list: [
        attempt(500 + Number(row.trial), "accepted", DEVICES[0], { values: row.values }),
      ],
    };
  }),
  workers: WORKERS,
  faults: {},
};

/** A trial of which one attempt was rejected: another device computed it again. */
const REJECTED: Row = {
  attempts: 2,
  rejected: 1,
  attempts_list: [
    attempt(521, "evidence", DEVICES[0], {
      values: [-1e308],
      rejected: { by: "researcher", at: NOW - 60_000, reason: "The value is invented." },
    }),
    attempt(590, "accepted", DEVICES[2], { values: [0.0413275] }),
  ],
};

function person(researcher: number, name: string, rest: Row = {}): Row {
  return {
    researcher,
    name,
    role: "researcher",
    state: "active",
    note: "",
    projects: ["First project"],
    quota: { studies: 20, trials: 1_000_000, bytes: 10_737_418_240 },
    used: { studies: 0, trials: 0, bytes: 0 },
    stored: { data: 0, artifacts: 0, checkpoints: 0, records: 0, most_records: 2_684_354_560 },
    ...rest,
  };
}

const PEOPLE: readonly Row[] = [
  person(1, "root", {
    role: "admin",
    projects: [],
    quota: { studies: 0, trials: 0, bytes: 0 },
    stored: { data: 0, artifacts: 0, checkpoints: 0, records: 0, most_records: 0 },
  }),
  person(2, "Aoki Lab", {
    projects: ["First project", "Birds"],
    used: { studies: 3, trials: 14_208, bytes: 9_912_006_000 },
    stored: {
      data: 1_812_006_000,
      artifacts: 8_000_000_000,
      checkpoints: 100_000_000,
      records: 81_004_212,
      most_records: 2_684_354_560,
    },
  }),
  person(3, "grace", {
    state: "suspended",
    reason: "mines coins on phones; we have written to her supervisor and wait for an answer",
    used: { studies: 1, trials: 64, bytes: 2_048 },
    stored: {
      data: 2_048,
      artifacts: 0,
      checkpoints: 0,
      records: 31_004,
      most_records: 2_684_354_560,
    },
  }),
  person(4, "heidi", {
    state: "pending",
    note: "PhD student of the Tanaka group, for a course on pruning",
  }),
  person(5, "ivan", { state: "refused", reason: "no name of a group", projects: [] }),
];

/** The row of a study with several objectives. Its best trials are those of `severalTrials`. */
function severalRow(directions: readonly ("minimize" | "maximize")[]): Row {
  return studyRow(7, {
    ...{ kind: "asked", directions, best: undefined, wanted: 64 },
    best_trials: frontOf(severalTrials(directions.length), directions),
  });
}

/** Returns trials with several values; every ninth violates its constraints. */
function severalTrials(objectives: number): readonly Row[] {
  return TRIALS.map((row) => {
    const trial = Number(row.trial);
    const size = lossOf(trial);
    const values = [size, Math.sqrt(size), 40 + 90 * Math.abs(Math.sin(trial)), trial % 5, -size];
    const isInfeasible = trial % 9 === 5;
    return row.state === "complete"
      ? {
          ...row,
          values: values
            .slice(0, objectives)
            .map((value, i) => value + 0.3 * Math.sin(trial * (i + 2))),
          ...(isInfeasible ? { infeasible: true } : {}),
        }
      : row;
  });
}

/** Returns the numbers of the feasible trials that no other one beats. */
function frontOf(rows: readonly Row[], directions: readonly string[]): readonly number[] {
  const found = rows
    .filter((row) => row.state === "complete" && row.infeasible !== true)
    .map((row) => ({
      trial: Number(row.trial),
      losses: (row.values as readonly number[]).map((value, i) =>
        directions[i] === "maximize" ? -value : value,
      ),
    }));
  const beats = (a: readonly number[], b: readonly number[]) =>
    a.every((loss, i) => loss <= (b[i] ?? 0)) && a.some((loss, i) => loss < (b[i] ?? 0));
  return found
    .filter(({ losses }) => !found.some((other) => beats(other.losses, losses)))
    .map(({ trial }) => trial);
}

/** A distribution as Optuna writes it. */
const distribution = (name: "Float" | "Int", low: number, high: number, log: boolean) =>
  JSON.stringify({
    name: `${name}Distribution`,
    attributes: { step: name === "Int" ? 1 : null, low, high, log },
  });

/** An ask-and-tell study, whose trials have distributions. Every ninth violates its constraints. */
const ASKED: Partial<ConsoleRows> = {
  studies: [studyRow(7, { kind: "asked", space: [], wanted: 64 })],
  trials: TRIALS.map((row) => {
    const trial = Number(row.trial);
    const [lr, momentum] = [10 ** (-4 + 3 * part(trial * 0.618)), part(trial * 0.414)];
    const width = 8 + Math.floor(120 * part(trial * 0.732));
    const loss = (Math.log10(lr) + 2.3) ** 2 + 2 * (momentum - 0.6) ** 2 + width / 900;
    const values = { lr, momentum, width };
    return {
      ...row,
      params: JSON.stringify(values),
      suggested: [
        ["lr", distribution("Float", 1e-4, 0.1, true), String(lr)],
        ["momentum", distribution("Float", 0, 1, false), String(momentum)],
        ["width", distribution("Int", 8, 128, false), String(width)],
      ],
      ...(row.state === "complete" ? { values: [loss] } : {}),
      ...(row.state === "complete" && trial % 9 === 5 ? { infeasible: true } : {}),
    };
  }),
};

const story = (hash: string, rest: Partial<ConsoleRows> = {}): ResearchStory => ({
  hash,
  token: "hfr_story",
  rows: { ...ROWS, ...rest },
});

export const researchStories = {
  sign_in: { ...story("#/"), token: null },
  sign_in_checking: story("#/", { faults: { me: "never" } }),
  sign_in_refused: story("#/", { faults: { me: "unauthorized" } }),
  sign_in_unreachable: story("#/", { faults: { me: "unreachable" } }),
  studies: story("#/"),
  studies_loading: story("#/", { faults: { studies: "never" } }),
  studies_empty: story("#/", { studies: [], trials: [], workers: [] }),
  studies_unreachable: story("#/", { faults: { studies: "unreachable" } }),
  studies_awkward: story("#/", { studies: AWKWARD }),
  studies_many: story("#/", {
    studies: Array.from({ length: 101 }, (_, i) => studyRow(101 - i, { name: `digits ${i}` })),
  }),
  study_running: story("#/studies/7"),
  study_finished: story("#/studies/5", { workers: [] }),
  study_cancelled: story("#/studies/2"),
  study_awaiting: story("#/studies/7", {
    studies: [studyRow(7, { held: { code: "approval_pending" } })],
    workers: [],
  }),
  study_frozen: story("#/studies/7", {
    studies: [
      studyRow(7, { held: { code: "project_frozen", reason: "too much traffic at the moment" } }),
    ],
    workers: [],
  }),
  operate: story("#/operate", {
    role: "admin",
    studies: [studyRow(7, { held: { code: "approval_pending" } })],
    people: PEOPLE,
    warnings: ["backup_failed", "of_a_later_server"],
    projects: [
      { id: 1, project: "First project", researchers: ["Aoki Lab", "grace"] },
      {
        id: 2,
        project: "Birds",
        researchers: ["ada", "Aoki Lab", "grace", "heidi", "ivan", "judy"],
        frozen: { at: NOW, reason: "too much traffic at the moment" },
      },
    ],
    barred: [{ sha256: "5a".repeat(32), reason: "mines coins", barred_by: "root", barred_at: NOW }],
    ceilings: [
      { scope: "server", time_limit_ms: 3_600_000, devices: 100 },
      { scope: "project", name: "Birds", data_bytes: 50_000_000, approval: true, devices: 0 },
    ],
    shares: [
      { scope: "project", name: "Birds", guaranteed: 0, lends: ["First project", "*"] },
      { scope: "researcher", name: "Aoki Lab", weight: 400, guaranteed: 20 },
    ],
  }),
  operate_refused: story("#/operate", {
    role: "admin",
    people: PEOPLE,
    ceilings: [{ scope: "server" }],
    faults: { setCeiling: "unknown_project" },
  }),
  operate_empty: story("#/operate", {
    role: "admin",
    studies: [],
    room: 0,
    people: PEOPLE.slice(0, 1),
    ceilings: [{ scope: "server" }],
  }),
  operate_awkward: story("#/operate", {
    role: "admin",
    studies: AWKWARD.map((row) => ({ ...row, held: { code: "approval_pending" } })),
    people: [
      person(1, "a\u202eb".repeat(20), {
        projects: Array.from({ length: 12 }, (_, i) => `A long name of a project ${i}`),
        note: "word".repeat(60),
        quota: { studies: 1, trials: 9_000_000_000_000_000, bytes: 9_000_000_000_000_000 },
        used: { studies: 4, trials: 8_999_999_999_999_999, bytes: 8_999_999_999_999_999 },
      }),
      person(2, "W".repeat(64), { state: "suspended", reason: "W".repeat(500) }),
    ],
    projects: [
      {
        id: 1,
        project: "W".repeat(64),
        researchers: [],
        frozen: { at: NOW, reason: "x".repeat(500) },
      },
      {
        id: 2,
        project: "Another long name of a project",
        researchers: Array.from({ length: 100 }, (_, i) => `${i}${"W".repeat(60)}`),
      },
    ],
  }),
  study_loading: story("#/studies/7", { faults: { study: "never" } }),
  study_unmatched: story("#/studies/7", {
    studies: [
      studyRow(7, {
        complete: 0,
        best: undefined,
        runtime: { chainer: "7.8.1", backend: "webgpu" },
        requires: { memory_mb: 8_192, f16: true },
      }),
    ],
    trials: [],
    workers: [],
    placement: {
      devices: 4,
      matching: 0,
      reasons: [
        { code: "little_memory", devices: 1 },
        { code: "no_f16", devices: 1 },
        { code: "no_webgpu", devices: 2 },
      ],
    },
  }),
  study_waits: story("#/studies/7", {
    studies: [studyRow(7, { complete: 0, running: 0, best: undefined })],
    trials: [],
    workers: [],
    placement: {
      devices: 4,
      matching: 4,
      reasons: [],
      share: { weight: 100, weights: 400, guaranteed: 0, devices: 2, ahead: 2 },
      waits: "others_first",
    },
  }),
  study_stopped: story("#/studies/7", {
    studies: [
      studyRow(7, {
        complete: 0,
        pruned: 0,
        failed: 3,
        running: 0,
        best: undefined,
        paused: true,
        stopped_by: { trial: 30, failures: 3, error: ERROR },
      }),
    ],
    trials: [9, 12, 30].map((i) => trialRow(7, i, { state: "failed", values: [], error: ERROR })),
    workers: [],
  }),
  study_webhook: story("#/studies/7", {
    studies: [
      studyRow(7, {
        webhook: {
          host: "hooks.a-long-name-of-a-department.example.org:8443",
          events: ["finished", "no_devices"],
          last: {
            event: "no_devices",
            at: NOW - 600_000,
            state: "waiting",
            attempts: 7,
            next_at: NOW + 300_000,
            status: 503,
            code: "webhook_status",
            message: "The webhook's host answered with the status 503.",
          },
        },
      }),
    ],
    trials: TRIALS,
  }),
  study_webhook_delivered: story("#/studies/7", {
    studies: [
      studyRow(7, {
        state: "finished",
        finished_at: NOW,
        webhook: {
          host: "hooks.example.org",
          events: ["finished"],
          last: { event: "finished", at: NOW, state: "delivered", attempts: 1, status: 204 },
        },
      }),
    ],
    trials: TRIALS,
    workers: [],
  }),
  study_several: story("#/studies/7", {
    studies: [
      studyRow(7, {
        kind: "asked",
        directions: ["minimize", "maximize"],
        best: undefined,
        best_trials: [3, 21, 27, 40],
        wanted: 64,
      }),
    ],
    trials: TRIALS.map((row) =>
      row.state === "complete" ? { ...row, values: [lossOf(Number(row.trial)), 0.5] } : row,
    ),
  }),
  study_front: story("#/studies/7/front", {
    studies: [severalRow(["minimize", "maximize"])],
    trials: severalTrials(2),
  }),
  study_front_of_five: story("#/studies/7/front", {
    studies: [severalRow(["minimize", "maximize", "minimize", "minimize", "maximize"])],
    trials: severalTrials(5),
  }),
  study_front_of_one: story("#/studies/7/front"),
  study_front_empty: story("#/studies/7/front", {
    studies: [{ ...severalRow(["minimize", "maximize"]), best_trials: [], complete: 0, cursor: 0 }],
    trials: [],
  }),
  study_trials: story("#/studies/7/trials"),
  study_parallel: story("#/studies/7/parallel"),
  study_parallel_many: {
    ...story("#/studies/7/parallel"),
    get rows(): ConsoleRows {
      const count = 3_000;
      const studies = [studyRow(7, { total: count, complete: count, cursor: count + 99 })];
      const trials = Array.from({ length: count }, (_, i) =>
        trialRow(7, i, {
          params: JSON.stringify({
            channels: [8, 16, 32][i % 3],
            lr: 10 ** (-1 - 3 * Math.abs(Math.sin(i * 1.7))),
            optimizer: ["Adam", "MomentumSGD", "a rule with a long name"][(i % 7) % 3],
            dropout: i % 4 === 0 ? null : Math.abs(Math.sin(i * 0.37)),
            augment: i % 5 < 2,
          }),
        }),
      );
      return { ...ROWS, studies, trials };
    },
  },
  study_parallel_empty: story("#/studies/2/parallel"),
  study_slice: story("#/studies/7/slice"),
  study_slice_of_two: story("#/studies/7/slice", {
    studies: [severalRow(["minimize", "maximize"])],
    trials: severalTrials(2),
  }),
  study_importance: story("#/studies/7/importance", ASKED),
  study_importance_of_grid: story("#/studies/7/importance"),
  study_importance_empty: story("#/studies/2/importance"),
  study_timeline: story("#/studies/7/timeline"),
  study_timeline_empty: story("#/studies/2/timeline"),
  study_edf: story("#/studies/7/edf"),
  study_edf_empty: story("#/studies/2/edf"),
  study_rank: story("#/studies/7/rank", ASKED),
  study_contour: story("#/studies/7/contour", ASKED),
  study_contour_of_grid: story("#/studies/7/contour"),
  study_contour_empty: story("#/studies/2/contour"),
  study_series: story("#/studies/7/series"),
  study_infeasible: story("#/studies/7/trials", {
    studies: [studyRow(7, { state: "finished", best: undefined, finished_at: NOW })],
    trials: TRIALS.map((row) => (row.state === "complete" ? { ...row, infeasible: true } : row)),
    workers: [],
  }),
  /** A study with more trials than a page could list. Its rows are made only when the story is shown. */
  study_many: {
    ...story("#/studies/7/trials"),
    get rows(): ConsoleRows {
      const count = 10_000;
      const studies = [studyRow(7, { total: count, complete: count, cursor: count + 99 })];
      return { ...ROWS, studies, trials: Array.from({ length: count }, (_, i) => trialRow(7, i)) };
    },
  },
  study_wide: {
    ...story("#/studies/7/trials"),
    get rows(): ConsoleRows {
      const names = Array.from({ length: 300 }, (_, i) => `layer.${i}.dropout`);
      const params = (i: number) =>
        JSON.stringify(Object.fromEntries(names.map((name, n) => [name, 1 / (i + n + 3)])));
      return {
        ...ROWS,
        studies: [studyRow(7, { space: names.map((name) => ({ name, values: [] })), total: 5 })],
        trials: [0, 1, 2, 3, 4].map((i) => trialRow(7, i, { params: params(i) })),
      };
    },
  },
  study_one: story("#/studies/7/trials", {
    studies: [studyRow(7, { total: 1, complete: 1, cursor: 100 })],
    trials: [trialRow(7, 0)],
  }),
  study_unknown: story("#/studies/99"),
  study_awkward: story("#/studies/8", { studies: AWKWARD, trials: AWKWARD_TRIALS }),
  study_unsaid_problem: story("#/studies/7", { faults: { workers: "odd_code" } }),
  trial_complete: story("#/studies/7/trials/21"),
  trial_files: story("#/studies/7/trials/21", {
    artifacts: [
      artifact("a1", "weights.npz", 1_843_221),
      artifact("a2", "loss curve of the last epoch, smoothed.png", 48_112),
      artifact("a3", "x".repeat(120), 12),
    ],
  }),
  trial_running: story("#/studies/7/trials/44"),
  trial_failed: story("#/studies/7/trials/30"),
  trial_rejected: story("#/studies/7/trials/21", {
    trials: ROWS.trials.map((row) => (row.trial === 21 ? { ...row, ...REJECTED } : row)),
  }),
  trial_missing: story("#/studies/7/trials/63"),
  trial_awkward: story("#/studies/8/trials/9999993", {
    studies: AWKWARD,
    trials: AWKWARD_TRIALS,
  }),
} as const satisfies Readonly<Record<string, ResearchStory>>;

export type ResearchStoryName = keyof typeof researchStories;
