// The script of the issuer's worker in a browser, for chromium.test.ts and bench_ring.ts. It makes a ring, posts the
// ring's memory for a gpu thread, and runs one case. The case blocks this worker's thread.

import { cases } from "./cases.fixture.ts";
import { measure } from "./figures.fixture.ts";
import { type RingOptions, RingWriter } from "./ring_writer.fixture.ts";

export type ToIssuer =
  | ({ readonly kind: "make" } & RingOptions)
  | { readonly kind: "case"; readonly name: string }
  | { readonly kind: "measure" };

let ring = undefined as RingWriter | undefined;

async function answer(message: ToIssuer): Promise<unknown> {
  if (message.kind === "make") {
    ring = new RingWriter(message);
    return { memory: ring.memory, controlAddress: ring.controlAddress };
  }
  if (ring === undefined) throw new Error("no ring yet");
  if (message.kind === "measure") return measure(ring, navigator.gpu);
  const found = cases.find(({ name }) => name === message.name);
  if (found === undefined) throw new Error(`no case '${message.name}'`);
  found.run(ring);
  return { shared_uploads: (ring.load(225) & 16) !== 0, device: ring.device() };
}

self.onmessage = ({ data }: MessageEvent<ToIssuer>) => {
  answer(data).then(
    (value) => self.postMessage({ value }),
    (error: unknown) => {
      self.postMessage({
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    },
  );
};
