// Tests which uploads Python may make, and which the agent refuses.

import { expect, test } from "vitest";
import { parseUploadHead } from "./upload_head.ts";

const artifact = { of: "artifact", id: "a-1", name: "w.npz", type: "x/y", store: "" };

test.each([
  { of: "checkpoint", format: "npz", step: 3, logged: 4 },
  { of: "checkpoint", format: "tree", step: null, logged: null },
  artifact,
  { ...artifact, id: "x".repeat(64), name: "ä".repeat(127), store: "./artifacts" },
])("%j is taken as it is", (head) => {
  expect(parseUploadHead(JSON.stringify(head))).toEqual(head);
});

test.each([
  ["no JSON", "{"],
  ["nothing", "null"],
  ["a thing of another kind", { of: "cookie" }],
  ["a checkpoint that is a pickle", { of: "checkpoint", format: "pickle", step: null }],
  ["a step below 0", { of: "checkpoint", format: "npz", step: -1 }],
  ["an id that is a path", { ...artifact, id: "../x" }],
  ["a long id", { ...artifact, id: "x".repeat(65) }],
  ["no name", { ...artifact, name: "" }],
  ["a long name", { ...artifact, name: "ä".repeat(128) }],
  ["a long type", { ...artifact, type: "x".repeat(128) }],
  ["a store that is a number", { ...artifact, store: 3 }],
])("%s is not", (_, head) => {
  const text = typeof head === "string" ? head : JSON.stringify(head);
  expect(parseUploadHead(text)).toMatchObject({ code: "bad_arguments" });
});
