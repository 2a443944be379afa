#include "ir/random_kernel.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "ir/builder.h"
#include "ir/op_info.h"

namespace arraycore::ir {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  std::uint64_t bits() { return engine_(); }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

// Returns whether the results of an operation on floats have the same bits in every executor.
bool exact_for_floats(Op op) {
  switch (op) {
    case Op::negate:
    case Op::absolute:
    case Op::sign:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::rint:
    case Op::round:
    case Op::is_nan:
    case Op::is_inf:
    case Op::is_finite:
    case Op::sign_bit:
    case Op::real:
    case Op::imag:
    case Op::conj:
    case Op::stored:
    case Op::add:
    case Op::subtract:
    case Op::copysign:
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::convert:
      return true;
    default:
      return false;
  }
}

class Maker {
 public:
  Maker(std::uint64_t seed, Subset subset)
      : random_(seed * 0x9e3779b97f4a7c15u + 1), subset_(subset), b_("random") {}

  RandomCase make() {
    for (int i = 0; i < 3; ++i) {
      DType dtype = DType::complex128;
      do {
        dtype = static_cast<DType>(random_.below(static_cast<int>(kDTypes)));
      } while (subset_ == Subset::gpu && !on_gpu(dtype));
      types_.push_back(dtype);
    }
    types_.push_back(DType::int32);
    types_.push_back(DType::boolean);
    const int ndim = random_.below(4);
    for (int i = 0; i < ndim; ++i) loop_.push_back(1 + random_.below(9));
    if (ndim > 0 && random_.chance(15)) loop_[ndim - 1] = 200 + random_.below(400);
    reduction_ = ndim > 0 && random_.chance(30);
    scan_ = reduction_ && random_.chance(30);
    if (reduction_) reduced_ = static_cast<std::uint32_t>(1 + random_.below((1 << ndim) - 1));
    parameters();
    functions();
    where_ = Where::body;
    const int statements = 1 + random_.below(5);
    for (int i = 0; i < 2; ++i) locals_.push_back(b_.local("x", expression(type(), 2)));
    if (random_.chance(30)) arrays_.push_back(b_.local("xs", type(), 3));
    for (int i = 0; i < statements; ++i) statement(2, false);
    if (reduction_) {
      reduce();
    } else {
      for (const ParamRef out : outputs_)
        if (random_.chance(80)) b_.store(out, expression(out.type, 3));
    }
    result_.kernel = b_.take();
    result_.loop = loop_;
    result_.reduced = reduced_;
    return std::move(result_);
  }

 private:
  enum class Where { function, body, post };

  DType type() { return random_.pick(types_); }

  // ---- arguments
  //
  // Returns a value that is often special, and otherwise small.
  Scalar value(DType dtype) {
    return visit(dtype, [&](auto zero) { return put(make_value(zero)); });
  }
  template <typename T>
  T make_value(T) {
    if constexpr (kIsComplex<T>) {
      return {make_value(typename T::Real{}), make_value(typename T::Real{})};
    } else if constexpr (kIsHalf<T>) {
      return T{make_value(float{})};
    } else if constexpr (std::is_floating_point_v<T>) {
      if (random_.chance(12)) {
        constexpr T kInf = std::numeric_limits<T>::infinity();
        const T special[] = {0,     -T{0}, 1, -1, kInf, -kInf, std::numeric_limits<T>::quiet_NaN(),
                             T(0.5)};
        return special[random_.below(8)];
      }
      return static_cast<T>(random_.below(4001) - 2000) / 16;
    } else if constexpr (kIsBool<T>) {
      return random_.chance(50);
    } else {
      if (random_.chance(15)) return std::numeric_limits<T>::min();
      if (random_.chance(15)) return std::numeric_limits<T>::max();
      if (random_.chance(20)) return static_cast<T>(random_.bits());
      return static_cast<T>(random_.below(21) - 10);
    }
  }

  // Adds an array argument of this shape: contiguous, or with gaps, reversed axes and an offset.
  void array(DType dtype, Dims shape) {
    RandomArgument argument;
    const auto item = static_cast<std::int64_t>(size_of(dtype));
    std::int64_t step = item;
    Dims strides;
    strides.resize(shape.size());
    std::int64_t first = 0;
    const bool plain = random_.chance(50);
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
      if (!plain && random_.chance(30)) step *= 2;
      strides[axis] = step;
      if (!plain && random_.chance(25)) {
        first += step * (shape[axis] - 1);
        strides[axis] = -step;
      }
      step *= std::max<std::int64_t>(shape[axis], 1);
    }
    const std::int64_t lead = plain && random_.chance(60) ? 0 : item * random_.below(6);
    argument.view = {shape, strides, lead + first};
    const std::int64_t elements = (lead + step) / item + 1 + random_.below(4);
    argument.bytes.resize(static_cast<std::size_t>((elements * item + 15) / 16 * 16));
    for (std::int64_t i = 0; i < elements; ++i) {
      const Scalar v = value(dtype);
      std::memcpy(argument.bytes.data() + i * item, &v, static_cast<std::size_t>(item));
    }
    result_.arguments.push_back(std::move(argument));
  }

  Dims broadcastable() {
    Dims shape;
    const int drop = random_.chance(25) ? random_.below(loop_.size() + 1) : 0;
    for (int axis = drop; axis < loop_.size(); ++axis)
      shape.push_back(random_.chance(15) ? 1 : loop_[axis]);
    return shape;
  }

  void parameters() {
    const int inputs = 1 + random_.below(3);
    for (int i = 0; i < inputs; ++i) {
      const DType dtype = type();
      inputs_.push_back(b_.in("in" + std::to_string(i), dtype));
      array(dtype, i == 0 ? loop_ : broadcastable());
    }
    if (random_.chance(50)) {
      const DType dtype = type();
      scalars_.push_back(b_.scalar("s", dtype));
      result_.arguments.push_back({{}, {}, value(dtype)});
    }
    if (random_.chance(40)) {
      const DType dtype = type();
      raws_.push_back(b_.raw("raw", dtype));
      array(dtype, {1 + random_.below(20)});
    }
    if (random_.chance(20)) {
      const DType dtype = type();
      grids_.push_back(b_.raw("grid", dtype, Access::read, 2));
      array(dtype, {1 + random_.below(5), 1 + random_.below(5)});
    }
    Dims output = loop_;
    if (reduction_ && !scan_) {
      output = {};
      for (int axis = 0; axis < loop_.size(); ++axis)
        if ((reduced_ >> axis & 1) == 0) output.push_back(loop_[axis]);
    }
    const int outputs = 1 + random_.below(2);
    for (int i = 0; i < outputs; ++i) {
      const DType dtype = type();
      const bool both = random_.chance(25);
      const std::string name = "out" + std::to_string(i);
      outputs_.push_back(both ? b_.in_out(name, dtype) : b_.out(name, dtype));
      array(dtype, output);
    }
    std::int64_t n = 1;
    for (const std::int64_t extent : loop_) n *= extent;
    if (random_.chance(25)) {
      const DType dtype = type();
      scatters_.push_back(b_.raw("scatter", dtype, Access::write));
      array(dtype, {n});
    }
    if (random_.chance(25)) {
      const DType dtypes[] = {DType::int8, DType::uint16, DType::int32, DType::uint32,
                              DType::int64};
      const DType dtype = dtypes[random_.below(5)];
      atomics_.push_back(b_.raw("atomic", dtype, Access::read_write));
      array(dtype, {1 + random_.below(9)});
      const Op kinds[] = {Op::atomic_add, Op::atomic_min, Op::atomic_max};
      atomic_ = size_of(dtype) > 4 ? Op::atomic_add : kinds[random_.below(3)];
    }
  }

  // ---- expressions
  Value leaf(DType dtype) {
    std::vector<Value> choices;
    for (const LocalRef local : locals_)
      if (local.type == dtype) choices.push_back(b_.read(local));
    if (where_ == Where::body) {
      for (const ParamRef in : inputs_)
        if (in.type == dtype) choices.push_back(b_.read(in));
      if (!reduction_)
        for (const ParamRef out : outputs_)
          if (out.type == dtype && b_.kernel().params[out.id].access == Access::read_write)
            choices.push_back(b_.read(out));
    }
    if (where_ != Where::function) {
      for (const ParamRef scalar : scalars_)
        if (scalar.type == dtype) choices.push_back(b_.read(scalar));
      if (dtype == DType::int32) {
        choices.push_back(b_.loop_index());
        choices.push_back(b_.loop_size());
        if (!reduction_ && loop_.size() > 0)
          choices.push_back(b_.axis_index(random_.below(loop_.size())));
        if (reduction_ && where_ == Where::body) choices.push_back(b_.reduce_index());
        for (const ParamRef raw : raws_) choices.push_back(b_.size(raw));
        for (const ParamRef grid : grids_) choices.push_back(b_.shape(grid, random_.below(2)));
      }
    }
    if (!choices.empty() && random_.chance(80)) return random_.pick(choices);
    const Scalar v = value(dtype);
    return b_.bits(dtype, v.bits, v.bits_high);
  }

  bool allowed(Op op, DType dtype) {
    if (!takes(op, dtype)) return false;
    if (subset_ == Subset::all || !(is_floating(dtype) || is_complex(dtype))) return true;
    return exact_for_floats(op);
  }

  Value expression(DType dtype, int depth) {
    if (depth == 0 || random_.chance(15)) return leaf(dtype);
    const int way = random_.below(100);
    if (where_ != Where::function && way < 12) {
      for (const ParamRef raw : raws_)
        if (raw.type == dtype) return b_.read_at(raw, {expression(DType::int32, depth - 1)});
      for (const ParamRef grid : grids_)
        if (grid.type == dtype)
          return b_.read_at(grid, {expression(DType::int32, depth - 1), leaf(DType::int32)});
    }
    if (way < 18)
      for (const LocalRef array : arrays_)
        if (array.type == dtype && where_ == Where::body)
          return b_.read_at(array, expression(DType::int32, depth - 1));
    if (way < 28 && where_ != Where::function)
      for (const auto& [function, arguments] : functions_)
        if (*function.result == dtype) {
          std::vector<Value> values;
          for (const DType argument : arguments) values.push_back(expression(argument, depth - 1));
          return b_.call(function, values);
        }
    if (way < 38)
      return b_.select(expression(DType::boolean, depth - 1), expression(dtype, depth - 1),
                       expression(dtype, depth - 1));
    if (way < 50) {
      const DType from = type();
      // The last digit of a wide integer's conversion to float depends on the hardware. So such a
      // conversion is used only with Subset::all.
      const bool exact = subset_ == Subset::all || is_floating(from) || from == DType::boolean ||
                         size_of(from) <= 2 || !(is_floating(dtype) || is_complex(dtype));
      if (exact) return b_.convert(dtype, expression(from, depth - 1));
    }
    if (dtype == DType::boolean && way < 80) {
      const DType of = type();
      const Op op = static_cast<Op>(static_cast<int>(Op::equal) + random_.below(6));
      if (allowed(op, of))
        return b_.apply(op, {expression(of, depth - 1), expression(of, depth - 1)});
    }
    for (int tries = 0; tries < 30; ++tries) {
      const auto op = static_cast<Op>(random_.below(static_cast<int>(kOps)));
      if (!allowed(op, dtype)) continue;
      switch (info(op).shape) {
        case Shape::unary:
          return b_.apply(op, {expression(dtype, depth - 1)});
        case Shape::binary:
          return b_.apply(op, {expression(dtype, depth - 1), expression(dtype, depth - 1)});
        case Shape::ternary:
          return b_.apply(op, {expression(dtype, depth - 1), expression(dtype, depth - 1),
                               expression(dtype, depth - 1)});
        default:
          break;
      }
    }
    return leaf(dtype);
  }

  // ---- functions and statements
  void functions() {
    where_ = Where::function;
    for (int i = random_.below(3); i > 0; --i) {
      std::vector<DType> arguments;
      for (int a = 1 + random_.below(2); a > 0; --a) arguments.push_back(type());
      const DType result = type();
      const auto function = b_.function("f", arguments, result, [&](const auto& values) {
        const auto outer = std::exchange(locals_, values);
        locals_.push_back(b_.local("t", expression(result, 2)));
        if (random_.chance(60))
          b_.if_(expression(DType::boolean, 2), [&] { b_.give(expression(result, 2)); });
        if (random_.chance(40)) loop(1);
        b_.give(expression(result, 2));
        locals_ = outer;
      });
      functions_.emplace_back(function, arguments);
    }
  }

  void statement(int depth, bool in_loop) {
    const int way = random_.below(100);
    if (way < 30) {
      const LocalRef local = random_.pick(locals_);
      if (!counters_.contains(local.id)) b_.set(local, expression(local.type, 3));
    } else if (way < 36 && !arrays_.empty() && where_ == Where::body) {
      b_.set_at(arrays_[0], expression(DType::int32, 1), expression(arrays_[0].type, 2));
    } else if (way < 48 && !reduction_ && where_ == Where::body) {
      const ParamRef out = random_.pick(outputs_);
      b_.store(out, expression(out.type, 2));
    } else if (way < 54 && !scatters_.empty() && where_ == Where::body) {
      b_.store_at(scatters_[0], {b_.loop_index()}, expression(scatters_[0].type, 2));
    } else if (way < 60 && !atomics_.empty() && where_ == Where::body) {
      b_.evaluate(b_.atomic(atomic_, atomics_[0],
                            {expression(DType::int32, 1), expression(atomics_[0].type, 2)}));
    } else if (way < 78 && depth > 0) {
      const std::size_t seen = locals_.size();
      b_.if_(
          expression(DType::boolean, 2), [&] { block(depth - 1, in_loop); },
          random_.chance(50) ? Builder::Body([&] { block(depth - 1, in_loop); }) : nullptr);
      locals_.resize(seen);
    } else if (way < 90 && depth > 0) {
      loop(depth - 1);
    } else if (in_loop && way < 95) {
      b_.if_(expression(DType::boolean, 2), [&] { random_.chance(50) ? b_.leave() : b_.next(); });
    } else if (way < 97 && !reduction_ && where_ == Where::body) {
      b_.if_(expression(DType::boolean, 2), [&] { b_.give(); });
    }
  }

  void block(int depth, bool in_loop) {
    for (int i = 1 + random_.below(3); i > 0; --i) statement(depth, in_loop);
  }

  // Adds a loop that runs at most five times, whatever its body does.
  void loop(int depth) {
    const LocalRef count = b_.local("count", b_.integer(DType::int32, 0));
    counters_.insert(count.id);
    const std::size_t seen = locals_.size();
    const auto more = [&] {
      const Value limit = b_.read(count) < static_cast<double>(1 + random_.below(5));
      return random_.chance(50) ? limit
                                : b_.apply(Op::logical_and, {limit, expression(DType::boolean, 1)});
    };
    const auto step = [&] { b_.set(count, b_.read(count) + 1); };
    locals_.push_back(count);
    if (random_.chance(30)) {
      const Value condition = more();
      b_.do_while([&] { block(depth, true); }, condition, step);
    } else {
      b_.while_(more(), [&] { block(depth, true); }, step);
    }
    locals_.resize(seen);
  }

  // Returns an element's value and the operation that combines such values. The order of the values
  // does not change the combined one.
  std::pair<Value, Op> accumulated() {
    const DType dtype = type();
    const bool floats = is_floating(dtype);
    std::vector<Op> ways{Op::add, Op::multiply, Op::bit_xor, Op::minimum, Op::maximum};
    if (dtype == DType::boolean) ways = {Op::logical_and, Op::logical_or, Op::bit_xor};
    if (floats) ways = {Op::fmin, Op::fmax};
    if (is_complex(dtype)) ways = {Op::add};
    const Op way = random_.pick(ways);
    const Value mapped = expression(is_complex(dtype) ? DType::int32 : dtype, 3);
    if (!floats) return {mapped, way};
    // fmin and fmax may return either of two zeros, so a zero is replaced by another number.
    const Value zero = b_.constant(dtype, 0);
    return {b_.select(mapped == zero, b_.constant(dtype, 1), mapped), way};
  }

  void reduce() {
    std::vector<Builder::Mapped> mapped;
    std::vector<Op> ways;
    const int count = random_.chance(30) ? 2 : 1;
    for (int v = 0; v < count; ++v) {
      const auto [value, way] = accumulated();
      mapped.push_back({value, std::nullopt});
      ways.push_back(way);
    }
    // Some reductions also keep the position of the largest
    // number.
    const bool place = random_.chance(25);
    if (place) {
      mapped.push_back({expression(DType::int32, 2), std::nullopt});
      mapped.push_back({b_.reduce_index(), std::nullopt});
    }
    using Values = Builder::Values;
    const auto combine = [&](const Values& a, const Values& b) {
      Values values;
      for (std::size_t v = 0; v < ways.size(); ++v)
        values.push_back(b_.apply(ways[v], {a[v], b[v]}));
      if (!place) return values;
      const std::size_t v = ways.size();
      const Value first =
          b_.apply(Op::logical_or,
                   {a[v] > b[v], b_.apply(Op::logical_and, {a[v] == b[v], a[v + 1] < b[v + 1]})});
      values.push_back(b_.select(first, a[v], b[v]));
      values.push_back(b_.select(first, a[v + 1], b[v + 1]));
      return values;
    };
    const auto post = [&](const Values& totals) {
      where_ = Where::post;
      locals_.clear();
      for (const ParamRef out : outputs_) {
        const Value rest = expression(out.type, 1);
        const Value total = b_.convert(out.type, random_.pick(totals));
        b_.store(out, b_.select(expression(DType::boolean, 1), total, rest));
      }
    };
    if (!scan_) return b_.reduce(mapped, combine, post);
    b_.scan(mapped, combine, [&](const Values& running, const Values& own) {
      post(random_.chance(70) ? running : own);
    });
  }

  Random random_;
  Subset subset_;
  Builder b_;
  RandomCase result_;
  Where where_ = Where::function;
  bool reduction_ = false;
  bool scan_ = false;
  std::uint32_t reduced_ = 0;
  Dims loop_;
  std::vector<DType> types_;
  std::vector<ParamRef> inputs_, outputs_, scalars_, raws_, grids_, scatters_, atomics_;
  Op atomic_ = Op::atomic_add;
  std::vector<LocalRef> locals_, arrays_;
  std::set<Id> counters_;
  std::vector<std::pair<FunctionRef, std::vector<DType>>> functions_;
};

}  // namespace

Launch RandomCase::launch() {
  Launch result{loop, reduced, {}};
  for (RandomArgument& argument : arguments)
    result.arguments.push_back({argument.bytes.data(), argument.view, argument.scalar});
  return result;
}

RandomCase random_case(std::uint64_t seed, Subset subset) { return Maker(seed, subset).make(); }

bool same_value(DType dtype, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
  if (!is_floating(dtype) && !is_complex(dtype)) return false;
  if (is_complex(dtype)) {
    const DType real = real_of(dtype);
    return same_value(real, a, b) && same_value(real, a + size_of(real), b + size_of(real));
  }
  Scalar x;
  Scalar y;
  std::memcpy(static_cast<void*>(&x), a, size_of(dtype));
  std::memcpy(static_cast<void*>(&y), b, size_of(dtype));
  return get<bool>(apply(Op::is_nan, dtype, DType::boolean, &x)) &&
         get<bool>(apply(Op::is_nan, dtype, DType::boolean, &y));
}

}  // namespace arraycore::ir
