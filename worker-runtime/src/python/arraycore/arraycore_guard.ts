// Guards a WebAssembly instance: after one call of its exports has thrown, every later call is refused. Any thread.
//
// A trap, or an exception of an import, ends a call in the middle. The allocator's lock may then be held, and lists may be
// half changed. The next call could wait for ever or read invalid memory. It throws an error instead.

/** A function of numbers. No function of array-core takes more than seven. */
type Export = (...numbers: unknown[]) => unknown;

/**
 * Returns the guarded exports. If a call throws `cause`, that call and every later one throw `ended(cause)`. `tell` is
 * called when the first call throws.
 */
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
