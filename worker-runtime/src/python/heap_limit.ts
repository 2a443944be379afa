// Limits Python's heap. To get more memory, Emscripten's allocator asks WebAssembly.Memory to grow. If that is refused,
// the allocator reports that memory is exhausted, and Python raises MemoryError. The attempt then ends as
// `out_of_memory`, and the volunteer's tab survives. Runs on the python thread, once, before Pyodide is loaded.

const PAGE_BYTES = 65_536;

/** Makes scripts of this thread unable to grow a memory beyond `bytes`. */
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
