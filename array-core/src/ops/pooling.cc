#include "ops/pooling.h"

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ir/builder.h"

namespace arraycore::ops {
namespace {

using ir::Builder;
using ir::LocalRef;
using ir::Op;
using ir::ParamRef;
using ir::Value;

struct Axis {
  ParamRef data, result, window, stride, padding;
};
using Axes = std::array<Axis, kPoolAxes>;
using Coordinates = std::array<Value, kPoolAxes>;

Axes add_numbers(Builder& k) {
  Axes axes;
  int number = 0;
  for (Axis& axis : axes) {
    for (ParamRef* each : {&axis.data, &axis.result, &axis.window, &axis.stride, &axis.padding})
      *each = k.scalar("n" + std::to_string(number++), DType::int32);
  }
  return axes;
}

Value integer(Builder& k, std::int64_t value) { return k.integer(DType::int32, value); }
Value least(Builder& k, Value a, Value b) { return k.apply(Op::minimum, {a, b}); }
Value most(Builder& k, Value a, Value b) { return k.apply(Op::maximum, {a, b}); }

// The plane and the coordinates of the loop's element, in locals.
struct Place {
  Value plane;
  Coordinates at;
};
Place place_of(Builder& k, const Axes& axes, ParamRef Axis::* extent) {
  Place place;
  Value rest = k.loop_index();
  for (std::size_t axis = kPoolAxes; axis-- > 0;) {
    const Value size = k.read(axes[axis].*extent);
    place.at[axis] = k.read(k.local("at" + std::to_string(axis), rest % size));
    rest = k.read(k.local("rest" + std::to_string(axis), rest / size));
  }
  place.plane = rest;
  return place;
}

// Returns the element's C-order number.
Value number_of(Builder& k, const Axes& axes, ParamRef Axis::* extent, Value plane,
                const Coordinates& at) {
  Value number = plane;
  for (std::size_t axis = 0; axis < kPoolAxes; ++axis)
    number = number * k.read(axes[axis].*extent) + at[axis];
  return number;
}

// Runs the body for each coordinate from `first` up to, but without, `end` in every axis.
void each(Builder& k, const Coordinates& first, const Coordinates& end,
          const std::function<void(const Coordinates&)>& body, std::vector<Value> at = {}) {
  const std::size_t axis = at.size();
  if (axis == kPoolAxes) {
    body({at[0], at[1], at[2]});
    return;
  }
  const LocalRef i = k.local("i" + std::to_string(axis), first[axis]);
  at.push_back(k.read(i));
  k.while_(
      k.read(i) < end[axis], [&] { each(k, first, end, body, at); },
      [&] { k.set(i, k.read(i) + integer(k, 1)); });
}

// Runs the body for each element of the data that lies in the window of a result.
void each_of_window(Builder& k, const Axes& axes, const Coordinates& result,
                    const std::function<void(const Coordinates&, Value tap)>& body) {
  Coordinates first, end, start;
  for (std::size_t axis = 0; axis < kPoolAxes; ++axis) {
    const Axis& a = axes[axis];
    start[axis] = k.read(k.local("start" + std::to_string(axis),
                                 result[axis] * k.read(a.stride) - k.read(a.padding)));
    first[axis] =
        k.read(k.local("first" + std::to_string(axis), most(k, start[axis], integer(k, 0))));
    end[axis] = k.read(k.local("end" + std::to_string(axis),
                               least(k, start[axis] + k.read(a.window), k.read(a.data))));
  }
  each(k, first, end, [&](const Coordinates& at) {
    Value tap = at[0] - start[0];
    for (std::size_t axis = 1; axis < kPoolAxes; ++axis)
      tap = tap * k.read(axes[axis].window) + (at[axis] - start[axis]);
    body(at, tap);
  });
}

// Runs the body for each result whose window contains the element at `data`. `tap` is the element's
// position in that window.
void each_result(Builder& k, const Axes& axes, const Coordinates& data,
                 const std::function<void(const Coordinates&, Value tap)>& body) {
  Coordinates first, end, moved;
  for (std::size_t axis = 0; axis < kPoolAxes; ++axis) {
    const Axis& a = axes[axis];
    const Value stride = k.read(a.stride);
    moved[axis] = k.read(k.local("moved" + std::to_string(axis), data[axis] + k.read(a.padding)));
    // The dividend is made at least 0, because the division rounds towards 0.
    const Value before = most(k, moved[axis] - k.read(a.window) + stride, integer(k, 0));
    first[axis] = k.read(k.local("first" + std::to_string(axis), before / stride));
    end[axis] = k.read(k.local("end" + std::to_string(axis),
                               least(k, moved[axis] / stride + integer(k, 1), k.read(a.result))));
  }
  each(k, first, end, [&](const Coordinates& at) {
    Value tap = moved[0] - at[0] * k.read(axes[0].stride);
    for (std::size_t axis = 1; axis < kPoolAxes; ++axis)
      tap = tap * k.read(axes[axis].window) + (moved[axis] - at[axis] * k.read(axes[axis].stride));
    body(at, tap);
  });
}

}  // namespace

DType pooled_in(DType dtype) { return dtype == DType::float16 ? DType::float32 : dtype; }

ir::Kernel make_max_pool_kernel(DType dtype) {
  Builder k("max_pool");
  k.kernel().idiom = ir::Idiom::max_pool;
  const ParamRef x = k.raw("x", dtype);
  const Axes axes = add_numbers(k);
  const ParamRef y = k.out("y", dtype);
  const ParamRef places = k.out("places", DType::int32);
  const Place result = place_of(k, axes, &Axis::result);
  const LocalRef best =
      k.local("best", k.constant(dtype, -std::numeric_limits<double>::infinity()));
  const LocalRef place = k.local("place", integer(k, -1));
  each_of_window(k, axes, result.at, [&](const Coordinates& at, Value tap) {
    const Value value =
        k.read(k.local("value", k.read_at(x, {number_of(k, axes, &Axis::data, result.plane, at)})));
    const Value larger = (value > k.read(best)) | k.apply(Op::is_nan, {value});
    const Value wins =
        (k.read(place) < integer(k, 0)) | (larger & !k.apply(Op::is_nan, {k.read(best)}));
    k.if_(wins, [&] {
      k.set(best, value);
      k.set(place, tap);
    });
  });
  k.store(y, k.read(best));
  k.store(places, k.read(place));
  return k.take();
}

ir::Kernel make_max_pool_gradient_kernel(DType dtype) {
  Builder k("max_pool_gradient");
  k.kernel().idiom = ir::Idiom::max_pool_gradient;
  const DType computed = pooled_in(dtype);
  const ParamRef gy = k.raw("gy", dtype);
  const ParamRef places = k.raw("places", DType::int32);
  const Axes axes = add_numbers(k);
  const ParamRef gx = k.out("gx", dtype);
  const Place element = place_of(k, axes, &Axis::data);
  const LocalRef sum = k.local("sum", k.constant(computed, 0));
  each_result(k, axes, element.at, [&](const Coordinates& at, Value tap) {
    const Value number =
        k.read(k.local("number", number_of(k, axes, &Axis::result, element.plane, at)));
    k.if_(k.read_at(places, {number}) == tap,
          [&] { k.set(sum, k.read(sum) + k.convert(computed, k.read_at(gy, {number}))); });
  });
  k.store(gx, k.convert(dtype, k.read(sum)));
  return k.take();
}

ir::Kernel make_mean_pool_kernel(DType dtype) {
  Builder k("mean_pool");
  k.kernel().idiom = ir::Idiom::mean_pool;
  const DType computed = pooled_in(dtype);
  const ParamRef x = k.raw("x", dtype);
  const Axes axes = add_numbers(k);
  const ParamRef share = k.scalar("share", computed);
  const ParamRef y = k.out("y", dtype);
  const Place result = place_of(k, axes, &Axis::result);
  const LocalRef sum = k.local("sum", k.constant(computed, 0));
  each_of_window(k, axes, result.at, [&](const Coordinates& at, Value) {
    const Value value = k.read_at(x, {number_of(k, axes, &Axis::data, result.plane, at)});
    k.set(sum, k.read(sum) + k.convert(computed, value));
  });
  k.store(y, k.convert(dtype, k.read(sum) * k.read(share)));
  return k.take();
}

ir::Kernel make_mean_pool_gradient_kernel(DType dtype) {
  Builder k("mean_pool_gradient");
  k.kernel().idiom = ir::Idiom::mean_pool_gradient;
  const DType computed = pooled_in(dtype);
  const ParamRef gy = k.raw("gy", dtype);
  const Axes axes = add_numbers(k);
  const ParamRef share = k.scalar("share", computed);
  const ParamRef gx = k.out("gx", dtype);
  const Place element = place_of(k, axes, &Axis::data);
  const LocalRef sum = k.local("sum", k.constant(computed, 0));
  each_result(k, axes, element.at, [&](const Coordinates& at, Value) {
    const Value value = k.read_at(gy, {number_of(k, axes, &Axis::result, element.plane, at)});
    k.set(sum, k.read(sum) + k.convert(computed, value));
  });
  k.store(gx, k.convert(dtype, k.read(sum) * k.read(share)));
  return k.take();
}

}  // namespace arraycore::ops
