#include "ops/sorting.h"

#include <limits>

#include "ir/builder.h"

namespace arraycore::ops {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();

// Returns a float32's key: its bits, with the order reversed for negative numbers. NaN has the key
// kLast. The keys of numbers are below kLast - 1.
Value float_key(Builder& b, Value x) {
  const auto word = [&](std::int32_t value) { return b.integer(DType::int32, value); };
  const Value bits = b.bitcast(DType::int32, x);
  const Value turned = word(std::numeric_limits<std::int32_t>::min()) - bits;  // -0 becomes 0
  const Value number = b.select(bits < word(0), turned, bits);
  return b.select(b.apply(Op::is_nan, {x}), word(kLast), number);
}

// The real part decides first. Numbers of which only the imaginary part is NaN come after all
// others, sorted by their real parts. After these come numbers whose real part is NaN, sorted by
// their imaginary parts.
Value complex_key(Builder& b, Value x) {
  const Value real = b.apply(Op::real, {x});
  const Value imag = b.apply(Op::imag, {x});
  const auto word = [&](std::int32_t value) { return b.integer(DType::int32, value); };
  const Value lost_real = b.apply(Op::is_nan, {real});
  const Value lost_imag = b.apply(Op::logical_and, {b.apply(Op::is_nan, {imag}), !lost_real});
  const ir::LocalRef high = b.local("high", float_key(b, real));
  const ir::LocalRef low = b.local("low", float_key(b, imag));
  b.if_(lost_imag, [&] {
    b.set(low, b.read(high));
    b.set(high, word(kLast - 1));
  });
  const Value shifted = b.convert(DType::int64, b.read(high)) << b.integer(DType::int64, 32);
  // The low half of the int64 must not be negative, so 2^31 is added to the key of the imaginary
  // part.
  const Value rest = b.convert(DType::int64, b.read(low)) + b.integer(DType::int64, 1LL << 31);
  return shifted + rest;
}

Value key_of(Builder& b, Value x) {
  switch (x.type) {
    case DType::float16:
      return float_key(b, b.convert(DType::float32, x));
    case DType::float32:
      return float_key(b, x);
    case DType::complex64:
      return complex_key(b, x);
    case DType::uint32:
      return b.bitcast(DType::int32, x ^ b.integer(DType::uint32, 1LL << 31));
    case DType::uint64:
      return b.bitcast(DType::int64, x ^ b.bits(DType::uint64, std::uint64_t{1} << 63));
    default:
      return b.convert(sort_key(x.type), x);
  }
}

}  // namespace

DType sort_key(DType dtype) { return size_of(dtype) == 8 ? DType::int64 : DType::int32; }

ir::Kernel encode_kernel(DType dtype) {
  Builder b("sort_keys");
  const ir::ParamRef source = b.in("source", dtype);
  const ir::ParamRef keys = b.out("keys", sort_key(dtype));
  const ir::ParamRef places = b.out("places", DType::int32);
  const ir::LocalRef x = b.local("x", b.read(source));
  b.store(keys, key_of(b, b.read(x)));
  b.store(places, b.axis_index(1));
  return b.take();
}

ir::Kernel exchange_kernel(DType key) {
  Builder b("sort_exchange");
  const ir::ParamRef keys = b.raw("keys", key, ir::Access::read_write);
  const ir::ParamRef places = b.raw("places", DType::int32, ir::Access::read_write);
  const ir::ParamRef bit = b.scalar("bit", DType::int32);
  const ir::ParamRef wanted = b.scalar("wanted", DType::int32);
  const ir::ParamRef distance = b.scalar("distance", DType::int32);
  const ir::ParamRef length = b.scalar("length", DType::int32);
  b.if_((b.axis_index(1) & b.read(bit)) == b.read(wanted), [&] {
    const ir::LocalRef i = b.local("i", b.axis_index(0) * b.read(length) + b.axis_index(1));
    const ir::LocalRef j = b.local("j", b.read(i) + b.read(distance));
    const ir::LocalRef key_i = b.local("key_i", b.read_at(keys, {b.read(i)}));
    const ir::LocalRef key_j = b.local("key_j", b.read_at(keys, {b.read(j)}));
    const ir::LocalRef place_i = b.local("place_i", b.read_at(places, {b.read(i)}));
    const ir::LocalRef place_j = b.local("place_j", b.read_at(places, {b.read(j)}));
    const Value same = b.apply(Op::logical_and,
                               {b.read(key_i) == b.read(key_j), b.read(place_i) > b.read(place_j)});
    b.if_(b.apply(Op::logical_or, {b.read(key_i) > b.read(key_j), same}), [&] {
      b.store_at(keys, {b.read(i)}, b.read(key_j));
      b.store_at(keys, {b.read(j)}, b.read(key_i));
      b.store_at(places, {b.read(i)}, b.read(place_j));
      b.store_at(places, {b.read(j)}, b.read(place_i));
    });
  });
  return b.take();
}

ir::Kernel gather_kernel(DType dtype) {
  Builder b("sort_gather");
  const ir::ParamRef source = b.raw("source", dtype, ir::Access::read, 2);
  const ir::ParamRef places = b.in("places", DType::int32);
  const ir::ParamRef target = b.out("target", dtype);
  b.store(target, b.read_at(source, {b.axis_index(0), b.read(places)}));
  return b.take();
}

std::vector<ExchangeStep> exchange_steps(std::int32_t length) {
  std::vector<ExchangeStep> steps;
  std::int32_t top = 1;  // 2^(t - 1)
  while (top < length - top) top *= 2;
  for (std::int32_t p = top; p > 0; p /= 2) {
    ExchangeStep step{p, 0, p};
    for (std::int32_t q = top;; q /= 2) {
      if (step.distance < length) steps.push_back(step);
      if (q == p) break;
      step.distance = q - p;
      step.wanted = p;
    }
  }
  return steps;
}

}  // namespace arraycore::ops
