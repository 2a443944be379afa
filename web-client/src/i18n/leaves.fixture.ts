// For tests of dictionaries: every sentence with the path of its key.

/** Every leaf as `[path, text]`; functions are called with their parameters' places. */
export function leaves(value: unknown, path = ""): [string, string][] {
  if (typeof value === "string") {
    return [[path, value]];
  }
  if (typeof value === "function") {
    const call = value as (...places: string[]) => unknown;
    return leaves(call("‹0›", "‹1›", "‹2›", "‹3›"), `${path}()`);
  }
  return Object.entries(value as object).flatMap(([key, child]) => leaves(child, `${path}/${key}`));
}

/** The parameters that a sentence uses, in no order. */
export function partsOf(text: string): readonly string[] {
  return [...new Set(text.match(/‹\d›/g) ?? [])].sort();
}
