// Compares a buffer that a shader wrote with what the reference interpreter computed. Any thread.

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

/** The largest accepted distance since it was set to 0, in units in the last place. */
export const tally = { worst: 0 };

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
    tally.worst = Math.max(tally.worst, distance);
    return true;
  }
  if (!half && Math.abs(a - b) <= smallest) return true;
  return Math.abs(a - b) <= one.ulp * Math.max(one.floor, peer) * (half ? 2 ** -10 : 2 ** -23);
}

/** Returns the first difference between a buffer's bytes and those that it should have, or "". */
export function compare(dtype, before, want, got, one) {
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
