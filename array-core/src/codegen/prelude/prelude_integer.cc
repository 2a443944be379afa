// Integer helpers: division and shifts that are defined everywhere, 64-bit arithmetic on pairs (low
// word first), and half precision by bits.
#include "codegen/prelude/prelude.h"

namespace arraycore::codegen {
namespace {

constexpr std::string_view kIntegerHelpers[] = {
    // NOLINT(*-avoid-c-arrays)
    // ---- 32 bits
    R"(fn ac_div_i32(a: i32, b: i32) -> i32 {
  if (b == 0i) { return 0i; }
  if (b == -1i) { return 0i - a; }
  return a / b;
})",
    R"(fn ac_rem_i32(a: i32, b: i32) -> i32 {
  if (b == 0i || b == -1i) { return 0i; }
  return a - (a / b) * b;
})",
    R"(fn ac_div_u32(a: u32, b: u32) -> u32 {
  if (b == 0u) { return 0u; }
  return a / b;
})",
    R"(fn ac_rem_u32(a: u32, b: u32) -> u32 {
  if (b == 0u) { return 0u; }
  return a % b;
})",
    R"(fn ac_floor_div_i32(a: i32, b: i32) -> i32 {
  let q: i32 = ac_div_i32(a, b);
  let r: i32 = ac_rem_i32(a, b);
  return select(q, q - 1i, r != 0i && ((r < 0i) != (b < 0i)));
})",
    R"(fn ac_mod_i32(a: i32, b: i32) -> i32 {
  let r: i32 = ac_rem_i32(a, b);
  return select(r, r + b, r != 0i && ((r < 0i) != (b < 0i)));
})",
    R"(fn ac_pow_u32(a: u32, b: u32) -> u32 {
  var result: u32 = 1u;
  var factor: u32 = a;
  for (var e: u32 = b; e != 0u; e >>= 1u) {
    if ((e & 1u) != 0u) { result *= factor; }
    factor *= factor;
  }
  return result;
})",
    R"(fn ac_pow_i32(a: i32, b: i32) -> i32 {
  if (b < 0i) {
    if (a == 1i) { return 1i; }
    if (a == -1i) { return select(-1i, 1i, (b & 1i) == 0i); }
    return 0i;
  }
  return i32(ac_pow_u32(u32(a), u32(b)));
})",
    R"(fn ac_shl_i32(a: i32, n: i32, width: u32) -> i32 {
  if (u32(n) >= width) { return 0i; }
  return a << u32(n);
})",
    R"(fn ac_shl_u32(a: u32, n: u32, width: u32) -> u32 {
  if (n >= width) { return 0u; }
  return a << n;
})",
    R"(fn ac_shr_i32(a: i32, n: i32, width: u32) -> i32 {
  if (u32(n) >= width) { return select(0i, -1i, a < 0i); }
  return a >> u32(n);
})",
    R"(fn ac_shr_u32(a: u32, n: u32, width: u32) -> u32 {
  if (n >= width) { return 0u; }
  return a >> n;
})",
    // ---- 64 bits
    R"(fn ac_add_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low: u32 = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
})",
    R"(fn ac_sub_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
})",
    R"(fn ac_neg_u64(a: vec2<u32>) -> vec2<u32> {
  return ac_sub_u64(vec2<u32>(0u, 0u), a);
})",
    R"(fn ac_wide_mul(a: u32, b: u32) -> vec2<u32> {
  let al: u32 = a & 0xffffu;
  let ah: u32 = a >> 16u;
  let bl: u32 = b & 0xffffu;
  let bh: u32 = b >> 16u;
  let ll: u32 = al * bl;
  let lh: u32 = al * bh;
  let hl: u32 = ah * bl;
  let middle: u32 = (ll >> 16u) + (lh & 0xffffu) + (hl & 0xffffu);
  return vec2<u32>((ll & 0xffffu) | (middle << 16u),
                   ah * bh + (lh >> 16u) + (hl >> 16u) + (middle >> 16u));
})",
    R"(fn ac_mul_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low: vec2<u32> = ac_wide_mul(a.x, b.x);
  return vec2<u32>(low.x, low.y + a.x * b.y + a.y * b.x);
})",
    R"(fn ac_eq_u64(a: vec2<u32>, b: vec2<u32>) -> bool { return a.x == b.x && a.y == b.y; })",
    R"(fn ac_lt_u64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
})",
    R"(fn ac_lt_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return i32(a.y) < i32(b.y) || (a.y == b.y && a.x < b.x);
})",
    R"(fn ac_clz_u64(a: vec2<u32>) -> u32 {
  return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
})",
    R"(fn ac_popcount_u64(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(countOneBits(a.x) + countOneBits(a.y), 0u);
})",
    R"(fn ac_left_u64(a: vec2<u32>, n: u32) -> vec2<u32> {
  if (n == 0u) { return a; }
  if (n >= 32u) { return vec2<u32>(0u, a.x << (n - 32u)); }
  return vec2<u32>(a.x << n, (a.y << n) | (a.x >> (32u - n)));
})",
    R"(fn ac_right_u64(a: vec2<u32>, n: u32) -> vec2<u32> {
  if (n == 0u) { return a; }
  if (n >= 32u) { return vec2<u32>(a.y >> (n - 32u), 0u); }
  return vec2<u32>((a.x >> n) | (a.y << (32u - n)), a.y >> n);
})",
    R"(fn ac_shl_u64(a: vec2<u32>, n: vec2<u32>) -> vec2<u32> {
  if (n.y != 0u || n.x >= 64u) { return vec2<u32>(0u, 0u); }
  return ac_left_u64(a, n.x);
})",
    R"(fn ac_shr_u64(a: vec2<u32>, n: vec2<u32>) -> vec2<u32> {
  if (n.y != 0u || n.x >= 64u) { return vec2<u32>(0u, 0u); }
  return ac_right_u64(a, n.x);
})",
    R"(fn ac_shr_i64(a: vec2<u32>, n: vec2<u32>) -> vec2<u32> {
  if ((a.y >> 31u) == 0u) { return ac_shr_u64(a, n); }
  return ~ac_shr_u64(~a, n);
})",
    // Divides. The quotient is in xy, the remainder in zw. The loop takes one step for each bit of
    // the dividend, from the highest set bit down.
    R"(fn ac_divmod_u64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  if (b.x == 0u && b.y == 0u) { return vec4<u32>(); }
  if (a.y == 0u && b.y == 0u) { return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u); }
  var quotient: vec2<u32> = vec2<u32>();
  var rest: vec2<u32> = vec2<u32>();
  let skipped: u32 = ac_clz_u64(a);
  var bits: vec2<u32> = ac_left_u64(a, skipped & 63u);
  for (var k: u32 = skipped; k < 64u; k++) {
    let carry: u32 = rest.y >> 31u;
    rest = vec2<u32>((rest.x << 1u) | (bits.y >> 31u), (rest.y << 1u) | (rest.x >> 31u));
    bits = vec2<u32>(bits.x << 1u, (bits.y << 1u) | (bits.x >> 31u));
    quotient = vec2<u32>(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
    if (carry != 0u || !ac_lt_u64(rest, b)) {
      rest = ac_sub_u64(rest, b);
      quotient.x |= 1u;
    }
  }
  return vec4<u32>(quotient, rest);
})",
    R"(fn ac_div_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return ac_divmod_u64(a, b).xy;
})",
    R"(fn ac_rem_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return ac_divmod_u64(a, b).zw;
})",
    R"(fn ac_abs_i64(a: vec2<u32>) -> vec2<u32> {
  if ((a.y >> 31u) != 0u) { return ac_neg_u64(a); }
  return a;
})",
    R"(fn ac_div_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let q: vec2<u32> = ac_div_u64(ac_abs_i64(a), ac_abs_i64(b));
  if (((a.y ^ b.y) >> 31u) != 0u) { return ac_neg_u64(q); }
  return q;
})",
    R"(fn ac_rem_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let r: vec2<u32> = ac_rem_u64(ac_abs_i64(a), ac_abs_i64(b));
  if ((a.y >> 31u) != 0u) { return ac_neg_u64(r); }
  return r;
})",
    R"(fn ac_floor_div_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let q: vec2<u32> = ac_div_i64(a, b);
  let r: vec2<u32> = ac_rem_i64(a, b);
  if ((r.x | r.y) != 0u && ((r.y ^ b.y) >> 31u) != 0u) { return ac_sub_u64(q, vec2<u32>(1u, 0u)); }
  return q;
})",
    R"(fn ac_mod_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let r: vec2<u32> = ac_rem_i64(a, b);
  if ((r.x | r.y) != 0u && ((r.y ^ b.y) >> 31u) != 0u) { return ac_add_u64(r, b); }
  return r;
})",
    R"(fn ac_sign_u64(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(select(0u, 1u, (a.x | a.y) != 0u), 0u);
})",
    R"(fn ac_sign_i64(a: vec2<u32>) -> vec2<u32> {
  if ((a.y >> 31u) != 0u) { return vec2<u32>(0xffffffffu, 0xffffffffu); }
  return ac_sign_u64(a);
})",
    R"(fn ac_pow_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  var result: vec2<u32> = vec2<u32>(1u, 0u);
  var factor: vec2<u32> = a;
  for (var e: vec2<u32> = b; (e.x | e.y) != 0u; e = ac_right_u64(e, 1u)) {
    if ((e.x & 1u) != 0u) { result = ac_mul_u64(result, factor); }
    factor = ac_mul_u64(factor, factor);
  }
  return result;
})",
    R"(fn ac_pow_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  if ((b.y >> 31u) != 0u) {
    if (a.x == 1u && a.y == 0u) { return a; }
    if ((a.x & a.y) == 0xffffffffu) { return select(a, vec2<u32>(1u, 0u), (b.x & 1u) == 0u); }
    return vec2<u32>(0u, 0u);
  }
  return ac_pow_u64(a, b);
})",
    // The upper and the lower 16 bits are exact as floats, so only their sum is rounded. A device's
    // own f32() of 32 bits may be off by one unit (SwiftShader's is, for some values from 2^31 on).
    R"(fn ac_u32_to_f32(a: u32) -> f32 {
  return f32(a >> 16u) * 65536.0 + f32(a & 0xffffu);
})",
    R"(fn ac_i32_to_f32(a: i32) -> f32 {
  return f32(a >> 16u) * 65536.0 + f32(a & 0xffffi);
})",
    // Rounds to nearest, ties to even. `cut` has the eight bits below the mantissa, then one bit
    // that says whether any lower bit is set.
    R"(fn ac_u64_to_f32(a: vec2<u32>) -> f32 {
  if ((a.x | a.y) == 0u) { return 0.0; }
  let zeros: u32 = ac_clz_u64(a);
  let top: vec2<u32> = ac_left_u64(a, zeros);
  var mantissa: u32 = top.y >> 8u;
  let cut: u32 = ((top.y & 0xffu) << 1u) | select(0u, 1u, top.x != 0u);
  if (cut > 0x100u || (cut == 0x100u && (mantissa & 1u) != 0u)) { mantissa += 1u; }
  // A carry out of the mantissa raises the exponent.
  return bitcast<f32>(((63u - zeros + 126u) << 23u) + mantissa);
})",
    R"(fn ac_i64_to_f32(a: vec2<u32>) -> f32 {
  if ((a.y >> 31u) != 0u) { return -ac_u64_to_f32(ac_neg_u64(a)); }
  return ac_u64_to_f32(a);
})",
    R"(fn ac_f32_to_u64(x: f32) -> vec2<u32> {
  let bits: u32 = bitcast<u32>(x);
  if (ac_is_nan(x) || (bits >> 31u) != 0u || x < 1.0) { return vec2<u32>(0u, 0u); }
  let exponent: u32 = bits >> 23u;
  if (exponent >= 191u) { return vec2<u32>(0xffffffffu, 0xffffffffu); }
  let mantissa: vec2<u32> = vec2<u32>((bits & 0x7fffffu) | 0x800000u, 0u);
  if (exponent >= 150u) { return ac_left_u64(mantissa, exponent - 150u); }
  return ac_right_u64(mantissa, 150u - exponent);
})",
    R"(fn ac_f32_to_i64(x: f32) -> vec2<u32> {
  if (ac_is_nan(x)) { return vec2<u32>(0u, 0u); }
  if (x >= 9223372036854775808.0) { return vec2<u32>(0xffffffffu, 0x7fffffffu); }
  if (x <= -9223372036854775808.0) { return vec2<u32>(0u, 0x80000000u); }
  let size: vec2<u32> = ac_f32_to_u64(abs(x));
  if (x < 0.0) { return ac_neg_u64(size); }
  return size;
})",
    R"(fn ac_f32_to_i32(x: f32) -> i32 {
  if (ac_is_nan(x)) { return 0i; }
  if (x >= 2147483648.0) { return 2147483647i; }
  if (x <= -2147483648.0) { return -2147483647i - 1i; }
  return i32(x);
})",
    R"(fn ac_f32_to_u32(x: f32) -> u32 {
  if (ac_is_nan(x) || x <= 0.0) { return 0u; }
  if (x >= 4294967296.0) { return 0xffffffffu; }
  return u32(x);
})",
    R"(fn ac_truth_u64(a: vec2<u32>) -> bool { return (a.x | a.y) != 0u; })",
    R"(fn ac_truth(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) != 0u;
})",
};

}  // namespace

std::span<const std::string_view> integer_helpers() { return kIntegerHelpers; }

}  // namespace arraycore::codegen
