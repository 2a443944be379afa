// Reads a call that Python makes to the server, and checks its method and arguments against the protocol's limits. Pure;
// agent thread.

import * as v from "valibot";
import { suggestArgs } from "../../protocol/messages.ts";

/** A call with a method that the server knows. */
export type AskedCall =
  | { readonly method: "should_prune"; readonly args: { readonly step?: number } }
  | {
      readonly method: "suggest";
      readonly args: { readonly name: string; readonly distribution: string };
    };

/** A call that the agent refuses, with the reason. */
export interface RefusedCall {
  readonly code: "unknown_method" | "bad_arguments";
  readonly message: string;
}

export function parseCall(method: string, payload: string): AskedCall | RefusedCall {
  const args = argumentsOf(payload);
  switch (method) {
    case "should_prune":
      return { method, args: stepOf(args) };
    case "suggest": {
      const parsed = v.safeParse(suggestArgs, args);
      if (parsed.success) return { method, args: parsed.output };
      const message = `A suggestion takes a name and the text of a distribution: ${parsed.issues[0].message}.`;
      return { code: "bad_arguments", message };
    }
    default:
      return { code: "unknown_method", message: `There is no call '${method}'.` };
  }
}

/** Returns the value of a JSON text, or null if it is not JSON. */
export function argumentsOf(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return null;
  }
}

/** Returns the step among the arguments. Without a valid step, the server uses the step of the newest point. */
function stepOf(args: unknown): { step?: number } {
  if (typeof args !== "object" || args === null || !("step" in args)) return {};
  const step = Number(args.step);
  return Number.isSafeInteger(step) && step >= 0 ? { step } : {};
}
