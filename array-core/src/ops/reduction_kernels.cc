// Makes the kernels of the table of reductions.
#include "ir/op_info.h"
#include "ops/bodies.h"
#include "ops/reductions.h"

namespace arraycore::ops {
namespace {

using ir::Builder;
using ir::Op;
using ir::ParamRef;
using ir::Value;
using Mapped = Builder::Mapped;

Value both(Builder& k, Value a, Value b) { return k.apply(Op::logical_and, {a, b}); }
Value either(Builder& k, Value a, Value b) { return k.apply(Op::logical_or, {a, b}); }

bool has_nan(DType dtype) { return is_floating(dtype) || is_complex(dtype); }
Value is_nan(Builder& k, Value x) {
  return has_nan(x.type) ? k.apply(Op::is_nan, {x}) : k.constant(DType::boolean, 0);
}

// Divides a complex number by a real one part by part.
Value divided(Builder& k, Value x, Value by) {
  if (!is_complex(x.type)) return x / by;
  return k.make_complex(k.apply(Op::real, {x}) / by, k.apply(Op::imag, {x}) / by);
}

DType real_of_computed(DType loop) {
  const DType computed = computed_in(loop);
  if (is_complex(computed)) return ir::real_of(computed);
  return is_floating(computed) ? computed : DType::float64;
}

// The parameters with which every reduction kernel begins, and functions that use them.
struct Frame {
  Frame(Builder& builder, const ReductionSpec& given)
      : k(builder), spec(given), computed(computed_in(given.loop)) {
    const DType real = real_of_computed(spec.loop);
    x = k.in("x", spec.array);
    if (spec.form == Form::variance) mean = k.in("mean", computed);
    if (spec.where) where = k.in("where", DType::boolean);
    if (spec.initial) initial = k.scalar("initial", spec.loop);
    const bool counts = spec.form == Form::mean || spec.form == Form::variance;
    if (counts) count = k.scalar("count", real);
    if (spec.form == Form::variance) less = k.scalar("less", real);
    y = k.out("y", spec.out);
  }

  // Returns the element. It is first converted to the loop's type, which rounds as NumPy's cast
  // does.
  Value element() const { return k.convert(computed, k.convert(spec.loop, k.read(x))); }
  Value start() const { return k.convert(computed, k.read(initial)); }

  // Returns whether the element counts; nullopt if all elements count.
  std::optional<Value> counted(Value value) const {
    std::optional<Value> yes;
    if (spec.where) yes = k.read(where);
    if (!spec.skips_nan || !has_nan(value.type)) return yes;
    const Value number = !k.apply(Op::is_nan, {value});
    return yes ? both(k, *yes, number) : number;
  }

  Value combined(Value a, Value b) const {
    return k.convert(computed, spec.ufunc->body(k, {a, b})[0]);
  }

  void store(Value result) const {
    k.store(y, k.convert(spec.out, k.convert(result_type(result.type), result)));
  }

  Builder& k;
  const ReductionSpec& spec;
  DType computed;
  ParamRef x, mean, where, initial, count, less, y;

 private:
  // Returns the type of a stored result: a float32 total of float16 elements is rounded to float16
  // once.
  DType result_type(DType type) const {
    return type == DType::float32 && spec.loop == DType::float16 ? DType::float16 : type;
  }
};

// Returns the value that replaces an element that does not count.
Value neutral(const Frame& f) {
  const auto identity = identity_of(*f.spec.ufunc, f.computed);
  if (!identity) return f.start();
  return f.k.bits(f.computed, identity->bits, identity->bits_high);
}

Value folded_element(const Frame& f) {
  const Value value = f.element();
  const auto counted = f.counted(value);
  return counted ? f.k.select(*counted, value, neutral(f)) : value;
}

void fold(const Frame& f) {
  f.k.reduce(
      folded_element(f), std::nullopt, [&](Value a, Value b) { return f.combined(a, b); },
      [&](Value total) { f.store(f.spec.initial ? f.combined(f.start(), total) : total); });
}

Value one_or_zero(Builder& k, DType dtype, Value condition) { return k.convert(dtype, condition); }

void count(const Frame& f) {
  Builder& k = f.k;
  Value nonzero = k.convert(DType::boolean, k.read(f.x));
  if (f.spec.where) nonzero = both(k, nonzero, k.read(f.where));
  k.reduce(
      one_or_zero(k, DType::int32, nonzero), std::nullopt, [](Value a, Value b) { return a + b; },
      [&](Value total) { k.store(f.y, k.convert(f.spec.out, total)); });
}

// Makes the kernel a reduction to a sum and a count, of all elements or of those for which
// `counted` is true.
void averaged(const Frame& f, Value value, std::optional<Value> counted,
              const std::function<void(Value, Value)>& post) {
  Builder& k = f.k;
  std::vector<Mapped> mapped{{value, std::nullopt}};
  if (counted) {
    mapped[0].value = k.select(*counted, value, k.constant(value.type, 0));
    mapped.push_back({one_or_zero(k, DType::int32, *counted), std::nullopt});
  }
  k.reduce(
      mapped,
      [&k](const Values& a, const Values& b) {
        Values sums = add(k, {a[0], b[0]});  // a sum of bools is a bool
        if (a.size() > 1) sums.push_back(a[1] + b[1]);
        return sums;
      },
      [&](const Values& totals) {
        const DType real = real_of_computed(f.spec.loop);
        post(totals[0], totals.size() > 1 ? k.convert(real, totals[1]) : k.read(f.count));
      });
}

void mean(const Frame& f) {
  const Value value = f.element();
  averaged(f, value, f.counted(value), [&](Value total, Value count) {
    // A sum of integers is converted before it is divided, so that the quotient is a float.
    const Value sum = has_nan(total.type) ? total : f.k.convert(count.type, total);
    f.store(divided(f.k, sum, count));
  });
}

void variance(const Frame& f) {
  Builder& k = f.k;
  const DType real = real_of_computed(f.spec.loop);
  const Value value = f.element();
  const Value distance = value - k.read(f.mean);
  Value square = k.convert(real, distance);
  if (is_complex(distance.type)) {
    const Value re = k.apply(Op::real, {distance});
    const Value im = k.apply(Op::imag, {distance});
    square = re * re + im * im;
  } else {
    square = square * square;
  }
  averaged(f, square, f.counted(value), [&](Value total, Value count) {
    const Value zero = k.constant(real, 0);
    const Value free = count - k.read(f.less);
    // If ddof is at least the number of elements, the total is divided by zero, as in NumPy. If NaN
    // is skipped too, the result is NaN, also as in NumPy.
    const Value some = free > zero;
    Value result = total / k.select(some, free, zero);
    if (f.spec.skips_nan) result = k.select(some, result, zero / zero);
    f.store(f.spec.root ? k.apply(Op::sqrt, {result}) : result);
  });
}

void range(const Frame& f) {
  const Value value = f.element();
  f.k.reduce(
      {{value, std::nullopt}, {value, std::nullopt}},
      [&](const Values& a, const Values& b) {
        return Values{extreme<Op::maximum>(f.k, {a[0], b[0]})[0],
                      extreme<Op::minimum>(f.k, {a[1], b[1]})[0]};
      },
      [&](const Values& ends) { f.store(ends[0] - ends[1]); });
}

// Finds the best element and its index. A NaN is better than any number. If NaN is skipped, a NaN
// is worse than any number instead, and its index is -1.
void place(const Frame& f) {
  Builder& k = f.k;
  const bool largest = f.spec.ufunc->name == "maximum";
  const Value none = k.integer(DType::int32, -1);
  const Value value = f.element();
  const auto counted = f.counted(value);
  const Value number = counted ? k.select(*counted, k.reduce_index(), none) : k.reduce_index();
  k.reduce(
      {{value, std::nullopt}, {number, std::nullopt}},
      [&](const Values& a, const Values& b) {
        const Values x{a[0], b[0]};
        const Value better = (largest ? compare<Op::greater>(k, x) : compare<Op::less>(k, x))[0];
        const Value alike = compare<Op::equal>(k, x)[0];
        const Value earlier = a[1] < b[1];
        Value first = either(k, better, both(k, alike, earlier));
        if (counted) {
          const Value zero = k.integer(DType::int32, 0);
          // If neither element counts, either of them may be kept.
          first = both(k, a[1] >= zero, either(k, b[1] < zero, first));
        } else if (has_nan(value.type)) {
          const Value nan_a = is_nan(k, a[0]);
          const Value nan_b = is_nan(k, b[0]);
          first = k.select(nan_a, either(k, !nan_b, earlier), both(k, !nan_b, first));
        }
        return Values{k.select(first, a[0], b[0]), k.select(first, a[1], b[1])};
      },
      [&](const Values& best) { k.store(f.y, k.convert(f.spec.out, best[1])); });
}

std::string_view title(Form form) {
  switch (form) {
    case Form::fold:
      return "reduce";
    case Form::count:
      return "count_nonzero";
    case Form::mean:
      return "mean";
    case Form::variance:
      return "variance";
    case Form::range:
      return "ptp";
    case Form::place:
      return "place";
  }
  return {};
}

std::string name_of_kernel(const ReductionSpec& spec) {
  const std::string form(title(spec.form));
  return spec.ufunc != nullptr ? std::string(spec.ufunc->name) + "_" + form : form;
}

}  // namespace

DType computed_in(DType loop) { return loop == DType::float16 ? DType::float32 : loop; }

ir::Kernel make_reduction_kernel(const ReductionSpec& spec) {
  Builder builder(name_of_kernel(spec));
  const Frame frame(builder, spec);
  switch (spec.form) {
    case Form::fold:
      fold(frame);
      break;
    case Form::count:
      count(frame);
      break;
    case Form::mean:
      mean(frame);
      break;
    case Form::variance:
      variance(frame);
      break;
    case Form::range:
      range(frame);
      break;
    case Form::place:
      place(frame);
      break;
  }
  return builder.take();
}

ir::Kernel make_scan_kernel(const ReductionSpec& spec) {
  Builder builder(std::string(spec.ufunc->name) + "_accumulate");
  const Frame f(builder, spec);
  builder.scan(
      {{folded_element(f), std::nullopt}},
      [&](const Values& a, const Values& b) { return Values{f.combined(a[0], b[0])}; },
      [&](const Values& running, const Values&) { f.store(running[0]); });
  return builder.take();
}

ir::Kernel make_ordered_kernel(const ReductionSpec& spec, bool running) {
  Builder k(std::string(spec.ufunc->name) + (running ? "_accumulate" : "_reduce"));
  const bool widen = spec.loop == DType::float16 && spec.ufunc->half == UFunc::Half::in_float32;
  const ParamRef x = k.raw("x", spec.array);
  ParamRef where;
  if (spec.where) where = k.raw("where", DType::boolean);
  ParamRef initial;
  if (spec.initial) initial = k.scalar("initial", spec.loop);
  if (spec.carried) initial = k.in("so_far", spec.loop);
  const ParamRef length = k.scalar("length", DType::int32);
  const ParamRef y = running ? k.raw("y", spec.out, ir::Access::write) : k.out("y", spec.out);
  const ir::LocalRef total = k.local("total", spec.loop);
  const ir::LocalRef next = k.local("next", spec.loop);
  const ir::LocalRef j = k.local("j", k.loop_index() * k.read(length));
  const ir::LocalRef end = k.local("end", k.read(j) + k.read(length));
  const Value one = k.integer(DType::int32, 1);
  const auto take = [&] { k.set(next, k.convert(spec.loop, k.read_at(x, {k.read(j)}))); };
  const auto give = [&] {
    if (running) k.store_at(y, {k.read(j)}, k.convert(spec.out, k.read(total)));
  };
  if (spec.initial || spec.carried) {
    k.set(total, k.read(initial));
  } else {
    take();
    k.set(total, k.read(next));
    give();
    k.set(j, k.read(j) + one);
  }
  const auto step = [&] {
    take();
    const auto operand = [&](Value value) {
      return widen ? k.convert(DType::float32, value) : value;
    };
    const Value combined = spec.ufunc->body(k, {operand(k.read(total)), operand(k.read(next))})[0];
    k.set(total, k.convert(spec.loop, combined));
    give();
  };
  k.while_(
      k.read(j) < k.read(end),
      [&] {
        if (spec.where)
          k.if_(k.read_at(where, {k.read(j)}), step);
        else
          step();
      },
      [&] { k.set(j, k.read(j) + one); });
  if (!running) k.store(y, k.convert(spec.out, k.read(total)));
  return k.take();
}

}  // namespace arraycore::ops
