// Tests that a trial goes on without a connection: its newest checkpoint is kept on the device, uploaded when the line is
// back, and what a later attempt on the same device begins with.

import { beforeEach, describe, expect, test } from "vitest";
import { answerText, errorText } from "../../channel/block.ts";
import type { Checkpoint, Lease } from "../../protocol/index.ts";
import type { AgentAction } from "./events.ts";
import { type KeptCheckpoint, readKept } from "./kept_checkpoint.ts";
import { ARTIFACT_MS, SAVE_MS, type UploadResult } from "./saving.ts";
import { DEVICE, Scenario } from "./scenario.fixture.ts";

const hash = (name: string) => name.charCodeAt(0).toString(16).repeat(32);
const bytes = new Uint8Array([80, 75, 3, 4]);
const YES = answerText(true);
const NO = answerText(false);

let s: Scenario;
let sequence: number;
beforeEach(() => {
  s = new Scenario();
  sequence = 0;
});

/** Python saves a checkpoint with this name. */
function save(name: string, attempt = 7, step = 0): Scenario {
  sequence += 1;
  const head = { of: "checkpoint", format: "tree", step, logged: null } as const;
  return s.on({ kind: "upload", attempt, sequence, head, sha256: hash(name), bytes });
}

function artifact(name: string): Scenario {
  sequence += 1;
  const head = { of: "artifact", id: name, name, type: "text/plain", store: "" } as const;
  return s.on({ kind: "upload", attempt: 7, sequence, head, sha256: hash(name), bytes });
}

type Upload = Extract<AgentAction, { kind: "upload" }>;

/** The deeds since the last look, as short texts: what is uploaded, kept, forgotten and answered. */
const deeds = () =>
  s.deeds.flatMap((action) => {
    if (action.kind === "upload") {
      uploads.push(action);
      return [`upload ${nameOf(action.sha256)} of ${action.attempt}`];
    }
    if (action.kind === "keep") {
      kept = action.kept;
      return [`keep ${nameOf(action.kept.sha256)}`];
    }
    if (action.kind === "forget_kept") return [`forget ${nameOf(action.sha256)}`];
    if (action.kind === "forget_upload") return ["stop"];
    return action.kind === "answer" ? [action.text] : [];
  });
const nameOf = (sha256: string) => String.fromCharCode(Number.parseInt(sha256.slice(0, 2), 16));

let uploads: Upload[];
let kept: KeptCheckpoint | null;
beforeEach(() => {
  uploads = [];
  kept = null;
});

const ended = (result: UploadResult) =>
  s.on({ kind: "uploaded", id: uploads.at(-1)?.id ?? 0, result });
const stored = () => ended({ kind: "stored" });
const cut = () => s.on({ kind: "closed", code: 1006 });

describe("Without a connection", () => {
  test("a save is kept and answered at once, and uploaded when the line is back.", () => {
    s.running(7);
    cut();
    save("a");
    expect(deeds()).toEqual(["keep a", NO]);
    s.reconnected([7]);
    expect(deeds()).toEqual(["upload a of 7"]);
    stored();
    expect(deeds()).toEqual(["forget a"]);
  });

  test("only the newest save is uploaded.", () => {
    s.running(7);
    cut();
    for (const name of ["a", "b", "c"]) save(name);
    expect(deeds()).toEqual(["keep a", NO, "keep b", NO, "keep c", NO]);
    s.reconnected([7]);
    expect(deeds()).toEqual(["upload c of 7"]);
    stored();
    expect(deeds()).toEqual(["forget c"]);
    s.after(600_000);
    expect(uploads).toHaveLength(1);
  });

  test("the points before the save are sent before it is uploaded.", () => {
    s.running(7);
    cut();
    s.report(7, 1);
    save("a");
    deeds();
    s.reconnected([7]);
    const kinds = s.actions.map((action) =>
      action.kind === "send" ? action.message.type : action.kind,
    );
    expect(kinds.indexOf("report")).toBeGreaterThan(-1);
    expect(kinds.indexOf("report")).toBeLessThan(kinds.indexOf("upload"));
  });

  test("the trial ends as usual, and only its result waits.", () => {
    s.running(7);
    cut();
    save("a");
    s.outcome(7);
    expect(deeds()).toEqual(["keep a", NO, "forget a"]);
    s.reconnected([]);
    expect(deeds()).toEqual([]);
    expect(s.machine.undelivered).toMatchObject({ lease: { attempt: 7 } });
  });

  test("a crash of Python leaves the checkpoint for the next attempt.", () => {
    s.running(7);
    cut();
    save("a");
    s.on({ kind: "crashed", attempt: 7, code: "runtime_crashed", message: "" });
    expect(deeds()).toEqual(["keep a", NO]);
  });
});

describe("While a save is uploaded", () => {
  test("a cut line answers it at once, and the upload begins again later.", () => {
    s.running(7);
    save("a");
    expect(deeds()).toEqual(["upload a of 7"]);
    cut();
    expect(deeds()).toEqual(["stop", "keep a", NO]);
    s.reconnected([7]);
    expect(deeds()).toEqual(["upload a of 7"]);
    expect(uploads.map(({ id }) => id)).toEqual([1, 2]);
  });

  test("the trial waits for a while and no longer, and the upload goes on.", () => {
    s.running(7);
    save("a").after(SAVE_MS - 1);
    expect(deeds()).toEqual(["upload a of 7"]);
    s.after(1);
    expect(deeds()).toEqual(["keep a", NO]);
    stored();
    expect(deeds()).toEqual(["forget a"]);
  });

  test("further saves wait for it, and only the newest of them follows.", () => {
    s.running(7);
    save("a").after(SAVE_MS);
    save("b").after(SAVE_MS);
    save("c");
    expect(deeds()).toEqual(["upload a of 7", "keep a", NO, "keep b", NO]);
    stored();
    expect(deeds()).toEqual(["upload c of 7"]);
    stored();
    expect(deeds()).toEqual(["forget b", YES]);
  });

  test("a refusal reaches the trial that waits.", () => {
    s.running(7);
    save("a");
    deeds();
    ended({ kind: "refused", code: "checkpoint_too_large", message: "m" });
    expect(deeds()).toEqual([errorText("checkpoint_too_large", "m")]);
  });

  test("a server that has no room leaves it on the device; one that is asked too often does not.", () => {
    s.running(7);
    save("a");
    deeds();
    ended({ kind: "not_stored", keeps: true });
    expect(deeds()).toEqual(["keep a", NO]);
    save("b");
    deeds();
    ended({ kind: "not_stored", keeps: false });
    expect(deeds()).toEqual([NO]);
  });

  test("a page that is left keeps it for the next visit.", () => {
    s.running(7);
    save("a").on({ kind: "left" });
    expect(deeds()).toEqual(["upload a of 7", "stop", "keep a"]);
  });

  test.each(["superseded", "cancelled", "operator_stopped"] as const)(
    "a revoked attempt (%s) leaves nothing behind.",
    (code) => {
      s.running(7);
      save("a").after(SAVE_MS);
      deeds();
      s.hear({ type: "revoke", attempt: 7, code, message: "" });
      expect(deeds()).toEqual(["stop", "forget a"]);
    },
  );
});

describe("An artifact", () => {
  test("waits for the checkpoint before it, which must not contain it.", () => {
    s.running(7);
    save("a").after(SAVE_MS);
    artifact("x");
    expect(deeds()).toEqual(["upload a of 7", "keep a", NO]);
    stored();
    expect(deeds()).toEqual(["forget a", "upload x of 7"]);
    stored();
    expect(deeds()).toEqual([YES]);
  });

  test("does not wait for it for ever, and has the rest of its own time.", () => {
    s.running(7);
    cut();
    save("a");
    artifact("x").after(119_999);
    expect(deeds()).toEqual(["keep a", NO]);
    s.after(1);
    expect(deeds()).toEqual(["upload x of 7"]);
    expect(uploads.at(-1)?.limitMs).toBe(ARTIFACT_MS - 120_000);
  });

  test("goes on while the line is cut, because the trial needs it.", () => {
    s.running(7);
    artifact("x");
    cut();
    expect(deeds()).toEqual(["upload x of 7"]);
    stored();
    expect(deeds()).toEqual([YES]);
  });

  test("after the server's checkpoint cannot be repeated, so no later attempt begins after it.", () => {
    s.running(7);
    artifact("x");
    deeds();
    stored();
    cut();
    save("a");
    expect(deeds()).toEqual([YES, NO]);
    s.reconnected([7]);
    expect(deeds()).toEqual(["upload a of 7"]);
  });
});

describe("A later attempt on this device", () => {
  const own = (name: string, attempt: number): Partial<Lease> => {
    const checkpoint: Checkpoint = { attempt, format: "tree", sha256: hash(name), bytes: 4 };
    return { checkpoint };
  };
  const began = () => s.deeds.find((action) => action.kind === "run");
  const points = () =>
    s.sent.flatMap((message) => (message.type === "report" ? message.points : []));

  /** Attempt 7 is at step 3 with a kept checkpoint of step 2, and its lease is lost. */
  function lose(change: Partial<Lease> = {}): void {
    s.running(7, change).report(7, 1).report(7, 2);
    cut();
    save("a", 7, 2).report(7, 3);
    expect(deeds()).toEqual(["keep a", NO]);
    s.reconnected([]).on({ ...OUTCOME, attempt: 7 });
    s.actions.splice(0);
  }
  const OUTCOME = {
    kind: "outcome",
    outcome: { outcome: "pruned" },
    runMs: 1,
    backend: "numpy",
    software: "",
  } as const;

  test("begins with what it kept, and repeats the points before that.", () => {
    lose();
    s.lease(8);
    expect(began()).toMatchObject({ kept: { attempt: 7, step: 2, sha256: hash("a") } });
    s.on({ kind: "running", attempt: 8, fromKept: true });
    const actions = s.actions;
    expect(actions.map(({ kind }) => kind)).toEqual(["send", "upload"]);
    expect(actions[0]).toMatchObject({
      message: {
        type: "report",
        attempt: 8,
        points: [
          [1, 0.5],
          [2, 0.5],
        ],
      },
    });
    expect(actions[1]).toMatchObject({ attempt: 8, sha256: hash("a"), bytes: null });
    s.hear({ type: "ack", attempt: 8, seq: 1 });
    // Python has sent none of these points, so it may not send more of its own for them.
    expect(s.deeds).toEqual([{ kind: "taken", points: 0 }]);
    s.report(8, 3).after(1_000).hear({ type: "ack", attempt: 8, seq: 2 });
    expect(s.deeds).toEqual([{ kind: "taken", points: 1 }]);
  });

  test("that loses the device too leaves the same beginning.", () => {
    lose();
    s.lease(8).on({ kind: "running", attempt: 8, fromKept: true });
    cut();
    s.reconnected([]).on({ ...OUTCOME, attempt: 8 });
    s.actions.splice(0);
    s.lease(9);
    expect(began()).toMatchObject({ kept: { sha256: hash("a") } });
    s.on({ kind: "running", attempt: 9, fromKept: true });
    expect(points()).toEqual([
      [1, 0.5],
      [2, 0.5],
    ]);
  });

  test("begins as the server says if the browser has removed what it kept.", () => {
    lose();
    s.lease(8).on({ kind: "running", attempt: 8 });
    expect(points()).toEqual([]);
  });

  test("repeats nothing if the server has the checkpoint after all.", () => {
    lose();
    s.lease(8, own("a", 7));
    expect(began()).toMatchObject({ kept: { sha256: hash("a") } });
    s.on({ kind: "running", attempt: 8, fromKept: true });
    expect(s.actions).toEqual([{ kind: "forget_kept", sha256: hash("a") }]);
  });

  test("repeats only what came after a checkpoint whose acknowledgement was lost.", () => {
    s.running(7).report(7, 1);
    save("a", 7, 1);
    cut();
    s.report(7, 2);
    save("b", 7, 2);
    s.reconnected([]).on({ ...OUTCOME, attempt: 7 });
    s.actions.splice(0);
    s.lease(8, own("a", 7)).on({ kind: "running", attempt: 8, fromKept: true });
    expect(points()).toEqual([[2, 0.5]]);
  });

  test("begins with the server's checkpoint if another device is ahead.", () => {
    lose();
    s.lease(9, own("z", 8));
    expect(began()).not.toHaveProperty("kept");
  });

  test("begins anew if the server has dropped what came before.", () => {
    lose(own("z", 5));
    s.lease(8);
    expect(began()).not.toHaveProperty("kept");
  });

  test("of other code begins as the server says.", () => {
    lose();
    s.lease(8, { bundle: { sha256: "e".repeat(64), bytes: 10 } });
    expect(began()).not.toHaveProperty("kept");
  });

  test("of another trial leaves it alone, and the trial finds it later.", () => {
    lose();
    s.lease(8, { trial: 2 }).on({ kind: "running", attempt: 8 }).outcome(8);
    expect(s.deeds.map(({ kind }) => kind)).toEqual(["run"]);
    s.hear({ type: "result_ack", attempt: 8, seq: 1, verdict: "accepted" });
    s.lease(9);
    expect(began()).toMatchObject({ kept: { sha256: hash("a") } });
  });

  test("finds it after a reload, and rows of series too.", () => {
    s.running(7).log(7, 4, { loss: "NaN" });
    cut();
    save("a", 7, 2);
    deeds();
    const found = readKept(structuredClone(kept));
    expect(found).toEqual(kept);
    s = new Scenario();
    s.on({ kind: "start", device: DEVICE, visible: true, kept: found }).on({ kind: "opened" });
    s.welcome().lease(8).on({ kind: "running", attempt: 8, fromKept: true });
    expect(s.sent.at(-1)).toMatchObject({
      type: "report",
      attempt: 8,
      series: { steps: [4], columns: [["loss", ["NaN"]]] },
    });
  });

  test("does not find what was damaged.", () => {
    for (const found of [undefined, null, 5, {}, { ...kept, points: [[1, "x"]] }]) {
      expect(readKept(found)).toBeNull();
    }
  });

  test("of a trial that reported more than is remembered begins as the server says.", () => {
    s.running(7);
    for (let step = 0; step <= 100_000; step += 1) s.report(7, step);
    cut();
    s.actions.splice(0);
    save("a");
    expect(deeds()).toEqual([NO]);
  });
});
