// The storages of arrays as textures of WebGL2: RGBA32UI, four words in a texel, ROW_TEXELS texels in a row. Unsigned
// integers keep every bit, also of NaN, and every WebGL2 device renders to them. Runs on its executor's thread.

import { CommandError } from "../ring/executor.ts";
import { ErrorCode } from "../ring/layout.ts";

/** The numbers of array-core/src/codegen/glsl/glsl.h. */
export const TEXEL_BYTES = 16;
export const ROW_TEXELS = 2048;
export const ROW_BYTES = TEXEL_BYTES * ROW_TEXELS;

/** The largest storage on a device whose textures have at most `side` texels a side. */
export const mostBytes = (side: number): number => Math.min(ROW_BYTES * side, 2 ** 32 - ROW_BYTES);

export interface Storage {
  /** Another one after a dispatch that read the storage and wrote it. */
  texture: WebGLTexture;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly label: string;
}

/** The bytes that a storage takes on the device. */
export const heldBytes = ({ width, height }: Storage): number => width * height * TEXEL_BYTES;

/** The most bytes of textures that are kept for the next dispatch that reads and writes one storage. */
const SPARE_BYTES = 32 * 2 ** 20;

const sizeKey = ({ width, height }: Storage): string => `${width} ${height}`;

export class Storages {
  readonly #gl: WebGL2RenderingContext;
  readonly #reading: WebGLFramebuffer;
  /** Textures without a storage, by their size. */
  readonly #spares = new Map<string, WebGLTexture[]>();
  #spareBytes = 0;

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#reading = gl.createFramebuffer();
  }

  /** Creates a storage of zeros. REQUIRES: 0 < `bytes` <= mostBytes(). */
  create(bytes: number, label: string): Storage {
    const texels = Math.ceil(bytes / TEXEL_BYTES);
    const width = Math.min(texels, ROW_TEXELS);
    const height = Math.ceil(texels / ROW_TEXELS);
    return { texture: this.#texture(width, height), width, height, bytes, label };
  }

  destroy(storage: Storage): void {
    this.#gl.deleteTexture(storage.texture);
  }

  /** Writes whole texels from texel `first` on. REQUIRES: `data` has whole texels, inside of the storage. */
  write(storage: Storage, first: number, data: Uint32Array): void {
    const gl = this.#gl;
    gl.bindTexture(gl.TEXTURE_2D, storage.texture);
    pieces(first, data.length / 4, storage.width, (x, y, width, height, at) => {
      const piece = data.subarray(at * 4, (at + width * height) * 4);
      gl.texSubImage2D(
        gl.TEXTURE_2D,
        0,
        x,
        y,
        width,
        height,
        gl.RGBA_INTEGER,
        gl.UNSIGNED_INT,
        piece,
      );
    });
  }

  /** Returns whole texels from texel `first` on, and waits for the device. */
  readNow(storage: Storage, first: number, texels: number): Uint32Array {
    const gl = this.#gl;
    const data = new Uint32Array(texels * 4);
    this.attachForReading(storage);
    pieces(first, texels, storage.width, (x, y, width, height, at) => {
      gl.readPixels(x, y, width, height, gl.RGBA_INTEGER, gl.UNSIGNED_INT, data, at * 4);
    });
    return data;
  }

  /** Gives the storage a second texture with the same content, and returns the first one. */
  double(storage: Storage, withContent: boolean): WebGLTexture {
    const gl = this.#gl;
    const old = storage.texture;
    const { width, height } = storage;
    const texture = this.#spare(storage) ?? this.#texture(width, height);
    if (withContent) {
      this.attachForReading(storage);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.copyTexSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 0, 0, width, height);
    }
    storage.texture = texture;
    return old;
  }

  /** Keeps a texture that double() has replaced, for a later double(), or deletes it. */
  keepSpare(storage: Storage, texture: WebGLTexture): void {
    const bytes = heldBytes(storage);
    if (this.#spareBytes + bytes > SPARE_BYTES) {
      this.#gl.deleteTexture(texture);
      this.dropSpares();
      return;
    }
    const key = sizeKey(storage);
    const same = this.#spares.get(key);
    if (same === undefined) this.#spares.set(key, [texture]);
    else same.push(texture);
    this.#spareBytes += bytes;
  }

  dropSpares(): void {
    for (const textures of this.#spares.values())
      for (const texture of textures) this.#gl.deleteTexture(texture);
    this.#spares.clear();
    this.#spareBytes = 0;
  }

  #spare(storage: Storage): WebGLTexture | undefined {
    const texture = this.#spares.get(sizeKey(storage))?.pop();
    if (texture !== undefined) this.#spareBytes -= heldBytes(storage);
    return texture;
  }

  attachForReading(storage: Storage): void {
    const gl = this.#gl;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.#reading);
    gl.framebufferTexture2D(
      gl.READ_FRAMEBUFFER,
      gl.COLOR_ATTACHMENT0,
      gl.TEXTURE_2D,
      storage.texture,
      0,
    );
  }

  #texture(width: number, height: number): WebGLTexture {
    const gl = this.#gl;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32UI, width, height);
    // Without these a texture of integers is incomplete, and every texel reads as 0.
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return texture;
  }
}

/**
 * Divides `texels` texels from `first` on into rectangles: a part of a row, whole rows, a part of a row. `at` is the
 * rectangle's first texel, counted from `first`.
 */
export function pieces(
  first: number,
  texels: number,
  rowTexels: number,
  each: (x: number, y: number, width: number, height: number, at: number) => void,
): void {
  for (let at = 0; at < texels; ) {
    const x = (first + at) % rowTexels;
    const y = Math.floor((first + at) / rowTexels);
    const rest = texels - at;
    const whole = x === 0 && rest >= rowTexels;
    const width = whole ? rowTexels : Math.min(rowTexels - x, rest);
    const height = whole ? Math.floor(rest / rowTexels) : 1;
    each(x, y, width, height, at);
    at += width * height;
  }
}

/** Throws for a size that no storage can have on this device. */
export function checkSize(bytes: number, side: number, label: string): void {
  if (bytes === 0 || bytes % 4 !== 0)
    throw new CommandError(ErrorCode.badRange, `'${label}' has ${bytes} bytes`);
  if (bytes > mostBytes(side))
    throw new CommandError(
      ErrorCode.overLimit,
      `'${label}' has ${bytes} bytes, a buffer at most ${mostBytes(side)} here`,
    );
}
