// run_wgsl.mjs FOLDER [--every N] [NAME] runs the cases that wgsl_cases wrote on Dawn, and compares every byte of every
// buffer. With --every N, it runs about one case in N, always the same ones. The environment variable ARRAYCORE_WEBGPU
// may name another file than the installed `webgpu` module. Main thread.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { crc32 } from "node:zlib";
import { openDawn, prepareVulkan } from "../../../worker-runtime/src/gpu/thread/node_gpu.ts";

const { values, positionals } = parseArgs({
  options: { every: { type: "string", default: "1" } },
  allowPositionals: true,
});
const [folder, only] = positionals;
const every = Number(values.every);
if (!folder || !(every >= 1)) {
  console.error("usage: node run_wgsl.mjs FOLDER [--every N] [NAME]");
  process.exit(2);
}
const modulePath = process.env.ARRAYCORE_WEBGPU || "webgpu";
prepareVulkan();
const { globals } = await import(modulePath);
Object.assign(globalThis, globals);
const adapter = await (await openDawn(modulePath)).requestAdapter();
if (!adapter) {
  console.error("no adapter");
  process.exit(1);
}
const device = await adapter.requestDevice();
device.lost.then((info) => {
  if (info.reason !== "destroyed") {
    console.error("device lost:", info.message);
    process.exit(1);
  }
});

const cases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));
const data = readFileSync(join(folder, "data.bin"));
const slice = ({ at, size }) => Uint8Array.prototype.slice.call(data, at, at + size);

const bufferOf = (bytes, usage) => {
  const buffer = device.createBuffer({ size: Math.max(bytes.length, 16), usage });
  device.queue.writeBuffer(buffer, 0, bytes);
  return buffer;
};

async function runCase(one) {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const uniform = bufferOf(
    new Uint8Array(new Uint32Array(one.uniforms).buffer),
    GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
  );
  const buffers = new Map(one.buffers.map((b) => [b.slot, bufferOf(slice(b.before), usage)]));
  buffers.set(-1, device.createBuffer({ size: Math.max(one.scratch, 16), usage }));
  device.pushErrorScope("validation");
  const encoder = device.createCommandEncoder();
  const problems = [];
  for (const stage of one.stages) {
    const module = device.createShaderModule({ code: stage.text });
    const info = await module.getCompilationInfo();
    for (const m of info.messages)
      if (m.type === "error") problems.push(`${m.lineNum}:${m.linePos} ${m.message}`);
    if (problems.length > 0) break;
    const layout = device.createBindGroupLayout({
      entries: [
        {
          binding: 0,
          visibility: GPUShaderStage.COMPUTE,
          buffer: { type: "uniform", hasDynamicOffset: true },
        },
        ...stage.bindings.map((b, i) => ({
          binding: i + 1,
          visibility: GPUShaderStage.COMPUTE,
          buffer: { type: b.write ? "storage" : "read-only-storage" },
        })),
      ],
    });
    const pipeline = device.createComputePipeline({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: "main" },
    });
    const group = device.createBindGroup({
      layout,
      entries: [
        { binding: 0, resource: { buffer: uniform, size: one.uniforms.length * 4 } },
        ...stage.bindings.map((b, i) => ({
          binding: i + 1,
          resource: { buffer: buffers.get(b.slot) },
        })),
      ],
    });
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group, [0]);
    pass.dispatchWorkgroups(...stage.grid);
    pass.end();
  }
  const reads = one.buffers.map((b) => {
    const read = device.createBuffer({
      size: b.after.size,
      usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ,
    });
    encoder.copyBufferToBuffer(buffers.get(b.slot), 0, read, 0, b.after.size);
    return read;
  });
  device.queue.submit([encoder.finish()]);
  const error = await device.popErrorScope();
  if (error) problems.push(error.message);
  if (problems.length === 0) {
    for (const [i, b] of one.buffers.entries()) {
      await reads[i].mapAsync(GPUMapMode.READ);
      const got = new Uint8Array(reads[i].getMappedRange()).slice();
      const difference = compare(b.dtype, slice(b.before), slice(b.after), got, one);
      if (difference) problems.push(`slot ${b.slot}: ${difference}`);
    }
  }
  for (const buffer of [uniform, ...buffers.values(), ...reads]) buffer.destroy();
  return problems;
}

const floats = new Float32Array(1);
const words = new Uint32Array(floats.buffer);
// Maps floats to integers in the same order, so that neighbouring floats differ by one.
const ordered32 = (bits) => (bits & 0x80000000 ? -(bits & 0x7fffffff) : bits);
const value32 = (bits) => {
  words[0] = bits;
  return floats[0];
};
const value16 = (h) => {
  const size = h & 0x7fff;
  const sign = h & 0x8000 ? -1 : 1;
  if (size >= 0x7c00) return size > 0x7c00 ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (size < 0x400) return sign * size * 2 ** -24;
  return sign * (1 + (size & 0x3ff) / 1024) * 2 ** ((size >> 10) - 15);
};

let worst = 0;
// Returns whether two floats are close. `peer` is the magnitude of a complex number's other part.
function closeFloat(want, got, one, half, peer) {
  if (want === got) return true;
  const value = half ? value16 : value32;
  const a = value(want);
  const b = value(got);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  const smallest = half ? 2 ** -14 : 2 ** -126;
  // A zero is accepted for a subnormal number. If the operation rounds, a zero of either sign is accepted.
  if (!half && Math.abs(a) < smallest && Math.abs(b) <= smallest && (one.ulp > 0 || b === 0))
    return a !== 0 || b !== 0 ? true : one.ulp > 0;
  if (one.ulp === 0) return false;
  const distance = half
    ? Math.abs((want & 0x8000 ? -(want & 0x7fff) : want) - (got & 0x8000 ? -(got & 0x7fff) : got))
    : Math.abs(ordered32(want) - ordered32(got));
  if (distance <= one.ulp) {
    worst = Math.max(worst, distance);
    return true;
  }
  if (!half && Math.abs(a - b) <= smallest) return true;
  return Math.abs(a - b) <= one.ulp * Math.max(one.floor, peer) * (half ? 2 ** -10 : 2 ** -23);
}

function compare(dtype, before, want, got, one) {
  const unit = dtype === "float16" ? 2 : ["float32", "complex64"].includes(dtype) ? 4 : 1;
  const read = (bytes) =>
    unit === 2 ? new Uint16Array(bytes.buffer) : unit === 4 ? new Uint32Array(bytes.buffer) : bytes;
  const [b, w, g] = [read(before), read(want), read(got)];
  for (let i = 0; i < w.length; i++) {
    const other = dtype === "complex64" ? Math.abs(value32(w[i ^ 1])) : 0;
    const peer = Number.isFinite(other) ? other : 0;
    const same = unit === 1 ? w[i] === g[i] : closeFloat(w[i], g[i], one, unit === 2, peer);
    if (same) continue;
    const show = (x) =>
      unit === 1 ? x : `${(unit === 2 ? value16 : value32)(x)} (${x.toString(16)})`;
    return `${dtype} unit ${i}: want ${show(w[i])}, got ${show(g[i])}, was ${show(b[i])}`;
  }
  return "";
}

let passed = 0;
let failed = 0;
for (const one of cases) {
  if (only ? !one.name.startsWith(only) : crc32(one.name) % every > 0) continue;
  worst = 0;
  const problems = await runCase(one);
  if (problems.length === 0) {
    passed++;
    if (only && one.ulp > 0) console.log(`${one.name}: worst ${worst} of ${one.ulp}`);
  } else {
    failed++;
    if (failed <= 60) console.log(`FAILED ${one.name}: ${problems.slice(0, 3).join("; ")}`);
    if (only) console.log(one.stages.map((s) => s.text).join("\n----\n"));
  }
}
const name = adapter.info
  ? `${adapter.info.vendor} ${adapter.info.device} ${adapter.info.description}`
  : "";
console.log(`wgsl cases on ${name}: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
