// Exports of a WebAssembly instance that are not entered again once one of them did not return. Any thread.
//
// A trap, or an exception of an import's, ends a call in the middle of what it did: the allocator's lock may be held, lists
// may be half changed. The next call would wait for ever or read what is not there; it gets an error instead.

/** A function of numbers; none of array-core's takes more than seven. */
type Export = (...numbers: unknown[]) => unknown;

/** The same exports. `ended` makes the error of the call that threw `cause` and of every one after it; told once by `tell`. */
export function guarded<T extends object>(
  exports: T,
  ended: (cause: unknown) => Error,
  tell: () => void = () => {},
): T {
  let cause: { readonly thrown: unknown } | undefined;
  const guard =
    (call: Export): Export =>
    (a, b, c, d, e, f, g) => {
      if (cause !== undefined) throw ended(cause.thrown);
      try {
        return call(a, b, c, d, e, f, g);
      } catch (thrown) {
        cause = { thrown };
        tell();
        throw ended(thrown);
      }
    };
  const entries = Object.entries(exports).map(([name, value]) => [
    name,
    typeof value === "function" ? guard(value as Export) : value,
  ]);
  return Object.fromEntries(entries) as T;
}
