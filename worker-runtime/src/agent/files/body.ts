// Reads the body of an answer for as long as it goes on. A slow line may take an hour for a data set, so what ends a
// download is silence, and not its length. Runs on the agent thread.

/**
 * Runs `download`, and aborts the signal that it gets if `heard` was not called for `silenceMs`, from the start on, or
 * if `signal` is aborted.
 */
export async function untilSilent<T>(
  silenceMs: number,
  signal: AbortSignal,
  download: (signal: AbortSignal, heard: () => void) => Promise<T>,
): Promise<T> {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), silenceMs);
  };
  heard();
  try {
    return await download(AbortSignal.any([signal, silent.signal]), heard);
  } finally {
    clearTimeout(timer);
  }
}

/** A body has another size than it should have. */
export class SizeError extends Error {
  override readonly name = "SizeError";
}

/** Reads a body of so many bytes. Throws SizeError if it has another size, as soon as it is too long. */
export async function readExactly(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  size: number,
  heard: () => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size);
  let filled = 0;
  for (const reader = body.getReader(); ; ) {
    const { done, value } = await reader.read();
    heard();
    if (done) break;
    if (filled + value.length > size) {
      await reader.cancel().catch(() => {});
      throw new SizeError("More bytes came than were asked for.");
    }
    bytes.set(value, filled);
    filled += value.length;
  }
  if (filled !== size) throw new SizeError("Fewer bytes came than were asked for.");
  return bytes;
}
