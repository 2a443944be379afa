// Results and fences of WebGL2. Bytes are read into pixel pack buffers, and a fence's sync object shows when the device
// has come so far. WebGL2 tells nobody when that happens, so sync objects are polled: by the drain's nudges, and by a
// timer. Runs on its executor's thread.

import { pieces, type Storage, type Storages, TEXEL_BYTES } from "./storages.ts";

/** The pause in ms between two polls of the timer: at first, and the longest one. It grows while nothing happens. */
const POLL_MS = 1;
const LONGEST_POLL_MS = 50;
const POLL_GROWTH = 1.5;
const SMALLEST = 4096;
/** Pixel pack buffers of at most this size are kept for the next read, in all KEPT_IN_ALL bytes of them. */
const KEPT_BYTES = 4 * 2 ** 20;
const KEPT_IN_ALL = 16 * 2 ** 20;

interface PackBuffer {
  readonly buffer: WebGLBuffer;
  readonly size: number;
}

interface Landing {
  readonly pack: PackBuffer;
  readonly skip: number;
  readonly bytes: number;
  readonly land: (data: Uint8Array) => void;
}

interface Point {
  readonly sync: WebGLSync;
  readonly landings: readonly Landing[];
  readonly reached: () => void;
}

export class Fences {
  readonly #gl: WebGL2RenderingContext;
  readonly #storages: Storages;
  readonly #free: PackBuffer[] = [];
  #freeBytes = 0;
  #landings: Landing[] = [];
  #points: Point[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pollMs = POLL_MS;

  constructor(gl: WebGL2RenderingContext, storages: Storages) {
    this.#gl = gl;
    this.#storages = storages;
  }

  /** Reads bytes. `land` is called with them before the next point is reached. REQUIRES: bytes > 0, in the storage. */
  read(storage: Storage, offset: number, bytes: number, land: (data: Uint8Array) => void): void {
    const gl = this.#gl;
    const first = Math.floor(offset / TEXEL_BYTES);
    const texels = Math.ceil((offset + bytes) / TEXEL_BYTES) - first;
    const pack = this.#take(texels * TEXEL_BYTES);
    this.#storages.attachForReading(storage);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, pack.buffer);
    pieces(first, texels, storage.width, (x, y, width, height, at) => {
      gl.readPixels(x, y, width, height, gl.RGBA_INTEGER, gl.UNSIGNED_INT, at * TEXEL_BYTES);
    });
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    this.#landings.push({ pack, skip: offset - first * TEXEL_BYTES, bytes, land });
  }

  /** Calls `reached` when the device has done everything so far. Points are reached in order. */
  point(reached: () => void): void {
    const sync = this.#gl.fenceSync(this.#gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.#gl.flush();
    if (sync === null) return; // the context is lost, which is reported elsewhere
    this.#points.push({ sync, landings: this.#landings, reached });
    this.#landings = [];
    this.#pollMs = POLL_MS;
    this.#schedule();
  }

  /** Looks how far the device has come. */
  poll(): void {
    const gl = this.#gl;
    while (this.#points.length > 0 && !gl.isContextLost()) {
      const point = this.#points[0] as Point;
      if (gl.getSyncParameter(point.sync, gl.SYNC_STATUS) !== gl.SIGNALED) return;
      this.#points.shift();
      this.#pollMs = POLL_MS;
      gl.deleteSync(point.sync);
      for (const landing of point.landings) this.#land(landing);
      point.reached();
    }
  }

  /** Forgets everything, because the device is gone. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#points = [];
    this.#landings = [];
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#points.length === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#pollMs = Math.min(this.#pollMs * POLL_GROWTH, LONGEST_POLL_MS);
      this.poll();
      if (!this.#gl.isContextLost()) this.#schedule();
    }, this.#pollMs);
  }

  #land({ pack, skip, bytes, land }: Landing): void {
    const gl = this.#gl;
    const data = new Uint8Array(bytes);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, pack.buffer);
    gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, skip, data);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    if (pack.size > KEPT_BYTES || this.#freeBytes + pack.size > KEPT_IN_ALL) {
      gl.deleteBuffer(pack.buffer);
    } else {
      this.#free.push(pack);
      this.#freeBytes += pack.size;
    }
    land(data);
  }

  #take(bytes: number): PackBuffer {
    const size = bytes > KEPT_BYTES ? bytes : Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)));
    const index = this.#free.findIndex((pack) => pack.size === size);
    const [kept] = index >= 0 ? this.#free.splice(index, 1) : [];
    if (kept !== undefined) {
      this.#freeBytes -= kept.size;
      return kept;
    }
    const gl = this.#gl;
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
    gl.bufferData(gl.PIXEL_PACK_BUFFER, size, gl.STREAM_READ);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    return { buffer, size };
  }
}
