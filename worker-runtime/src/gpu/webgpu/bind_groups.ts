// Bind group layouts, and a limited cache of bind groups by layout, buffers, offsets and sizes. A bind group is checked
// once, when it is made. Runs on its executor's thread.

import { CommandError } from "../ring/executor.ts";
import { BINDING_ALIGNMENT, ErrorCode } from "../ring/layout.ts";

/** The number of entries of the direct-mapped cache, a power of two. A displaced entry is made again if needed. */
const ENTRIES = 4096;
const COMPUTE_STAGE = 0x4;

export interface BufferSlot {
  readonly buffer: GPUBuffer;
  readonly bytes: number;
  readonly label: string;
  /** The newest batch that uses the buffer. */
  batch: number;
}

export interface GroupLayout {
  readonly number: number;
  readonly layout: GPUBindGroupLayout;
  readonly uniformBytes: number;
  readonly bindings: number;
  readonly readWriteMask: number;
}

interface Entry {
  readonly layout: GroupLayout;
  readonly words: Uint32Array;
  readonly slots: readonly BufferSlot[];
  readonly group: GPUBindGroup;
}

export class BindGroups {
  readonly #device: GPUDevice;
  readonly #uniforms: GPUBuffer;
  readonly #maxBindingBytes: number;
  readonly #entries: (Entry | undefined)[] = new Array<Entry | undefined>(ENTRIES).fill(undefined);
  readonly #layouts = new Map<string, GroupLayout>();
  created = 0;

  constructor(device: GPUDevice, uniforms: GPUBuffer, maxBindingBytes: number) {
    this.#device = device;
    this.#uniforms = uniforms;
    this.#maxBindingBytes = maxBindingBytes;
  }

  /** Returns the layout of binding 0 (uniforms, if there are any) and the storage bindings after it. */
  layout(uniformBytes: number, bindings: number, readWriteMask: number): GroupLayout {
    const rounded = Math.ceil(uniformBytes / 16) * 16;
    const key = `${rounded} ${bindings} ${readWriteMask}`;
    const known = this.#layouts.get(key);
    if (known !== undefined) return known;
    const entries: GPUBindGroupLayoutEntry[] = [];
    if (rounded > 0) {
      entries.push({
        binding: 0,
        visibility: COMPUTE_STAGE,
        buffer: { type: "uniform", hasDynamicOffset: true, minBindingSize: rounded },
      });
    }
    for (let i = 0; i < bindings; i += 1) {
      entries.push({
        binding: i + 1,
        visibility: COMPUTE_STAGE,
        buffer: { type: (readWriteMask >>> i) & 1 ? "storage" : "read-only-storage" },
      });
    }
    const layout: GroupLayout = {
      number: this.#layouts.size + 1,
      layout: this.#device.createBindGroupLayout({ label: `bindings ${key}`, entries }),
      uniformBytes: rounded,
      bindings,
      readWriteMask,
    };
    this.#layouts.set(key, layout);
    return layout;
  }

  /** Returns the group of the bindings at `words[at...]`, and marks their buffers as used by `batch`. */
  find(
    layout: GroupLayout,
    words: Uint32Array<SharedArrayBuffer>,
    at: number,
    buffers: ReadonlyMap<number, BufferSlot>,
    batch: number,
  ): GPUBindGroup {
    const count = layout.bindings * 3;
    let hash = layout.number;
    for (let i = 0; i < count; i += 1)
      hash = Math.imul(hash ^ (words[at + i] ?? 0), 0x9e3779b1) ^ (hash >>> 15);
    const place = (hash ^ (hash >>> 16)) & (ENTRIES - 1);
    let entry = this.#entries[place];
    if (entry === undefined || !matches(entry, layout, words, at, buffers)) {
      entry = this.#make(layout, words, at, buffers);
      this.#entries[place] = entry;
    }
    for (const slot of entry.slots) slot.batch = batch;
    return entry.group;
  }

  #make(
    layout: GroupLayout,
    words: Uint32Array<SharedArrayBuffer>,
    at: number,
    buffers: ReadonlyMap<number, BufferSlot>,
  ): Entry {
    const copy = new Uint32Array(words.subarray(at, at + layout.bindings * 3));
    const slots: BufferSlot[] = [];
    const entries: GPUBindGroupEntry[] = [];
    if (layout.uniformBytes > 0) {
      entries.push({ binding: 0, resource: { buffer: this.#uniforms, size: layout.uniformBytes } });
    }
    for (let i = 0; i < layout.bindings; i += 1) {
      const [id = 0, offset = 0, bytes = 0] = copy.subarray(i * 3, i * 3 + 3);
      const slot = buffers.get(id);
      if (slot === undefined)
        throw new CommandError(ErrorCode.unknownBuffer, `binding ${i}: there is no buffer ${id}`);
      this.#check(layout, copy, i, slot);
      slots.push(slot);
      entries.push({ binding: i + 1, resource: { buffer: slot.buffer, offset, size: bytes } });
    }
    this.created += 1;
    const label = slots.map((slot) => slot.label).join(", ");
    const group = this.#device.createBindGroup({ label, layout: layout.layout, entries });
    return { layout, words: copy, slots, group };
  }

  // Checks a dispatch for everything that makes the device refuse the whole batch.
  #check(layout: GroupLayout, words: Uint32Array, i: number, slot: BufferSlot): void {
    const [id = 0, offset = 0, bytes = 0] = words.subarray(i * 3, i * 3 + 3);
    const where = `binding ${i}, bytes ${offset} to ${offset + bytes} of '${slot.label}'`;
    if (offset % BINDING_ALIGNMENT !== 0 || bytes === 0 || bytes % 4 !== 0)
      throw new CommandError(ErrorCode.badBinding, `${where}: unaligned or empty`);
    if (offset + bytes > slot.bytes)
      throw new CommandError(ErrorCode.badRange, `${where}: outside its ${slot.bytes} bytes`);
    if (bytes > this.#maxBindingBytes)
      throw new CommandError(
        ErrorCode.overLimit,
        `${where}: a binding has at most ${this.#maxBindingBytes} bytes here`,
      );
    const writes = (layout.readWriteMask >>> i) & 1;
    for (let j = 0; j < i; j += 1) {
      const [otherId = 0, otherOffset = 0, otherBytes = 0] = words.subarray(j * 3, j * 3 + 3);
      if (otherId !== id) continue;
      const disjoint = offset + bytes <= otherOffset || otherOffset + otherBytes <= offset;
      if (((layout.readWriteMask >>> j) & 1) !== writes || (writes && !disjoint))
        throw new CommandError(
          ErrorCode.badBinding,
          `${where}: bound twice in one dispatch and written`,
        );
    }
  }
}

function matches(
  entry: Entry,
  layout: GroupLayout,
  words: Uint32Array<SharedArrayBuffer>,
  at: number,
  buffers: ReadonlyMap<number, BufferSlot>,
): boolean {
  if (entry.layout !== layout) return false;
  for (let i = 0; i < entry.words.length; i += 1)
    if (entry.words[i] !== words[at + i]) return false;
  // A later buffer may have the same number, but its `BufferSlot` object is another one.
  for (let i = 0; i < entry.slots.length; i += 1)
    if (buffers.get(words[at + i * 3] ?? 0) !== entry.slots[i]) return false;
  return true;
}
