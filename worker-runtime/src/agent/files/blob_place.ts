// The place in this browser where code and data of studies are kept. Page thread and agent thread.

export const BLOB_CACHE_NAME = "hyperflock-blobs";

export function blobAddress(sha256: string): string {
  return `/api/blobs/${sha256}`;
}

/** Returns whether this browser keeps the blob. Its content is verified when it is used. */
export async function isBlobKept(sha256: string): Promise<boolean> {
  if (!("caches" in globalThis)) return false;
  const options = { cacheName: BLOB_CACHE_NAME };
  const found = await caches.match(blobAddress(sha256), options).catch(() => undefined);
  return found !== undefined;
}
