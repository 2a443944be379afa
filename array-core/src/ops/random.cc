#include "ops/random.h"

#include <array>
#include <numbers>

#include "ir/builder.h"
#include "ir/op_info.h"

namespace arraycore::ops {
namespace {

using ir::Builder;
using ir::LocalRef;
using ir::Op;
using ir::Value;

// The number of rounds of Philox4x32-10.
constexpr int kRounds = 10;
constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;

// After this many refused draws, an element keeps its last draw.
constexpr int kMostAttempts = 64;
// Below this mean, a Poisson distribution is drawn by waiting times.
constexpr double kFewArrivals = 12;

bool is_floating_distribution(Distribution distribution) {
  return distribution >= Distribution::uniform && distribution <= Distribution::poisson;
}

class Drawing {
 public:
  Drawing(Distribution distribution, DType dtype)
      : distribution_(distribution), dtype_(dtype), b_("random") {}

  ir::Kernel kernel();

 private:
  Value u32(std::uint32_t value) { return b_.integer(DType::uint32, value); }
  Value u64(std::uint64_t value) { return b_.bits(DType::uint64, value); }
  Value number(double value) { return b_.constant(dtype_, value); }
  Value word(int which) { return b_.read(words_[static_cast<std::size_t>(which)]); }
  bool wide() const { return dtype_ == DType::float64; }

  void philox(Value attempt);
  Value sixty_four(int first);
  Value unit(int first);
  Value positive(int first);
  Value exponential(int first);
  std::array<Value, 2> normals();
  void store(int which, Value value);
  void floating();
  void normal();
  void gamma();
  void poisson();
  void waiting(Value mean);
  void rejecting(Value mean);
  void integers();
  void integers_wide();
  void binomial();

  Distribution distribution_;
  DType dtype_;
  Builder b_;
  std::array<ir::ParamRef, 2> key_;
  std::array<ir::ParamRef, 4> counter_;
  ir::ParamRef first_;   // a
  ir::ParamRef second_;  // b
  ir::ParamRef each_;    // the array, if there is one
  ir::ParamRef out_;
  std::array<LocalRef, 4> words_;
  std::array<LocalRef, 2> products_;
};

// Draws the four words of this iteration and attempt into `words_`.
void Drawing::philox(Value attempt) {
  const Value turn = b_.convert(DType::uint32, b_.loop_index());
  b_.set(words_[0], b_.read(counter_[0]) + turn);
  b_.set(words_[1], b_.read(counter_[1]));
  b_.set(words_[2], b_.read(counter_[2]));
  b_.set(words_[3], b_.read(counter_[3]) + attempt);
  const auto low = [&](int which) {
    return b_.convert(DType::uint32, b_.read(products_[static_cast<std::size_t>(which)]));
  };
  const auto high = [&](int which) {
    const Value product = b_.read(products_[static_cast<std::size_t>(which)]);
    return b_.convert(DType::uint32, product >> u64(32));
  };
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    b_.set(products_[0], b_.convert(DType::uint64, word(0)) * u64(kMultiplier0));
    b_.set(products_[1], b_.convert(DType::uint64, word(2)) * u64(kMultiplier1));
    b_.set(words_[0], high(1) ^ word(1) ^ (b_.read(key_[0]) + u32(round * kWeyl0)));
    b_.set(words_[2], high(0) ^ word(3) ^ (b_.read(key_[1]) + u32(round * kWeyl1)));
    b_.set(words_[1], low(1));
    b_.set(words_[3], low(0));
  }
}

Value Drawing::sixty_four(int first) {
  const Value high = b_.convert(DType::uint64, word(first)) << u64(32);
  return high | b_.convert(DType::uint64, word(first + 1));
}

// Returns a number in [0, 1): the first 24 bits of one word for float32, 53 bits of two for
// float64.
Value Drawing::unit(int first) {
  if (!wide()) return b_.convert(dtype_, word(first) >> u32(8)) * number(0x1p-24);
  const Value high = b_.convert(dtype_, word(first) >> u32(5)) * number(0x1p-27);
  return high + b_.convert(dtype_, word(first + 1) >> u32(6)) * number(0x1p-53);
}

// Returns a number in (0, 1], for logarithms. In float32 its steps near 0 are 2^-32, while those of
// unit() are 2^-24.
Value Drawing::positive(int first) {
  if (!wide()) return b_.convert(dtype_, word(first)) * number(0x1p-32) + number(0x1p-33);
  const Value high = b_.convert(dtype_, word(first)) * number(0x1p-32);
  return high +
         (b_.convert(dtype_, word(first + 1) >> u32(11)) * number(0x1p-53) + number(0x1p-54));
}

// Returns an exponentially distributed number above 0, so that gumbel may take its logarithm. If
// positive() returns 1, the number just below 1 is used instead.
Value Drawing::exponential(int first) {
  const Value below_one = number(wide() ? 1 - 0x1p-53 : 1 - 0x1p-24);
  return -b_.apply(Op::log, {b_.apply(Op::minimum, {positive(first), below_one})});
}

// Returns two independent, normally distributed numbers from four words (for float32, from the
// first two).
std::array<Value, 2> Drawing::normals() {
  const LocalRef radius = b_.local("radius", dtype_);
  b_.set(radius, b_.apply(Op::sqrt, {exponential(0) * number(2)}));
  const LocalRef angle = b_.local("angle", dtype_);
  b_.set(angle, unit(wide() ? 2 : 1) * number(2 * std::numbers::pi));
  return {b_.read(radius) * b_.apply(Op::cos, {b_.read(angle)}),
          b_.read(radius) * b_.apply(Op::sin, {b_.read(angle)})};
}

// Stores element `which` of the iteration, if the array has it.
void Drawing::store(int which, Value value) {
  if (takes_array(distribution_)) return b_.store(out_, value);
  const auto per_turn = elements_per_turn(distribution_, dtype_);
  Value at = b_.loop_index();
  if (per_turn > 1) at = at * b_.integer(DType::int32, per_turn) + b_.integer(DType::int32, which);
  if (which == 0) return b_.store_at(out_, {at}, value);
  b_.if_(at < b_.size(out_), [&] { b_.store_at(out_, {at}, value); });
}

void Drawing::floating() {
  const Value a = b_.read(first_);
  const Value b = b_.read(second_);
  const int words = wide() ? 2 : 1;
  for (int which = 0; which < 4 / words; ++which) {
    const int first = which * words;
    switch (distribution_) {
      case Distribution::uniform:
        store(which, a + b * unit(first));
        break;
      case Distribution::exponential:
        store(which, b * exponential(first));
        break;
      case Distribution::gumbel:
        store(which, a - b * b_.apply(Op::log, {exponential(first)}));
        break;
      default: {  // laplace: the last bit, which rounding hides from the exponential, is the sign
        const Value is_odd = (word(first + words - 1) & u32(1)) != u32(0);
        const LocalRef size = b_.local("size" + std::to_string(which), dtype_);
        b_.set(size, b * exponential(first));
        store(which, a + b_.select(is_odd, -b_.read(size), b_.read(size)));
      }
    }
  }
}

void Drawing::normal() {
  const auto both = [&](int at) {
    const std::array<Value, 2> drawn = normals();
    for (int which = 0; which < 2; ++which) {
      const Value value =
          b_.read(first_) + b_.read(second_) * drawn[static_cast<std::size_t>(which)];
      const bool is_log = distribution_ == Distribution::lognormal;
      store(at + which, is_log ? b_.apply(Op::exp, {value}) : value);
    }
  };
  both(0);
  if (wide()) return;
  b_.set(words_[0], word(2));
  b_.set(words_[1], word(3));
  both(2);
}

// Draws gamma numbers. For a shape below 1 it uses G(a) = G(a + 1) U^(1 / a).
void Drawing::gamma() {
  const Value one = number(1);
  const LocalRef given = b_.local("given", b_.read(each_));
  const LocalRef shape = b_.local("shape", b_.read(given));
  const LocalRef scale = b_.local("scale", b_.read(second_));
  const LocalRef attempt = b_.local("attempt", DType::uint32);
  b_.if_(b_.read(given) < one, [&] {
    philox(u32(0));
    const Value power = b_.apply(Op::power, {positive(0), one / b_.read(given)});
    b_.set(scale, b_.read(scale) * power);
    b_.set(shape, b_.read(shape) + one);
  });
  const LocalRef d = b_.local("d", b_.read(shape) - number(1.0 / 3));
  const LocalRef c = b_.local("c", one / b_.apply(Op::sqrt, {number(9) * b_.read(d)}));
  const LocalRef z = b_.local("z", dtype_);
  const LocalRef v = b_.local("v", dtype_);
  const Value again = b_.read(attempt) < u32(2 * kMostAttempts);
  b_.while_(again, [&] {
    b_.set(attempt, b_.read(attempt) + u32(2));
    philox(b_.read(attempt) - u32(1));
    b_.set(z, normals()[0]);
    b_.set(v, one + b_.read(c) * b_.read(z));
    b_.set(v, b_.read(v) * b_.read(v) * b_.read(v));
    if (wide()) philox(b_.read(attempt));  // the decision to accept uses words of its own
    const Value decides = b_.apply(Op::log, {positive(2)});
    const Value fits = number(0.5) * b_.read(z) * b_.read(z) + b_.read(d) -
                       b_.read(d) * b_.read(v) + b_.read(d) * b_.apply(Op::log, {b_.read(v)});
    b_.if_(b_.apply(Op::logical_and, {b_.read(v) > number(0), decides < fits}),
           [&] { b_.leave(); });
  });
  store(0, b_.read(scale) * b_.read(d) * b_.read(v));
}

void Drawing::poisson() {
  const LocalRef mean = b_.local("mean", b_.read(each_));
  b_.if_(
      b_.read(mean) < number(kFewArrivals), [&] { waiting(b_.read(mean)); },
      [&] { rejecting(b_.read(mean)); });
}

// Draws Poisson numbers: counts how many exponential waiting times fit into the mean.
void Drawing::waiting(Value mean) {
  const LocalRef waited = b_.local("waited", dtype_);
  const LocalRef arrivals = b_.local("arrivals", dtype_);
  const LocalRef block = b_.local("block", DType::uint32);
  const int words = wide() ? 2 : 1;
  const Value goes_on =
      b_.apply(Op::logical_and, {b_.read(waited) <= mean, b_.read(block) < u32(kMostAttempts)});
  b_.while_(goes_on, [&] {
    philox(b_.read(block));
    b_.set(block, b_.read(block) + u32(1));
    for (int first = 0; first < 4; first += words) {
      b_.set(waited, b_.read(waited) + exponential(first));
      b_.if_(b_.read(waited) <= mean, [&] { b_.set(arrivals, b_.read(arrivals) + number(1)); });
    }
  });
  store(0, b_.read(arrivals));
}

// Draws Poisson numbers by transformed rejection: Hoermann, "The transformed rejection method for
// generating Poisson random variables" (1993), algorithm PTRS with its constants.
void Drawing::rejecting(Value mean) {
  const LocalRef b = b_.local("b", number(0.931) + number(2.53) * b_.apply(Op::sqrt, {mean}));
  const LocalRef a = b_.local("a", number(-0.059) + number(0.02483) * b_.read(b));
  const Value inverse = number(1.1239) + number(1.1328) / (b_.read(b) - number(3.4));
  const Value sure = number(0.9277) - number(3.6224) / (b_.read(b) - number(2));
  const LocalRef log_mean = b_.local("log_mean", b_.apply(Op::log, {mean}));
  const LocalRef u = b_.local("u", dtype_);
  const LocalRef v = b_.local("v", dtype_);
  const LocalRef edge = b_.local("edge", dtype_);
  const LocalRef k = b_.local("k", dtype_);
  const LocalRef attempt = b_.local("attempt", DType::uint32);
  const auto both = [&](Value x, Value y) { return b_.apply(Op::logical_and, {x, y}); };
  b_.while_(b_.read(attempt) < u32(kMostAttempts), [&] {
    philox(b_.read(attempt));
    b_.set(attempt, b_.read(attempt) + u32(1));
    b_.set(u, unit(0) - number(0.5));
    b_.set(v, positive(wide() ? 2 : 1));
    b_.set(edge, number(0.5) - b_.apply(Op::absolute, {b_.read(u)}));
    const Value slope = number(2) * b_.read(a) / b_.read(edge) + b_.read(b);
    b_.set(k, b_.apply(Op::floor, {slope * b_.read(u) + mean + number(0.43)}));
    b_.if_(both(b_.read(edge) >= number(0.07), b_.read(v) <= sure), [&] { b_.leave(); });
    const Value outside = both(b_.read(edge) < number(0.013), b_.read(v) > b_.read(edge));
    b_.if_(b_.apply(Op::logical_or, {b_.read(k) < number(0), outside}), [&] { b_.next(); });
    const Value under = b_.read(a) / (b_.read(edge) * b_.read(edge)) + b_.read(b);
    const Value left = b_.apply(Op::log, {b_.read(v) * inverse / under});
    const Value right =
        b_.read(k) * b_.read(log_mean) - mean - b_.apply(Op::lgamma, {b_.read(k) + number(1)});
    b_.if_(left <= right, [&] { b_.leave(); });
  });
  store(0, b_.apply(Op::maximum, {b_.read(k), number(0)}));
}

// Draws integers: the integer part of b W / 2^64, where W has 64 bits. This is Lemire's
// multiplication, "Fast random integer generation in an interval" (2019), without its refusals.
void Drawing::integers() {
  const Value range = b_.read(second_);
  for (int which = 0; which < 2; ++which) {
    const Value high = b_.convert(DType::uint64, word(2 * which)) * range;
    const Value low = b_.convert(DType::uint64, word(2 * which + 1)) * range >> u64(32);
    store(which, b_.convert(dtype_, b_.read(first_) + ((high + low) >> u64(32))));
  }
}

// Draws numbers below the next power of 2 until one is below b.
void Drawing::integers_wide() {
  const LocalRef mask = b_.local("mask", b_.read(second_) - u64(1));
  for (std::uint64_t shift = 1; shift < 64; shift *= 2)
    b_.set(mask, b_.read(mask) | (b_.read(mask) >> u64(shift)));
  const LocalRef drawn = b_.local("drawn", DType::uint64);
  const LocalRef attempt = b_.local("attempt", DType::uint32);
  const Value last = b_.read(second_) - u64(1);
  b_.while_(b_.read(attempt) < u32(kMostAttempts), [&] {
    philox(b_.read(attempt));
    b_.set(attempt, b_.read(attempt) + u32(1));
    b_.set(drawn, sixty_four(0) & b_.read(mask));
    b_.if_(b_.read(drawn) <= last, [&] { b_.leave(); });
  });
  b_.if_(b_.read(drawn) > last, [&] { b_.set(drawn, b_.read(drawn) % b_.read(second_)); });
  store(0, b_.convert(dtype_, b_.read(first_) + b_.read(drawn)));
}

void Drawing::binomial() {
  const LocalRef hits = b_.local("hits", DType::uint64);
  const LocalRef trial = b_.local("trial", DType::uint64);
  const Value trials = b_.read(second_);
  b_.while_(b_.read(trial) < trials, [&] {
    philox(b_.convert(DType::uint32, b_.read(trial) >> u64(2)));
    for (int which = 0; which < 4; ++which) {
      const Value hit = b_.apply(
          Op::logical_and,
          {b_.read(trial) < trials, b_.convert(DType::uint64, word(which)) < b_.read(first_)});
      b_.set(hits, b_.read(hits) + b_.convert(DType::uint64, hit));
      b_.set(trial, b_.read(trial) + u64(1));
    }
  });
  store(0, b_.convert(dtype_, b_.read(hits)));
}

ir::Kernel Drawing::kernel() {
  key_ = {b_.scalar("key_0", DType::uint32), b_.scalar("key_1", DType::uint32)};
  counter_ = {b_.scalar("counter_0", DType::uint32), b_.scalar("counter_1", DType::uint32),
              b_.scalar("counter_2", DType::uint32), b_.scalar("counter_3", DType::uint32)};
  first_ = b_.scalar("a", parameter_of(distribution_, dtype_));
  second_ = b_.scalar("b", parameter_of(distribution_, dtype_));
  if (takes_array(distribution_)) {
    each_ = b_.in("each", dtype_);
    out_ = b_.out("out", dtype_);
  } else {
    out_ = b_.raw("out", dtype_, ir::Access::write);
  }
  for (std::size_t i = 0; i < words_.size(); ++i)
    words_[i] = b_.local("word_" + std::to_string(i), DType::uint32);
  for (std::size_t i = 0; i < products_.size(); ++i)
    products_[i] = b_.local("product_" + std::to_string(i), DType::uint64);

  switch (distribution_) {
    case Distribution::bits:
      philox(u32(0));
      for (int which = 0; which < 4; ++which) store(which, word(which));
      break;
    case Distribution::uniform:
    case Distribution::exponential:
    case Distribution::gumbel:
    case Distribution::laplace:
      philox(u32(0));
      floating();
      break;
    case Distribution::normal:
    case Distribution::lognormal:
      philox(u32(0));
      normal();
      break;
    case Distribution::gamma:
      gamma();
      break;
    case Distribution::poisson:
      poisson();
      break;
    case Distribution::integers:
      philox(u32(0));
      integers();
      break;
    case Distribution::integers_wide:
      integers_wide();
      break;
    case Distribution::bernoulli:
      philox(u32(0));
      for (int which = 0; which < 4; ++which)
        store(which, b_.convert(dtype_, b_.convert(DType::uint64, word(which)) < b_.read(first_)));
      break;
    case Distribution::binomial:
      binomial();
      break;
  }
  return b_.take();
}

}  // namespace

bool draws(Distribution distribution, DType dtype) {
  if (distribution == Distribution::bits) return dtype == DType::uint32;
  if (is_floating_distribution(distribution))
    return dtype == DType::float32 || dtype == DType::float64;
  return dtype == DType::boolean || is_integer(dtype);
}

DType parameter_of(Distribution distribution, DType dtype) {
  return is_floating_distribution(distribution) ? dtype : DType::uint64;
}

bool takes_array(Distribution distribution) {
  return distribution == Distribution::gamma || distribution == Distribution::poisson;
}

int elements_per_turn(Distribution distribution, DType dtype) {
  switch (distribution) {
    case Distribution::bits:
    case Distribution::bernoulli:
      return 4;
    case Distribution::integers:
      return 2;
    case Distribution::gamma:
    case Distribution::poisson:
    case Distribution::integers_wide:
    case Distribution::binomial:
      return 1;
    default:
      return dtype == DType::float64 ? 2 : 4;
  }
}

ir::Kernel random_kernel(Distribution distribution, DType dtype) {
  return Drawing(distribution, dtype).kernel();
}

}  // namespace arraycore::ops
