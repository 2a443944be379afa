// Sends the agent's HTTP requests to the server (server/docs/rest.md) and checks the answers. Runs on the agent
// thread.

import * as v from "valibot";
import type { ProjectView } from "../../page_contract/volunteer_state.ts";
import type { Capabilities } from "../../protocol/index.ts";
import type { PackIndex, RuntimeIndex } from "../../python/messages.ts";
import type { Device } from "../machine/events.ts";
import { authorizationOf } from "./authorization.ts";

const REQUEST_MS = 15_000;

/** Thrown if a request was refused or failed. If `permanent`, another try would not help. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: string;
  readonly permanent: boolean;

  constructor(code: string, message: string, permanent: boolean) {
    super(message);
    this.code = code;
    this.permanent = permanent;
  }
}

const text = v.pipe(v.string(), v.maxLength(256));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const joinAnswer = v.object({ device: text, secret: text });
const erasedAnswer = v.object({ erased: v.literal(true) });
const projectAnswer = v.object({
  project: v.object({
    name: text,
    owner: text,
    studies: count,
    trials_done: count,
    trials_total: count,
  }),
});
const errorAnswer = v.object({ error: v.object({ code: text, message: v.string() }) });
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const piece = v.object({
  version: text,
  base: v.pipe(v.string(), v.regex(/^\/runtime\/[\w.-]+\/$/)),
  files: v.array(
    v.object({
      name: v.pipe(v.string(), v.regex(/^[\w.-]+$/)),
      sha256,
      bytes: count,
      br: v.nullish(count),
      gz: v.nullish(count),
    }),
  ),
});
const indexAnswer = v.object({ runtime: text, pieces: v.record(text, piece) });
const packsAnswer = v.object({
  pyodide: text,
  packs: v.record(text, v.object({ ...piece.entries, needs: v.array(text) })),
});

export async function join(code: string, capabilities: Capabilities): Promise<Device> {
  const body = { code, class: capabilities.class, engine: capabilities.engine };
  return await request(joinAnswer, "/api/join", postOf(body));
}

/** Makes the server forget the device. Its results stay, without its name. */
export async function eraseDevice(device: Device): Promise<void> {
  const init = postOf({});
  await request(erasedAnswer, "/api/device/erase", {
    ...init,
    headers: { ...init.headers, authorization: authorizationOf(device) },
  });
}

export async function project(code: string): Promise<ProjectView> {
  const answer = await request(projectAnswer, "/api/project", postOf({ code }));
  const { name, owner, studies, trials_done, trials_total } = answer.project;
  return { name, owner, studies, trialsDone: trials_done, trialsTotal: trials_total };
}

/** Returns the URL of a runtime's index. Without an id it is that of the newest runtime. */
export function indexAddress(id: string | undefined): string {
  return id === undefined ? "/runtime/index.json" : `/runtime/index-${id}.json`;
}

export async function runtimeIndex(url: string): Promise<RuntimeIndex> {
  return await request(indexAnswer, url, { cache: "no-cache" });
}

/** Returns the packs that the server has. A server without packs answers like one with an empty list. */
export async function packIndex(url = "/runtime/packs.json"): Promise<PackIndex> {
  try {
    return await request(packsAnswer, url, { cache: "no-cache" });
  } catch (error) {
    const isMissing = error instanceof ApiError && error.permanent;
    if (isMissing) return { pyodide: null, packs: {} };
    throw error;
  }
}

/** Returns the URL of the WebSocket on this origin. */
export function socketAddress(origin: string): string {
  return new URL("/ws/worker", origin.replace(/^http/, "ws")).href;
}

/** Returns the server's code and message, or a message made from the status. */
export function refusalOf(status: number, body: unknown): { code: string; message: string } {
  const refused = v.safeParse(errorAnswer, body);
  if (refused.success) return refused.output.error;
  return { code: `http_${status}`, message: `The server answered ${status}.` };
}

function postOf(body: object): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

async function request<Schema extends v.GenericSchema>(
  schema: Schema,
  url: string,
  init: RequestInit,
): Promise<v.InferOutput<Schema>> {
  const signal = AbortSignal.timeout(REQUEST_MS);
  const response = await fetch(url, { ...init, signal, credentials: "omit" }).catch(() => null);
  if (response === null) throw new ApiError("unreachable", "The server cannot be reached.", false);
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    const { code, message } = refusalOf(response.status, body);
    const permanent = response.status >= 400 && response.status < 500 && response.status !== 429;
    throw new ApiError(code, message, permanent);
  }
  const parsed = v.safeParse(schema, body);
  if (parsed.success) return parsed.output;
  throw new ApiError("malformed", `The answer of ${url} cannot be read.`, false);
}
