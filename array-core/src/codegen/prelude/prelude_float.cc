// Float helpers: tests of bits, exact rounding to half, elementary functions. Devices' own
// functions have errors of thousands of units in the last place, or lose NaN and infinity. So the
// helpers compute in single precision, after FreeBSD's msun and Cephes. accuracy.cc bounds their
// errors.
#include "codegen/prelude/prelude.h"

namespace arraycore::codegen {
namespace {

// NOLINTNEXTLINE(*-avoid-c-arrays)
constexpr std::string_view kFloatHelpers[] = {
    R"(fn ac_inf() -> f32 { return bitcast<f32>(u.w[0].y); })",
    R"(fn ac_nan() -> f32 { return bitcast<f32>(u.w[0].z); })",
    R"(fn ac_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; })",
    R"(fn ac_is_inf(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; })",
    R"(fn ac_is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; })",
    // A device may treat a subnormal number as 0 in some places and not in others. These helpers
    // always treat such a number as 0.
    R"(fn ac_nonzero(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0u; })",
    R"(fn ac_negate(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u); })",
    R"(fn ac_absolute(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu); })",
    R"(fn ac_copysign(x: f32, s: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(s) & 0x80000000u));
})",
    R"(fn ac_sign(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  if (!ac_nonzero(x)) { return 0.0; }
  return ac_copysign(1.0, x);
})",
    // A compiler may reverse a comparison as if there were no NaN, or assume that x equals x. So
    // comparisons test the bits for NaN. If an operand is NaN, only "not equal" is true.
    R"(fn ac_ordered(a: f32, b: f32) -> bool {
  return max(bitcast<u32>(a) & 0x7fffffffu, bitcast<u32>(b) & 0x7fffffffu) <= 0x7f800000u;
})",
    R"(fn ac_equal(a: f32, b: f32) -> bool { return select(false, a == b, ac_ordered(a, b)); })",
    R"(fn ac_not_equal(a: f32, b: f32) -> bool { return select(true, a != b, ac_ordered(a, b)); })",
    R"(fn ac_less(a: f32, b: f32) -> bool { return select(false, a < b, ac_ordered(a, b)); })",
    R"(fn ac_less_equal(a: f32, b: f32) -> bool { return select(false, a <= b, ac_ordered(a, b)); })",
    R"(fn ac_greater(a: f32, b: f32) -> bool { return select(false, a > b, ac_ordered(a, b)); })",
    R"(fn ac_greater_equal(a: f32, b: f32) -> bool { return select(false, a >= b, ac_ordered(a, b)); })",
    // Returns x so that a compiler must treat it as a stored value: no contraction, reassociation
    // or folding across this function. The bits of x are combined with the mantissa bits of
    // infinity, which are 0. No compiler knows that, because infinity is read from a uniform.
    R"(fn ac_stored(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) | (u.w[0].y & 0x007fffffu));
})",
    R"(fn ac_minimum(a: f32, b: f32) -> f32 {
  if (ac_is_nan(a)) { return a; }
  if (ac_is_nan(b)) { return b; }
  return select(a, b, b < a);
})",
    R"(fn ac_maximum(a: f32, b: f32) -> f32 {
  if (ac_is_nan(a)) { return a; }
  if (ac_is_nan(b)) { return b; }
  return select(a, b, a < b);
})",
    R"(fn ac_fmin(a: f32, b: f32) -> f32 {
  if (ac_is_nan(a)) { return b; }
  if (ac_is_nan(b)) { return a; }
  return select(a, b, b < a);
})",
    R"(fn ac_fmax(a: f32, b: f32) -> f32 {
  if (ac_is_nan(a)) { return b; }
  if (ac_is_nan(b)) { return a; }
  return select(a, b, a < b);
})",
    // Rounds to an integer. From 2^23 on, every float is an integer and stays as it is. Below, the
    // result gets the sign of x, so that -0.5 is rounded to -0.
    R"(fn ac_whole(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) >= 0x4b000000u; })",
    R"(fn ac_floor(x: f32) -> f32 {
  if (ac_whole(x)) { return x; }
  return ac_copysign(floor(x), x);
})",
    R"(fn ac_ceil(x: f32) -> f32 {
  if (ac_whole(x)) { return x; }
  return ac_copysign(ceil(x), x);
})",
    R"(fn ac_trunc(x: f32) -> f32 {
  if (ac_whole(x)) { return x; }
  return ac_copysign(trunc(x), x);
})",
    R"(fn ac_rint(x: f32) -> f32 {
  if (ac_whole(x)) { return x; }
  let low: f32 = floor(x);
  let rest: f32 = x - low;
  let odd: bool = (i32(low) & 1i) != 0i;
  return ac_copysign(select(low, low + 1.0, rest > 0.5 || (rest == 0.5 && odd)), x);
})",
    R"(fn ac_round(x: f32) -> f32 {
  if (ac_whole(x)) { return x; }
  let size: f32 = abs(x);
  let low: f32 = floor(size);
  return ac_copysign(select(low, low + 1.0, size - low >= 0.5), x);
})",
    R"(fn ac_nextafter(a: f32, b: f32) -> f32 {
  if (ac_is_nan(a)) { return a; }
  if (ac_is_nan(b) || a == b) { return b; }
  let bits: u32 = bitcast<u32>(a);
  if ((bits & 0x7fffffffu) == 0u) { return bitcast<f32>((bitcast<u32>(b) & 0x80000000u) | 1u); }
  let away: bool = (a < b) == ((bits >> 31u) == 0u);
  return bitcast<f32>(select(bits - 1u, bits + 1u, away));
})",
    // ---- half precision
    R"(fn ac_half_bits(x: f32) -> u32 {
  let bits: u32 = bitcast<u32>(x);
  let sign: u32 = (bits >> 16u) & 0x8000u;
  let size: u32 = bits & 0x7fffffffu;
  if (size > 0x7f800000u) { return sign | 0x7c00u | max((size >> 13u) & 0x3ffu, 1u); }
  if (size >= 0x477ff000u) { return sign | 0x7c00u; }
  var mantissa: u32 = size;
  var cut: u32 = 13u;
  var base: u32 = 0u;
  if (size < 0x38800000u) {
    let exponent: u32 = size >> 23u;
    if (exponent < 102u) { return sign; }
    mantissa = (size & 0x7fffffu) | 0x800000u;
    cut = 126u - exponent;
  } else {
    mantissa = size - 0x38000000u;
  }
  base = mantissa >> cut;
  let rest: u32 = mantissa & ((1u << cut) - 1u);
  let middle: u32 = 1u << (cut - 1u);
  if (rest > middle || (rest == middle && (base & 1u) != 0u)) { base += 1u; }
  return sign | base;
})",
    R"(fn ac_half_value(bits: u32) -> f32 {
  let sign: u32 = (bits & 0x8000u) << 16u;
  let size: u32 = bits & 0x7fffu;
  if (size >= 0x7c00u) { return bitcast<f32>(sign | 0x7f800000u | ((size & 0x3ffu) << 13u)); }
  if (size >= 0x0400u) { return bitcast<f32>(sign | ((size << 13u) + 0x38000000u)); }
  return bitcast<f32>(sign | bitcast<u32>(f32(size) * 5.9604644775390625e-8));
})",
    R"(fn ac_round_half(x: f32) -> f32 { return ac_half_value(ac_half_bits(x)); })",
    R"(fn ac_nextafter_half(a: f32, b: f32) -> f32 {
  if (ac_is_nan(b)) { return b; }
  if (ac_is_nan(a)) { return a; }
  if (a == b) { return a; }
  let bits: u32 = ac_half_bits(a);
  if ((bits & 0x7fffu) == 0u) { return ac_half_value(select(0x8001u, 1u, b > 0.0)); }
  let away: bool = (a < b) == (a > 0.0);
  return ac_half_value(select(bits - 1u, bits + 1u, away));
})",
    // ---- arithmetic
    //
    // WGSL guarantees a quotient only for divisors of at most 2^126. Devices multiply by a
    // reciprocal, which for larger divisors is subnormal and so becomes zero.
    R"(fn ac_quotient(a: f32, b: f32) -> f32 {
  let scale: f32 = select(1.0, 0.0625, abs(b) > 4.25352959e37);
  return (a * scale) / (b * scale);
})",
    R"(fn ac_divide(a: f32, b: f32) -> f32 {
  if (!ac_nonzero(b)) {
    if (!ac_nonzero(a) || ac_is_nan(a)) { return ac_nan(); }
    return ac_copysign(ac_inf(), bitcast<f32>(bitcast<u32>(a) ^ bitcast<u32>(b)));
  }
  return ac_quotient(a, b);
})",
    R"(fn ac_power_of_two(k: i32) -> f32 { return bitcast<f32>(u32(k + 127i) << 23u); })",
    // Computes x * 2^k without an intermediate infinity or zero. Subnormal results may become zero.
    R"(fn ac_ldexp(x: f32, k: i32) -> f32 {
  let n: i32 = clamp(k, -300i, 300i);
  let a: i32 = n / 3i;
  return x * ac_power_of_two(a) * ac_power_of_two(a) * ac_power_of_two(n - 2i * a);
})",
    // Computes C's fmod exactly. It takes as many steps as the difference of the exponents.
    R"(fn ac_remainder(a: f32, b: f32) -> f32 {
  if (ac_is_nan(a) || ac_is_nan(b) || ac_is_inf(a) || !ac_nonzero(b)) { return ac_nan(); }
  var x: u32 = bitcast<u32>(a) & 0x7fffffffu;
  let y: u32 = bitcast<u32>(b) & 0x7fffffffu;
  let sign: u32 = bitcast<u32>(a) & 0x80000000u;
  if (x < y) { return a; }
  var ex: i32 = i32(x >> 23u);
  var ey: i32 = i32(y >> 23u);
  var mx: u32 = x & 0x7fffffu;
  var my: u32 = y & 0x7fffffu;
  if (ex == 0i) { ex = 1i; } else { mx |= 0x800000u; }
  if (ey == 0i) { ey = 1i; } else { my |= 0x800000u; }
  loop {
    if (mx >= my) { mx -= my; }
    if (ex <= ey || mx == 0u) { break; }
    mx <<= 1u;
    ex -= 1i;
    // If the divisor is subnormal, its mantissa my has fewer bits than mx. So mx can be many times
    // my, and one subtraction is not enough.
    while (mx >= 2u * my) { mx -= my; }
  }
  if (mx >= my) { mx %= my; }
  if (mx == 0u) { return bitcast<f32>(sign); }
  let up: i32 = min(i32(countLeadingZeros(mx)) - 8i, ey - 1i);
  mx <<= u32(up);
  let exponent: i32 = ey - up;
  if ((mx & 0x800000u) == 0u) { return bitcast<f32>(sign | mx); }
  return bitcast<f32>(sign | (u32(exponent) << 23u) | (mx & 0x7fffffu));
})",
    R"(fn ac_modulo(a: f32, b: f32) -> f32 {
  let r: f32 = ac_remainder(a, b);
  if (ac_is_nan(r)) { return r; }
  if (!ac_nonzero(r)) { return ac_copysign(0.0, b); }
  if ((b < 0.0) != (r < 0.0)) { return r + b; }
  return r;
})",
    R"(fn ac_floor_divide(a: f32, b: f32) -> f32 {
  if (ac_is_nan(a) || ac_is_nan(b)) { return ac_nan(); }
  if (!ac_nonzero(b)) { return ac_divide(a, b); }
  if (ac_is_inf(a)) { return ac_nan(); }
  let r: f32 = ac_remainder(a, b);
  var q: f32 = ac_quotient(a - r, b);
  if (ac_nonzero(r) && (b < 0.0) != (r < 0.0)) { q -= 1.0; }
  if (!ac_nonzero(q)) { return ac_copysign(0.0, bitcast<f32>(bitcast<u32>(a) ^ bitcast<u32>(b))); }
  let low: f32 = ac_floor(q);
  return select(low, low + 1.0, q - low > 0.5);
})",
    R"(fn ac_sqrt(x: f32) -> f32 {
  if (ac_is_nan(x) || !ac_nonzero(x) || x == ac_inf()) { return x; }
  if (x < 0.0) { return ac_nan(); }
  return sqrt(x);
})",
    R"(fn ac_rsqrt(x: f32) -> f32 { return ac_divide(1.0, ac_sqrt(x)); })",
    R"(fn ac_hypot(a: f32, b: f32) -> f32 {
  if (ac_is_inf(a) || ac_is_inf(b)) { return ac_inf(); }
  if (ac_is_nan(a) || ac_is_nan(b)) { return ac_nan(); }
  let high: f32 = max(abs(a), abs(b));
  let low: f32 = min(abs(a), abs(b));
  if (!ac_nonzero(low)) { return high; }
  let ratio: f32 = ac_quotient(low, high);
  return high * sqrt(1.0 + ratio * ratio);
})",
    R"(fn ac_cbrt(x: f32) -> f32 {
  if (!ac_is_finite(x) || !ac_nonzero(x)) { return x; }
  var size: f32 = abs(x);
  var scale: f32 = 1.0;
  if (size < 1e-20) {
    size *= 1.15292150e18;
    scale = 9.53674316e-7;
  } else if (size > 1e20) {
    size *= 8.67361738e-19;
    scale = 1048576.0;
  }
  var t: f32 = bitcast<f32>(bitcast<u32>(size) / 3u + 709958130u);
  t = t * (size + size + t * t * t) / (size + 2.0 * (t * t * t));
  t = t * (size + size + t * t * t) / (size + 2.0 * (t * t * t));
  t = t - (t - size / (t * t)) / 3.0;
  return ac_copysign(t * scale, x);
})",
    // ---- exponentials
    //
    // Returns exp(r) - 1 for |r| up to 0.35.
    R"(fn ac_expm1_small(r: f32) -> f32 {
  let p: f32 = 0.16666667 + r * (0.041666668 + r * (0.008333334 + r * (1.3888889e-3 + r * 1.9841270e-4)));
  return r + r * r * (0.5 + r * p);
})",
    R"(fn ac_exp_parts(r: f32, k: f32) -> f32 {
  return ac_ldexp(1.0 + ac_expm1_small(r), i32(k));
})",
    R"(fn ac_exp(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  if (x > 88.8) { return ac_inf(); }
  if (x < -104.0) { return 0.0; }
  let k: f32 = floor(x * 1.44269504 + 0.5);
  return ac_exp_parts((x - k * 0.693145752) - k * 1.42860677e-6, k);
})",
    R"(fn ac_exp2(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  if (x >= 128.0) { return ac_inf(); }
  if (x < -151.0) { return 0.0; }
  let k: f32 = floor(x + 0.5);
  return ac_exp_parts((x - k) * 0.693147182, k);
})",
    R"(fn ac_exp10(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  if (x > 38.6) { return ac_inf(); }
  if (x < -46.0) { return 0.0; }
  let k: f32 = floor(x * 3.32192809 + 0.5);
  // log10(2) in two parts; 0.30102539 has 15 bits, so its product with k is exact.
  let r: f32 = (x - k * 0.301025391) - k * 4.60503904e-6;
  return ac_exp_parts(r * 2.30258509, k);
})",
    R"(fn ac_expm1(x: f32) -> f32 {
  if (ac_is_nan(x) || !ac_nonzero(x)) { return x; }
  if (abs(x) < 0.34) { return ac_expm1_small(x); }
  if (x > 88.8) { return ac_inf(); }
  if (x < -18.0) { return -1.0; }
  let k: f32 = floor(x * 1.44269504 + 0.5);
  let r: f32 = (x - k * 0.693145752) - k * 1.42860677e-6;
  let t: f32 = ac_expm1_small(r);
  if (k > 25.0) { return ac_ldexp(1.0 + t, i32(k)); }
  let scale: f32 = ac_power_of_two(i32(k));
  return scale * t + (scale - 1.0);
})",
    // ---- logarithms
    //
    // Splits x = 2^k * m, with m near 1, into (k, m - 1).
    R"(fn ac_log_split(x: f32) -> vec2<f32> {
  var bits: u32 = bitcast<u32>(x);
  var k: i32 = 0i;
  if (bits < 0x00800000u) {
    bits = bitcast<u32>(f32(bits));
    k = -149i;
  }
  bits += 0x3f800000u - 0x3f3504f3u;
  k += i32(bits >> 23u) - 127i;
  return vec2<f32>(f32(k), bitcast<f32>((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0);
})",
    // Returns log(1 + f) - f for f from -0.293 to 0.415.
    R"(fn ac_log_tail(f: f32) -> f32 {
  let s: f32 = f / (2.0 + f);
  let z: f32 = s * s;
  let w: f32 = z * z;
  let r: f32 = z * (0.66666662693 + w * 0.28498786688) + w * (0.40000972152 + w * 0.24279078841);
  let half: f32 = 0.5 * f * f;
  return s * (half + r) - half;
})",
    R"(fn ac_log_special(x: f32) -> f32 {
  if (ac_is_nan(x) || x == ac_inf()) { return x; }
  if (!ac_nonzero(x)) { return -ac_inf(); }
  return ac_nan();
})",
    R"(fn ac_log_ordinary(x: f32) -> bool {
  let bits: u32 = bitcast<u32>(x);
  return bits > 0u && bits < 0x7f800000u;
})",
    R"(fn ac_log(x: f32) -> f32 {
  if (!ac_log_ordinary(x)) { return ac_log_special(x); }
  let p: vec2<f32> = ac_log_split(x);
  return (ac_log_tail(p.y) + p.x * 9.0580006e-6 + p.y) + p.x * 0.69313812256;
})",
    R"(fn ac_log2(x: f32) -> f32 {
  if (!ac_log_ordinary(x)) { return ac_log_special(x); }
  let p: vec2<f32> = ac_log_split(x);
  return p.x + (ac_log_tail(p.y) + p.y) * 1.44269504;
})",
    R"(fn ac_log10(x: f32) -> f32 {
  if (!ac_log_ordinary(x)) { return ac_log_special(x); }
  let p: vec2<f32> = ac_log_split(x);
  return ((ac_log_tail(p.y) + p.y) * 0.434294482 + p.x * 4.60503904e-6) + p.x * 0.301025391;
})",
    R"(fn ac_log1p(x: f32) -> f32 {
  if (ac_is_nan(x) || x == ac_inf() || abs(x) < 1e-8) { return x; }
  if (x <= -1.0) { return ac_log_special(x + 1.0); }
  if (x > -0.2928 && x < 0.4142) { return ac_log_tail(x) + x; }
  let y: f32 = 1.0 + x;
  let p: vec2<f32> = ac_log_split(y);
  var lost: f32 = 0.0;
  if (p.x < 25.0) { lost = select(x - (y - 1.0), 1.0 - (y - x), p.x >= 2.0) / y; }
  return (ac_log_tail(p.y) + (p.x * 9.0580006e-6 + lost) + p.y) + p.x * 0.69313812256;
})",
    // ---- power, after msun's e_powf: log2(x) to 36 bits in two words
    R"(fn ac_high(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); })",
    R"(fn ac_power_positive(x: f32, y: f32) -> f32 {
  var bits: u32 = bitcast<u32>(x);
  var n: i32 = 0i;
  if (bits < 0x00800000u) {
    bits = bitcast<u32>(f32(bits));
    n = -149i;
  }
  n += i32(bits >> 23u) - 127i;
  let j: u32 = bits & 0x7fffffu;
  bits = j | 0x3f800000u;
  var upper: u32 = 0u;
  if (j > 0x1cc471u) {
    if (j < 0x5db3d7u) {
      upper = 1u;
    } else {
      n += 1i;
      bits -= 0x00800000u;
    }
  }
  let base: f32 = select(1.0, 1.5, upper == 1u);
  let dp_h: f32 = select(0.0, 0.584960938, upper == 1u);
  let dp_l: f32 = select(0.0, 1.56322085e-6, upper == 1u);
  let a: f32 = bitcast<f32>(bits);
  let d: f32 = a - base;
  let v: f32 = 1.0 / (a + base);
  let s: f32 = d * v;
  let s_h: f32 = ac_high(s);
  var t_h: f32 = bitcast<f32>((((bits >> 1u) & 0xfffff000u) | 0x20000000u) + 0x00400000u + (upper << 21u));
  var t_l: f32 = a - (t_h - base);
  let s_l: f32 = v * ((d - s_h * t_h) - s_h * t_l);
  var s2: f32 = s * s;
  var r: f32 = s2 * s2 * (0.60000002384 + s2 * (0.42857143283 + s2 * (0.33333334327 +
      s2 * (0.27272811532 + s2 * (0.23066075146 + s2 * 0.20697501302)))));
  r += s_l * (s_h + s);
  s2 = s_h * s_h;
  t_h = ac_high(3.0 + s2 + r);
  t_l = r - ((t_h - 3.0) - s2);
  let p: f32 = s_h * t_h;
  let q: f32 = s_l * t_h + t_l * s;
  var p_h: f32 = ac_high(p + q);
  var p_l: f32 = q - (p_h - p);
  let z_h: f32 = 0.96191406250 * p_h;
  let z_l: f32 = -1.1736857402e-4 * p_h + p_l * 0.96179670095 + dp_l;
  let t: f32 = f32(n);
  let t1: f32 = ac_high(((z_h + z_l) + dp_h) + t);
  let t2: f32 = z_l - (((t1 - t) - dp_h) - z_h);
  let y1: f32 = ac_high(y);
  p_l = (y - y1) * t1 + y * t2;
  p_h = y1 * t1;
  let total: f32 = p_l + p_h;
  if (total >= 128.0) { return ac_inf(); }
  if (total < -151.0) { return 0.0; }
  let k: f32 = floor(total + 0.5);
  return ac_exp_parts(((p_h - k) + p_l) * 0.693147182, k);
})",
    // Returns 0 if y is not an integer, 1 if it is odd, 2 if it is even.
    R"(fn ac_parity(y: f32) -> u32 {
  let size: f32 = abs(y);
  if (size >= 16777216.0) { return 2u; }
  if (floor(size) != size) { return 0u; }
  return 2u - (u32(size) & 1u);
})",
    R"(fn ac_power(x: f32, y: f32) -> f32 {
  if (!ac_nonzero(y) || x == 1.0) { return 1.0; }
  if (ac_is_nan(x) || ac_is_nan(y)) { return ac_nan(); }
  let size: f32 = abs(x);
  if (ac_is_inf(y)) {
    if (size == 1.0) { return 1.0; }
    return select(0.0, ac_inf(), (size > 1.0) == (y > 0.0));
  }
  let parity: u32 = ac_parity(y);
  let negative: bool = (bitcast<u32>(x) >> 31u) != 0u;
  var result: f32 = 0.0;
  if (ac_is_inf(x) || !ac_nonzero(x)) {
    result = select(0.0, ac_inf(), ac_is_inf(x) == (y > 0.0));
  } else {
    if (negative && parity == 0u) { return ac_nan(); }
    result = ac_power_positive(size, y);
  }
  return select(result, ac_negate(result), negative && parity == 1u);
})",
    // ---- trigonometry
    //
    // Splits x / (pi / 2) = 4 m + quadrant + rest into (rest * pi / 2, quadrant). For |x| < 100, pi
    // / 2 is split into three constants. For larger x, the leading bits of 1 / (2 pi) are used
    // (Payne and Hanek).
    R"(struct AcAngle { rest: f32, quadrant: u32 }
fn ac_reduce(x: f32) -> AcAngle {
  let size: f32 = abs(x);
  if (size < 100.0) {
    let n: f32 = floor(x * 0.636619747 + 0.5);
    let r: f32 = ((x - n * 1.5703125) - n * 4.83751297e-4) - n * 7.54978942e-8;
    return AcAngle(r, u32(i32(n)) & 3u);
  }
  let bits: u32 = bitcast<u32>(size);
  let mantissa: u32 = (bits << 8u) | 0x80000000u;
  let e: u32 = (bits >> 23u) - 126u;
  var words: array<u32, 7> = array<u32, 7>(0u, 0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u,
                            0x4f10e410u);
  let at: u32 = e >> 5u;
  let shift: u32 = e & 31u;
  var high: u32 = words[at];
  var middle: u32 = words[at + 1u];
  var low: u32 = words[at + 2u];
  if (shift != 0u) {
    high = (high << shift) | (middle >> (32u - shift));
    middle = (middle << shift) | (low >> (32u - shift));
    low = (low << shift) | (words[min(at + 3u, 6u)] >> (32u - shift));
  }
  var p: vec2<u32> = ac_wide_mul(mantissa, middle);
  p = ac_add_u64(p, vec2<u32>(ac_wide_mul(mantissa, low).y, 0u));
  p.y += mantissa * high;
  var quadrant: u32 = p.y >> 30u;
  p.y &= 0x3fffffffu;
  var negative: bool = x < 0.0;
  if ((p.y & 0x20000000u) != 0u) {
    p = ac_sub_u64(vec2<u32>(0u, 0x40000000u), p);
    quadrant += 1u;
    negative = !negative;
  }
  if (x < 0.0) { quadrant = 0u - quadrant; }
  let r: f32 = ac_ldexp(ac_u64_to_f32(p), -62i) * 1.57079637;
  return AcAngle(select(r, -r, negative), quadrant & 3u);
})",
    R"(fn ac_sin_small(x: f32) -> f32 {
  let z: f32 = x * x;
  return x + x * z * (-0.16666654611 + z * (8.3321608736e-3 + z * -1.9515295891e-4));
})",
    R"(fn ac_cos_small(x: f32) -> f32 {
  let z: f32 = x * x;
  return 1.0 - 0.5 * z + z * z * (4.1666645683e-2 + z * (-1.3887316255e-3 + z * 2.4433157118e-5));
})",
    R"(fn ac_sin(x: f32) -> f32 {
  if (!ac_is_finite(x)) { return ac_nan(); }
  if (abs(x) < 1e-4) { return x; }
  let a: AcAngle = ac_reduce(x);
  let value: f32 = select(ac_sin_small(a.rest), ac_cos_small(a.rest), (a.quadrant & 1u) != 0u);
  return select(value, -value, a.quadrant >= 2u);
})",
    R"(fn ac_cos(x: f32) -> f32 {
  if (!ac_is_finite(x)) { return ac_nan(); }
  let a: AcAngle = ac_reduce(x);
  let value: f32 = select(ac_cos_small(a.rest), ac_sin_small(a.rest), (a.quadrant & 1u) != 0u);
  return select(value, -value, a.quadrant == 1u || a.quadrant == 2u);
})",
    R"(fn ac_tan(x: f32) -> f32 {
  if (!ac_is_finite(x)) { return ac_nan(); }
  if (abs(x) < 1e-4) { return x; }
  let a: AcAngle = ac_reduce(x);
  let s: f32 = ac_sin_small(a.rest);
  let c: f32 = ac_cos_small(a.rest);
  if ((a.quadrant & 1u) != 0u) { return -c / s; }
  return s / c;
})",
    R"(fn ac_asin_ratio(z: f32) -> f32 {
  return z * (0.16666586697 + z * (-0.042743422091 + z * -8.6563630030e-3)) /
      (1.0 + z * -0.70662963390);
})",
    R"(fn ac_asin(x: f32) -> f32 {
  let size: f32 = abs(x);
  if (ac_is_nan(x) || size < 1e-4) { return x; }
  if (size > 1.0) { return ac_nan(); }
  if (size < 0.5) { return x + x * ac_asin_ratio(x * x); }
  let z: f32 = (1.0 - size) * 0.5;
  let s: f32 = sqrt(z);
  return ac_copysign(1.57079637 - (2.0 * (s + s * ac_asin_ratio(z)) + 4.37113883e-8), x);
})",
    R"(fn ac_acos(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  let size: f32 = abs(x);
  if (size > 1.0) { return ac_nan(); }
  if (size < 0.5) { return 1.57079637 - (x + (4.37113883e-8 + x * ac_asin_ratio(x * x))); }
  let z: f32 = (1.0 - size) * 0.5;
  let s: f32 = sqrt(z);
  let t: f32 = 2.0 * (s + s * ac_asin_ratio(z));
  return select(t, 3.14159274 - (t + 8.74227766e-8), x < 0.0);
})",
    R"(fn ac_atan(x: f32) -> f32 {
  if (ac_is_nan(x) || abs(x) < 1e-4) { return x; }
  let size: f32 = abs(x);
  if (size > 1e9) { return ac_copysign(1.57079637, x); }
  var t: f32 = size;
  var high: f32 = 0.0;
  var low: f32 = 0.0;
  if (size >= 2.4375) {
    t = -1.0 / size;
    high = 1.5707962513;
    low = 7.5497894159e-8;
  } else if (size >= 1.1875) {
    t = (size - 1.5) / (1.0 + 1.5 * size);
    high = 0.98279368877;
    low = 3.4473217170e-8;
  } else if (size >= 0.6875) {
    t = (size - 1.0) / (size + 1.0);
    high = 0.78539812565;
    low = 3.7748947079e-8;
  } else if (size >= 0.4375) {
    t = (2.0 * size - 1.0) / (2.0 + size);
    high = 0.46364760399;
    low = 5.0121582440e-9;
  }
  let z: f32 = t * t;
  let w: f32 = z * z;
  let r: f32 = t * (z * (0.33333328366 + w * (0.14253635705 + w * 0.061687607318)) +
      w * (-0.19999158382 + w * -0.10648017377));
  return ac_copysign(high - ((r - low) - t), x);
})",
    R"(fn ac_atan2(y: f32, x: f32) -> f32 {
  if (ac_is_nan(x) || ac_is_nan(y)) { return ac_nan(); }
  let left: bool = (bitcast<u32>(x) >> 31u) != 0u;
  var angle: f32 = 0.0;
  if (!ac_nonzero(y)) {
    angle = 0.0;
  } else if (!ac_nonzero(x)) {
    return ac_copysign(1.57079637, y);
  } else if (ac_is_inf(x)) {
    if (ac_is_inf(y)) { return ac_copysign(select(0.785398185, 2.35619449, left), y); }
  } else if (ac_is_inf(y)) {
    return ac_copysign(1.57079637, y);
  } else {
    let a: f32 = abs(y);
    let b: f32 = abs(x);
    // If |y| is much larger than |x|, their quotient would overflow.
    if (a > b * 1e8) {
      angle = 1.57079637;
    } else {
      angle = ac_atan(ac_quotient(a, b));
    }
  }
  if (left) { angle = 3.14159274 - (angle + 8.74227766e-8); }
  return ac_copysign(angle, y);
})",
    // ---- hyperbolic functions
    R"(fn ac_sinh(x: f32) -> f32 {
  if (!ac_is_finite(x) || abs(x) < 1e-4) { return x; }
  let size: f32 = abs(x);
  if (size > 88.0) {
    let half: f32 = ac_exp(0.5 * size);
    return ac_copysign(0.5 * half * half, x);
  }
  let t: f32 = ac_expm1(size);
  if (size < 1.0) { return ac_copysign(0.5 * (2.0 * t - t * t / (t + 1.0)), x); }
  return ac_copysign(0.5 * (t + t / (t + 1.0)), x);
})",
    R"(fn ac_cosh(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  let size: f32 = abs(x);
  if (size > 88.0) {
    let half: f32 = ac_exp(0.5 * size);
    return 0.5 * half * half;
  }
  let t: f32 = ac_exp(size);
  return 0.5 * t + 0.5 / t;
})",
    R"(fn ac_tanh(x: f32) -> f32 {
  if (ac_is_nan(x) || abs(x) < 1e-4) { return x; }
  let size: f32 = abs(x);
  if (size > 10.0) { return ac_copysign(1.0, x); }
  if (size > 0.55) { return ac_copysign(1.0 - 2.0 / (ac_expm1(2.0 * size) + 2.0), x); }
  let t: f32 = ac_expm1(2.0 * size);
  return ac_copysign(t / (t + 2.0), x);
})",
    R"(fn ac_asinh(x: f32) -> f32 {
  if (!ac_is_finite(x) || abs(x) < 1e-4) { return x; }
  let size: f32 = abs(x);
  if (size > 4096.0) { return ac_copysign(ac_log(size) + 0.693147182, x); }
  if (size > 2.0) { return ac_copysign(ac_log(2.0 * size + 1.0 / (sqrt(size * size + 1.0) + size)), x); }
  return ac_copysign(ac_log1p(size + size * size / (sqrt(size * size + 1.0) + 1.0)), x);
})",
    R"(fn ac_acosh(x: f32) -> f32 {
  if (ac_is_nan(x)) { return x; }
  if (x < 1.0) { return ac_nan(); }
  if (x > 4096.0) { return ac_log(x) + 0.693147182; }
  if (x > 2.0) { return ac_log(2.0 * x - 1.0 / (x + sqrt(x * x - 1.0))); }
  let t: f32 = x - 1.0;
  return ac_log1p(t + sqrt(2.0 * t + t * t));
})",
    R"(fn ac_atanh(x: f32) -> f32 {
  if (ac_is_nan(x) || abs(x) < 1e-4) { return x; }
  let size: f32 = abs(x);
  if (size > 1.0) { return ac_nan(); }
  if (size == 1.0) { return ac_copysign(ac_inf(), x); }
  if (size < 0.5) { return ac_copysign(0.5 * ac_log1p(2.0 * size + 2.0 * size * size / (1.0 - size)), x); }
  return ac_copysign(0.5 * ac_log1p(2.0 * (size / (1.0 - size))), x);
})",
    // ---- complex
    //
    // An implementation may replace x + 0.0 by x, and a real number's imaginary part is the
    // constant 0.0. So the sign of a sum of zeros is computed from their bits.
    R"(fn ac_add_zeros(a: f32, b: f32) -> f32 {
  let x: u32 = bitcast<u32>(a);
  let y: u32 = bitcast<u32>(b);
  return select(a + b, bitcast<f32>(x & y), ((x | y) & 0x7fffffffu) == 0u);
})",
    R"(fn ac_c_add(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(ac_add_zeros(a.x, b.x), ac_add_zeros(a.y, b.y));
})",
    R"(fn ac_c_multiply(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
})",
    R"(fn ac_c_divide(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  if (abs(b.x) >= abs(b.y)) {
    if (!ac_nonzero(b.x) && !ac_nonzero(b.y)) {
      return vec2<f32>(ac_divide(a.x, abs(b.x)), ac_divide(a.y, abs(b.x)));
    }
    let ratio: f32 = ac_quotient(b.y, b.x);
    let scale: f32 = ac_quotient(1.0, b.x + b.y * ratio);
    return vec2<f32>((a.x + a.y * ratio) * scale, (a.y - a.x * ratio) * scale);
  }
  let ratio: f32 = ac_quotient(b.x, b.y);
  let scale: f32 = ac_quotient(1.0, b.y + b.x * ratio);
  return vec2<f32>((a.x * ratio + a.y) * scale, (a.y * ratio - a.x) * scale);
})",
    R"(fn ac_c_exp(x: vec2<f32>) -> vec2<f32> {
  let size: f32 = ac_exp(x.x);
  if (!ac_nonzero(x.y)) { return vec2<f32>(size, x.y); }
  return vec2<f32>(size * ac_cos(x.y), size * ac_sin(x.y));
})",
    R"(fn ac_c_log(x: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(ac_log(ac_hypot(x.x, x.y)), ac_atan2(x.y, x.x));
})",
    R"(fn ac_c_sqrt(x: vec2<f32>) -> vec2<f32> {
  if (!ac_nonzero(x.x) && !ac_nonzero(x.y)) { return vec2<f32>(0.0, x.y); }
  let size: f32 = ac_hypot(x.x, x.y);
  let half: f32 = ac_sqrt((size + abs(x.x)) * 0.5);
  if (x.x >= 0.0) { return vec2<f32>(half, x.y / (2.0 * half)); }
  return vec2<f32>(abs(x.y) / (2.0 * half), ac_copysign(half, x.y));
})",
    R"(fn ac_c_sin(x: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(ac_sin(x.x) * ac_cosh(x.y), ac_cos(x.x) * ac_sinh(x.y));
})",
    R"(fn ac_c_cos(x: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(ac_cos(x.x) * ac_cosh(x.y), -(ac_sin(x.x) * ac_sinh(x.y)));
})",
    R"(fn ac_c_sinh(x: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(ac_sinh(x.x) * ac_cos(x.y), ac_cosh(x.x) * ac_sin(x.y));
})",
    R"(fn ac_c_cosh(x: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(ac_cosh(x.x) * ac_cos(x.y), ac_sinh(x.x) * ac_sin(x.y));
})",
    R"(fn ac_c_power(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  if (!ac_nonzero(b.x) && !ac_nonzero(b.y)) { return vec2<f32>(1.0, 0.0); }
  if (!ac_nonzero(a.x) && !ac_nonzero(a.y)) {
    if (b.x > 0.0 && !ac_nonzero(b.y)) { return vec2<f32>(0.0, 0.0); }
    return vec2<f32>(ac_nan(), ac_nan());
  }
  if (!ac_nonzero(b.y) && b.x == 1.0) { return a; }
  if (!ac_nonzero(b.y) && b.x == 2.0) { return ac_c_multiply(a, a); }
  return ac_c_exp(ac_c_multiply(b, ac_c_log(a)));
})",
};

}  // namespace

std::span<const std::string_view> float_helpers() { return kFloatHelpers; }

}  // namespace arraycore::codegen
