// How many bytes of a file the network moves. The server sends compressed forms, whose length is in the header. Any thread.

/** Returns the length of the answer as it was sent, or `whole`, the file's own length, if the answer does not say. */
export function sentBytes(answer: Response, whole: number): number {
  const length = Number(answer.headers.get("content-length"));
  return Number.isSafeInteger(length) && length > 0 ? Math.min(length, whole) : whole;
}
