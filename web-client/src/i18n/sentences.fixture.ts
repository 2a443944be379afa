// The sentences of a page's words, with the path of each. A sentence ends with a full stop, a question mark or three
// dots; labels and titles do not.

const SENTENCE = /[.?…]”?$/;

/** A parameter: `‹n›` as a text, and `‹name›` for the property `name` of an object. */
function place(index: number): unknown {
  return new Proxy(
    {},
    {
      get: (_, name) => (typeof name === "symbol" ? () => `‹${index}›` : `‹${name}›`),
    },
  );
}

/** Returns every sentence as `[path, sentence]`. A function is called with places for its parameters. */
export function sentencesOf(value: unknown, path = ""): [string, string][] {
  if (typeof value === "string") {
    return SENTENCE.test(value) ? [[path, value]] : [];
  }
  if (typeof value === "function") {
    const call = value as (...places: unknown[]) => unknown;
    return sentencesOf(call(...[0, 1, 2, 3].map(place)), `${path}()`);
  }
  return Object.entries(value as object).flatMap(([key, child]) =>
    sentencesOf(child, `${path}/${key}`),
  );
}
