// Tests which calls Python may make, and which the agent refuses.

import { describe, expect, test } from "vitest";
import { parseCall } from "./asked_call.ts";

describe("should_prune", () => {
  test.each([
    ['{"step": 4}', { step: 4 }],
    ['{"step": -1}', {}],
    ['{"step": 1.5}', {}],
    ["{}", {}],
    ["null", {}],
    ["[", {}],
  ])("%s", (payload, args) => {
    expect(parseCall("should_prune", payload)).toEqual({ method: "should_prune", args });
  });
});

describe("suggest", () => {
  test("takes a name and a distribution's text, and nothing else along.", () => {
    const payload = '{"name": "rate", "distribution": "{}", "more": 1}';
    const args = { name: "rate", distribution: "{}" };
    expect(parseCall("suggest", payload)).toEqual({ method: "suggest", args });
  });

  test.each([
    ["no JSON", "["],
    ["no name", '{"distribution": "{}"}'],
    ["an empty name", '{"name": "", "distribution": "{}"}'],
    ["a long name", `{"name": "${"x".repeat(257)}", "distribution": "{}"}`],
    ["an object for a text", '{"name": "rate", "distribution": {}}'],
    ["a long text", `{"name": "rate", "distribution": "${"x".repeat(16_385)}"}`],
  ])("goes no further with %s.", (_, payload) => {
    expect(parseCall("suggest", payload)).toMatchObject({ code: "bad_arguments" });
  });
});

test("Another call is none.", () => {
  expect(parseCall("shell", "{}")).toMatchObject({ code: "unknown_method" });
});
