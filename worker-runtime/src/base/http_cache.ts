// Looks into the browser's own cache of files, without asking the network. Any thread of a browser.

/** Whether the browser has kept a file of this origin. False if it does not say. */
export async function isFileKept(path: string): Promise<boolean> {
  try {
    const answer = await fetch(path, { cache: "only-if-cached", mode: "same-origin" });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false; // It is not in the cache, or the browser does not say.
  }
}
