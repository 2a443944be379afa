// run_wgsl.mjs FOLDER [--every N] [NAME] runs the cases that wgsl_cases wrote on Dawn, and compares every byte of every
// buffer. With --every N, it runs about one case in N, always the same ones. The environment variable ARRAYCORE_WEBGPU
// may name another file than the installed `webgpu` module. Main thread.
import { chosenCases } from "./chosen_cases.mjs";
import { compare, tally } from "./compare.mjs";
import { openDawn, prepareVulkan } from "../../../worker-runtime/src/gpu/thread/node_gpu.ts";

const { cases, slice, only } = chosenCases("run_wgsl.mjs");
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

let passed = 0;
let failed = 0;
for (const one of cases) {
  tally.worst = 0;
  const problems = await runCase(one);
  if (problems.length === 0) {
    passed++;
    if (only && one.ulp > 0) console.log(`${one.name}: worst ${tally.worst} of ${one.ulp}`);
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
