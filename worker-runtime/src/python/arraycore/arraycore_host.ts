// The module `_arraycore_host` that Python's bridge imports (array-core/python/arraycore/_bridge/wasm.py). It passes on
// array-core's functions, and adds those that copy between Python's heap and array-core's memory. Each is one call from
// Python to JavaScript. Python thread.

import { type ArraycoreModule, textAt } from "./arraycore_module.ts";

/** A Python object with the buffer protocol, as Pyodide passes it. */
interface PyBufferSource {
  getBuffer(type: "u8"): { readonly data: Uint8Array; release(): void };
}

const SHAPE_BYTES = 32 * 8;
const DESCRIPTION_WORDS = 2 + 2 * 32;
/** The most ids that one call of `free` passes on. */
const FREE_IDS = 1024;
/** The most words of arguments for which a call allocates no memory. */
const CALL_WORDS = 256;
/** Larger arrays are copied in pieces of this size, so that the memory need not grow by a whole copy. A multiple of 4. */
const PIECE_BYTES = 4 * 1_048_576;
/** The status if memory is exhausted: minus ErrorKind::memory (array-core/src/base/result.h). */
const NO_ROOM = -4;

export type ArraycoreHost = ReturnType<typeof arraycoreHost>;

export function arraycoreHost({ exports, memory }: ArraycoreModule) {
  // Small blocks for arguments. They are never freed.
  const shapeAt = exports.ac_allocate(SHAPE_BYTES);
  const descriptionAt = exports.ac_allocate(DESCRIPTION_WORDS * 8);
  const idsAt = exports.ac_allocate(FREE_IDS * 4);
  const itemAt = exports.ac_allocate(8);
  const wordsAt = exports.ac_allocate(CALL_WORDS * 4);
  // A view keeps its length when the memory grows. These blocks are at the beginning, so the views stay valid.
  const item = new Float64Array(memory.buffer, itemAt, 1);
  const callWords = new Int32Array(memory.buffer, wordsAt, CALL_WORDS);

  const writeShape = (shape: string): number => {
    const extents = shape === "" ? [] : shape.split(",");
    const words = new BigInt64Array(memory.buffer, shapeAt, Math.min(extents.length, 32));
    for (const [i, extent] of extents.slice(0, 32).entries()) words[i] = BigInt(extent);
    return extents.length;
  };

  // Copies a text into array-core's memory and calls `use` with the copy, which is freed afterwards.
  const withText = (text: string, use: (address: number, bytes: number) => number): number => {
    const bytes = new TextEncoder().encode(text);
    const at = exports.ac_allocate(bytes.length + 1);
    if (at === 0) return refuse(bytes.length + 1);
    const target = new Uint8Array(memory.buffer, at, bytes.length + 1);
    target.set(bytes);
    target[bytes.length] = 0;
    const result = use(at, bytes.length);
    exports.ac_deallocate(at);
    return result;
  };

  // The message of the last error, if array-core's memory had no room for a copy. array-core itself does not know of
  // copies that this file makes.
  let noRoom = "";
  const refuse = (bytes: number): number => {
    noRoom = `There is no room for a copy of ${bytes} bytes in array-core's memory.`;
    return NO_ROOM;
  };

  // Calls `use` with a temporary block of array-core's memory, which has `bytes` bytes, but at most PIECE_BYTES.
  const withPiece = (bytes: number, use: (at: number, pieceBytes: number) => number): number => {
    const pieceBytes = Math.min(bytes, PIECE_BYTES);
    const at = exports.ac_allocate(pieceBytes);
    if (at === 0) return refuse(pieceBytes);
    try {
      return use(at, pieceBytes);
    } finally {
      exports.ac_deallocate(at);
    }
  };

  // Calls `move` for each piece in order. Returns 0, or the error of the first piece that failed.
  const eachPiece = (
    bytes: number,
    pieceBytes: number,
    move: (offset: number, bytes: number) => number,
  ): number => {
    for (let offset = 0; offset < bytes; offset += pieceBytes) {
      const status = move(offset, Math.min(pieceBytes, bytes - offset));
      if (status < 0) return status;
    }
    return 0;
  };

  const freeOne = (id: number): void => {
    new Int32Array(memory.buffer, idsAt, 1)[0] = id;
    exports.ac_free(1, idsAt);
  };

  return {
    open: exports.ac_open,
    close: exports.ac_close,
    reset: exports.ac_reset,
    set_promotion: exports.ac_set_promotion,
    unary: exports.ac_unary,
    binary: exports.ac_binary,
    binary_scalar: exports.ac_binary_scalar,
    counter: exports.ac_counter,
    device_text: (): string => textAt(memory, exports.ac_device_text()),
    profile_text: (): string => textAt(memory, exports.ac_profile_text()),
    /** Returns the last failure as "kind code sentence". */
    error: (): string => {
      if (noRoom === "") {
        const code = textAt(memory, exports.ac_error_code());
        return `${exports.ac_error_kind()} ${code} ${textAt(memory, exports.ac_error_message())}`;
      }
      const text = `${-NO_ROOM} no_room ${noRoom}`;
      noRoom = "";
      return text;
    },

    ufunc_number: (name: string): number => withText(name, exports.ac_ufunc_number),

    call(operation: number, freedA: number, freedB: number, ...words: number[]): number {
      const count = words.length;
      if (count <= CALL_WORDS) {
        for (let i = 0; i < count; i += 1) callWords[i] = words[i] as number;
        return exports.ac_call(operation, wordsAt, count, freedA, freedB);
      }
      const at = exports.ac_allocate(count * 4);
      if (at === 0) return refuse(count * 4);
      new Int32Array(memory.buffer, at, count).set(words);
      const result = exports.ac_call(operation, at, count, freedA, freedB);
      exports.ac_deallocate(at);
      return result;
    },

    /** Makes a kernel. Each text in `texts` ends with a zero character. */
    kernel: (kind: number, texts: string): number =>
      withText(texts, (at, bytes) => exports.ac_kernel(kind, at, bytes)),

    /** Makes an array. `shape` is a text such as "2,3". Without a source, the elements are zeros. */
    create(dtype: number, shape: string, source: PyBufferSource | null | undefined): number {
      const ndim = writeShape(shape);
      if (source == null) return exports.ac_create(dtype, ndim, shapeAt, 0);
      const from = source.getBuffer("u8");
      try {
        const { data } = from;
        return withPiece(data.length, (at, pieceBytes) => {
          if (data.length <= pieceBytes) {
            new Uint8Array(memory.buffer, at, data.length).set(data);
            return exports.ac_create(dtype, ndim, shapeAt, at);
          }
          const id = exports.ac_create_unset(dtype, ndim, shapeAt);
          if (id < 0) return id;
          const status = eachPiece(data.length, pieceBytes, (offset, bytes) => {
            // The view is new in each step, because an upload to the CPU back end may have made the memory grow.
            new Uint8Array(memory.buffer, at, bytes).set(data.subarray(offset, offset + bytes));
            return exports.ac_upload(id, offset, at, bytes);
          });
          if (status < 0) freeOne(id);
          return status < 0 ? status : id;
        });
      } finally {
        from.release();
      }
    },

    read(id: number, target: PyBufferSource): number {
      const to = target.getBuffer("u8");
      try {
        const { data } = to;
        return withPiece(data.length, (at, pieceBytes) => {
          if (data.length <= pieceBytes) {
            const status = exports.ac_read(id, at, data.length);
            if (status >= 0) data.set(new Uint8Array(memory.buffer, at, data.length));
            return status;
          }
          const packed = exports.ac_packed(id);
          if (packed < 0) return packed;
          const status = eachPiece(data.length, pieceBytes, (offset, bytes) => {
            const read = exports.ac_download(packed, offset, at, bytes);
            if (read >= 0) data.set(new Uint8Array(memory.buffer, at, bytes), offset);
            return read;
          });
          if (packed !== id) freeOne(packed);
          return status;
        });
      } finally {
        to.release();
      }
    },

    /** Returns the array's one element, true if a number cannot express it, or false after an error. */
    item(id: number): number | boolean {
      const told = exports.ac_item(id, itemAt);
      const value = item[0] as number;
      // Pyodide converts -0 to the integer 0. So -0 counts as a number that cannot be expressed.
      return told === 1 && !Object.is(value, -0) ? value : told >= 0;
    },

    /** Returns dtype, number of dimensions, shape and strides as "10,1,5,4", or an empty text after an error. */
    describe(id: number): string {
      if (exports.ac_describe(id, descriptionAt) < 0) return "";
      const words = new BigInt64Array(memory.buffer, descriptionAt, DESCRIPTION_WORDS);
      return words.slice(0, 2 + 2 * Number(words[1])).join(",");
    },

    /** Frees arrays. `ids` contains int32 values. */
    free(ids: PyBufferSource): number {
      const from = ids.getBuffer("u8");
      try {
        new Uint8Array(memory.buffer, idsAt, from.data.length).set(from.data);
        return exports.ac_free(from.data.length / 4, idsAt);
      } finally {
        from.release();
      }
    },
  };
}
