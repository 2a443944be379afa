import { expect, test } from "vitest";
import { parseCall } from "../agent/machine/asked_call.ts";
import { answerTo } from "./recorded_answers.ts";

const asked = (method: string, payload: object) => parseCall(method, JSON.stringify(payload));
const answer = (method: string, payload: object, again: boolean, prune_at: number | null = null) =>
  JSON.parse(answerTo(asked(method, payload), { again, prune_at }));

test("A trial is told to stop from the step on at which it was.", () => {
  const told = [1, 2, 3].map((step) => answer("should_prune", { step }, true, 2).value);
  expect(told).toEqual([false, true, true]);
  expect(answer("should_prune", { step: 9 }, true).value).toBe(false);
  expect(answer("should_prune", { step: 9 }, false, 2).value).toBe(false);
});

test("A value that is in no log is an error, not a guess.", () => {
  const call = { name: "x", distribution: "{}" };
  expect(answer("suggest", call, true).error).toEqual({
    code: "owner_error",
    message: "the trial was given no value for 'x' when it ran before",
  });
  expect(answer("suggest", call, false).error.code).toBe("owner_error");
});

test("What is no call is refused as the agent refuses it.", () => {
  expect(answer("dance", {}, true).error.code).toBe("unknown_method");
});
