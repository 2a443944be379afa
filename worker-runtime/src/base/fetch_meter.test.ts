import { expect, test } from "vitest";
import { FetchMeter, wireBytes } from "./fetch_meter.ts";

test("Counts what the network moved, and nothing for a file from the browser's cache.", () => {
  const name = "https://a/x";
  expect(wireBytes([{ name, transferSize: 1_300 }, { name, transferSize: 0 }, { name }])).toBe(
    1_300,
  );
});

test("Counts the body of another origin while it arrives, and leaves its own origin to the browser.", async () => {
  const counted: number[] = [];
  const answer = async () => new Response(new Uint8Array(10), { status: 203, headers: { a: "b" } });
  const meter = new FetchMeter((bytes) => counted.push(bytes), answer as typeof fetch, "https://a");
  await (await meter.fetch("/api/blobs/1")).arrayBuffer();
  await (await meter.fetch("https://a/api/blobs/1")).arrayBuffer();
  expect(counted).toEqual([]);
  const other = await meter.fetch("https://cdn/blobs/1", {});
  expect([other.status, other.headers.get("a")]).toEqual([203, "b"]);
  expect((await other.arrayBuffer()).byteLength).toBe(10);
  expect(counted.reduce((sum, bytes) => sum + bytes, 0)).toBe(10);
});
