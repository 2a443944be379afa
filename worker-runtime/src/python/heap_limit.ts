// The ceiling of Python's heap. Emscripten's allocator asks WebAssembly.Memory to grow and takes a refusal for "no memory
// left", which Python raises as MemoryError: the attempt ends as `out_of_memory`, and the volunteer's tab lives on.
// Runs on the python thread, once, before Pyodide is there.

const PAGE_BYTES = 65_536;

/** From now on no memory of this thread grows beyond `bytes` by its script. */
export function limitHeap(bytes: number): void {
  const { prototype } = WebAssembly.Memory;
  const grow = prototype.grow;
  const limited = function (this: WebAssembly.Memory, pages: number): number {
    if (this.buffer.byteLength + pages * PAGE_BYTES > bytes) {
      throw new RangeError(`WebAssembly.Memory.grow(): at most ${bytes} bytes are allowed here.`);
    }
    return grow.call(this, pages);
  };
  Object.defineProperty(prototype, "grow", {
    value: limited,
    writable: false,
    configurable: false,
  });
}
