// Trains the bench's networks in TensorFlow.js. Runs in a page, where `tf` is a global. The batches have the shapes and
// the kinds of data of ../workloads.py, but not the same numbers.

/* global tf */

const kBatches = 4;

/** Returns a source of random numbers in [0, 1). The same seed gives the same numbers. */
function stream(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns images of ten kinds with noise, and one-hot labels. */
function images(side, channels, count, next) {
  const pixels = side * side * channels;
  const kinds = Float32Array.from({ length: 10 * pixels }, () => 2 * next() - 1);
  const x = new Float32Array(count * pixels);
  const t = new Float32Array(count * 10);
  for (let n = 0; n < count; n += 1) {
    const kind = Math.floor(next() * 10);
    t[n * 10 + kind] = 1;
    for (let i = 0; i < pixels; i += 1)
      x[n * pixels + i] = 0.6 * kinds[kind * pixels + i] + 0.4 * (2 * next() - 1);
  }
  return [tf.tensor4d(x, [count, side, side, channels]), tf.tensor2d(t, [count, 10])];
}

function scenes(count, next) {
  const side = 64;
  const x = Float32Array.from({ length: count * side * side }, () => -0.5 * next());
  const t = new Float32Array(count * side * side * 11);
  const kinds = new Uint8Array(side * side);
  for (let n = 0; n < count; n += 1) {
    kinds.fill(0);
    for (let square = 0; square < 4; square += 1) {
      const [top, left, kind] = [44, 44, 10].map((range) => Math.floor(next() * range));
      for (let y = top; y < top + 20; y += 1)
        for (let at = y * side + left; at < y * side + left + 20; at += 1) {
          x[n * side * side + at] += 0.1 * (kind + 1);
          kinds[at] = kind + 1;
        }
    }
    for (let at = 0; at < side * side; at += 1) t[(n * side * side + at) * 11 + kinds[at]] = 1;
  }
  return [tf.tensor4d(x, [count, side, side, 1]), tf.tensor4d(t, [count, side, side, 11])];
}

/** Returns texts of 20 characters out of 64, and for each character the next one in one-hot form. */
function strips(count, next) {
  const x = new Int32Array(count * 20);
  const t = new Float32Array(count * 20 * 64);
  for (let n = 0; n < count; n += 1) {
    const first = Math.floor(next() * 64);
    for (let i = 0; i < 20; i += 1) {
      x[n * 20 + i] = (first + 7 * i) % 64;
      t[(n * 20 + i) * 64 + ((first + 7 * (i + 1)) % 64)] = 1;
    }
  }
  return [tf.tensor2d(x, [count, 20], "int32"), tf.tensor3d(t, [count, 20, 64])];
}

const conv = (x, filters, size, strides = 1, useBias = false) =>
  tf.layers.conv2d({ filters, kernelSize: size, strides, padding: "same", useBias }).apply(x);
const norm = (x) => tf.layers.batchNormalization({ momentum: 0.9, epsilon: 2e-5 }).apply(x);
const relu = (x) => tf.layers.reLU().apply(x);
const pool = (x) => tf.layers.maxPooling2d({ poolSize: 2, strides: 2 }).apply(x);
const dense = (x, units, activation) => tf.layers.dense({ units, activation }).apply(x);

function resnet18() {
  const input = tf.input({ shape: [32, 32, 3] });
  let x = relu(norm(conv(input, 64, 3)));
  let inside = 64;
  for (let stage = 0; stage < 4; stage += 1)
    for (let number = 0; number < 2; number += 1) {
      const outside = 64 << stage;
      const stride = stage > 0 && number === 0 ? 2 : 1;
      const around = stride === 1 && inside === outside ? x : norm(conv(x, outside, 1, stride));
      const inner = relu(norm(conv(x, outside, 3, stride)));
      x = relu(tf.layers.add().apply([norm(conv(inner, outside, 3)), around]));
      inside = outside;
    }
  x = tf.layers.globalAveragePooling2d({}).apply(x);
  return tf.model({ inputs: input, outputs: dense(x, 10) });
}

function cnn() {
  const input = tf.input({ shape: [28, 28, 1] });
  let x = pool(relu(norm(conv(input, 16, 3, 1, true))));
  x = pool(relu(norm(conv(x, 16, 3, 1, true))));
  x = tf.layers
    .averagePooling2d({ poolSize: 7, strides: 7 })
    .apply(relu(norm(conv(x, 16, 3, 1, true))));
  return tf.model({ inputs: input, outputs: dense(tf.layers.flatten().apply(x), 10) });
}

function mlp() {
  const input = tf.input({ shape: [28, 28, 1] });
  const x = dense(dense(tf.layers.flatten().apply(input), 1000, "relu"), 1000, "relu");
  return tf.model({ inputs: input, outputs: dense(x, 10) });
}

function lstm() {
  const input = tf.input({ shape: [20], dtype: "int32" });
  const x = tf.layers.embedding({ inputDim: 64, outputDim: 256 }).apply(input);
  const states = tf.layers
    .lstm({ units: 256, returnSequences: true, recurrentInitializer: "glorotNormal" })
    .apply(x);
  return tf.model({ inputs: input, outputs: dense(states, 64) });
}

function unet() {
  const level = (x, width) => relu(norm(conv(relu(norm(conv(x, width, 3))), width, 3)));
  const up = (x, filters) =>
    tf.layers.conv2dTranspose({ filters, kernelSize: 2, strides: 2, padding: "same" }).apply(x);
  const join = (a, b) => tf.layers.concatenate().apply([a, b]);
  const input = tf.input({ shape: [64, 64, 1] });
  const fine = level(input, 16);
  const middle = level(pool(fine), 32);
  let x = level(pool(middle), 64);
  x = level(join(middle, up(x, 32)), 32);
  x = level(join(fine, up(x, 16)), 16);
  return tf.model({ inputs: input, outputs: conv(x, 11, 1, 1, true) });
}

const momentum = () => tf.train.momentum(0.01, 0.9);
const adam = () => tf.train.adam();
const kinds = {
  resnet18: { make: resnet18, data: (n, s) => images(32, 3, n, s), optimizer: momentum, items: 1 },
  cnn: { make: cnn, data: (n, s) => images(28, 1, n, s), optimizer: momentum, items: 1 },
  mlp: { make: mlp, data: (n, s) => images(28, 1, n, s), optimizer: adam, items: 1 },
  lstm: { make: lstm, data: strips, optimizer: adam, items: 20 },
  unet: { make: unet, data: scenes, optimizer: adam, items: 1 },
};

/** Trains one network. Returns the fields that ../steps.py prints, as far as the page knows them. */
export async function measure(name, batch, { seconds, blocks, block }) {
  const { make, data, optimizer: makeOptimizer, items } = kinds[name];
  const [model, optimizer] = [make(), makeOptimizer()];
  const next = stream(5);
  const batches = Array.from({ length: kBatches }, () => data(batch, next));
  const step = (number) => {
    const [x, t] = batches[number % kBatches];
    return optimizer.minimize(
      () => tf.losses.softmaxCrossEntropy(t, model.apply(x, { training: true })),
      true,
    );
  };
  let done = 0;
  const run = async (steps) => {
    const began = performance.now();
    let loss;
    for (let i = 0; i < steps; i += 1) {
      loss?.dispose();
      loss = step(done);
      done += 1;
    }
    const value = (await loss.data())[0];
    loss.dispose();
    if (!Number.isFinite(value)) throw new Error(`${name}: the loss is ${value}`);
    return { value, ms: (performance.now() - began) / steps };
  };
  const losses = [];
  for (let i = 0; i < 3; i += 1) losses.push((await run(1)).value);
  const one = (await run(1)).ms;
  const size = Math.max(1, Math.min(block, Math.floor((seconds * 1e3) / one / blocks)));
  await run(size);
  await run(size);
  const times = [];
  let last = 0;
  for (let turn = 0; turn < blocks; turn += 1) {
    const { ms, value } = await run(size);
    times.push(ms);
    last = value;
  }
  times.sort((a, b) => a - b);
  const ms = times[Math.floor(times.length / 2)];
  const bytes = tf.memory().numBytes;
  for (const [x, t] of batches) tf.dispose([x, t]);
  model.dispose();
  optimizer.dispose();
  const perSecond = ((batch * items) / ms) * 1e3;
  return { model: name, batch, ms, per_s: perSecond, losses, last, live_bytes: bytes };
}

/** Selects WebGPU or another back end. Returns the name of the device, or of the back end. */
export async function open(backend) {
  if (!(await tf.setBackend(backend))) throw new Error(`TensorFlow.js does not open ${backend}`);
  await tf.ready();
  if (backend !== "webgpu") return backend;
  const adapter = await navigator.gpu.requestAdapter();
  const { vendor, architecture, device, description } = adapter.info;
  return [...new Set([vendor, architecture, device, description])].filter(Boolean).join(" ");
}
