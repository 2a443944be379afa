// Tests that the runtime's files are requested at once, verified and counted. (Python thread; fake server.)

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sha256Hex } from "../base/hex.ts";
import { Assets } from "./assets.ts";
import type { RuntimePiece } from "./messages.ts";

const bytes = new Uint8Array(1_000).fill(7);
let requests: string[];
let answer: () => Promise<Response>;
let told: [loaded: number, total: number][];
let assets: Assets;
let piece: RuntimePiece;

beforeEach(async () => {
  requests = [];
  told = [];
  answer = async () => new Response(bytes);
  vi.stubGlobal("self", { location: { origin: "http://localhost" } });
  vi.stubGlobal("fetch", (url: string) => {
    requests.push(url);
    return answer();
  });
  assets = new Assets((loaded, total) => told.push([loaded, total]));
  const file = { name: "numpy.zip", sha256: await sha256Hex(bytes), bytes: bytes.length };
  piece = { version: "1", base: "/runtime/numpy-1/", files: [file] };
});

afterEach(() => {
  vi.unstubAllGlobals();
});

test("A piece is fetched before it is asked for, once, and its bytes are counted.", async () => {
  assets.begin(piece);
  expect(requests).toEqual(["http://localhost/runtime/numpy-1/numpy.zip"]);
  expect(await assets.bytesOf(piece)).toEqual(bytes);
  expect(requests).toHaveLength(1);
  expect(told.at(-1)).toEqual([1_000, 1_000]);
});

test("What is counted is what the network moves, once every size is known.", async () => {
  const answers: (() => void)[] = [];
  answer = () => {
    const headers = { "content-length": "250", "content-encoding": "br" };
    const { promise, resolve } = Promise.withResolvers<Response>();
    answers.push(() => resolve(new Response(bytes, { headers })));
    return promise;
  };
  const [file] = piece.files;
  if (file === undefined) throw new Error("The piece has a file.");
  assets.begin({ ...piece, files: [file, { ...file, name: "late.zip" }] });
  answers[0]?.();
  await assets.bytesOf(piece);
  expect(told.at(-1)).toEqual([250, 0]);
  answers[1]?.();
  await assets.bytesOf({ ...piece, files: [{ ...file, name: "late.zip" }] });
  expect(told.at(-1)).toEqual([500, 500]);
});

test("Code goes to the compiler as the browser gave it, and counts when it has arrived.", async () => {
  const response = new Response(bytes);
  answer = async () => response;
  const wasm = { name: "pyodide.asm.wasm", sha256: "0".repeat(64), bytes: 1_000 };
  assets.begin({ ...piece, files: [wasm] });
  expect(await assets.take("http://localhost/runtime/numpy-1/pyodide.asm.wasm")).toBe(response);
  expect(told).toEqual([]);
  assets.codeArrived();
  expect(told).toEqual([[1_000, 1_000]]);
});

test.each<[string, () => Promise<Response>]>([
  ["another content", async () => new Response(new Uint8Array(1_000))],
  ["an error of the server", async () => new Response(null, { status: 503 })],
  ["no answer", () => Promise.reject(new TypeError("Failed to fetch"))],
])("%s is assets_unavailable", async (_, given) => {
  answer = given;
  assets.begin(piece);
  await expect(assets.bytesOf(piece)).rejects.toMatchObject({ code: "assets_unavailable" });
});
