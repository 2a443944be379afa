// Compares the loops of pooling, bit for bit, with the reference interpreter on the kernels'
// bodies.
#include "cpu/nn/pooling.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "ops/pooling.h"
#include "view/shape.h"

namespace arraycore::cpu {
namespace {

using ir::Argument;

struct Axis {
  std::int32_t data, result, window, stride, padding;
};
using Axes = std::array<Axis, ops::kPoolAxes>;

template <typename T>
Argument array(std::vector<T>& data, const Dims& shape) {
  return Argument::array(data.data(), contiguous(shape, sizeof(T)));
}

void add(std::vector<Argument>& arguments, const Axes& axes) {
  for (const Axis& axis : axes)
    for (const std::int32_t number :
         {axis.data, axis.result, axis.window, axis.stride, axis.padding})
      arguments.push_back(Argument::value(DType::int32, number));
}

// Returns numbers with few different values, so that maxima repeat, and some special values.
std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::uint32_t state = 12'345;
  for (float& value : values) {
    state = state * 1'664'525U + 1'013'904'223U;
    value = static_cast<float>(state >> 28) * 0.37f - 2.0f;
    if (state >> 24 == 17) value = std::numeric_limits<float>::quiet_NaN();
    if (state >> 24 == 18) value = -std::numeric_limits<float>::infinity();
    if (state >> 24 == 19) value = -0.0f;
  }
  return values;
}

// The arguments of a kernel, over buffers that this object owns and the kernel writes.
struct Written {
  std::vector<float> floats;
  std::vector<std::int32_t> places;
  bool operator==(const Written& other) const {
    return std::memcmp(floats.data(), other.floats.data(), floats.size() * sizeof(float)) == 0 &&
           places == other.places;
  }
};

template <typename Arguments>
Written check(const ir::Kernel& kernel, const Dims& loop, Arguments arguments) {
  std::int64_t count = 1;
  for (const std::int64_t extent : loop) count *= extent;
  const auto size = static_cast<std::size_t>(count);
  Written want{std::vector<float>(size, 9), std::vector<std::int32_t>(size, 9)};
  Written got = want;
  EXPECT_TRUE(ir::interpret(kernel, {loop, 0, arguments(want)}));
  const auto done = run_pooling(kernel, {loop, 0, arguments(got)});
  EXPECT_TRUE(done && *done) << kernel.name << " has no loop";
  EXPECT_TRUE(got == want) << kernel.name;
  return got;
}

void check_all(const Axes& axes) {
  constexpr std::int64_t kPlanes = 3;
  Dims of_data{kPlanes};
  Dims of_result{kPlanes};
  std::int64_t data = kPlanes;
  std::int64_t result = kPlanes;
  for (const Axis& axis : axes) {
    of_data.push_back(axis.data);
    of_result.push_back(axis.result);
    data *= axis.data;
    result *= axis.result;
  }
  auto x = numbers(data);
  auto gy = numbers(result);
  const auto share = Argument::value(DType::float32, 0.3f);
  const Written most =
      check(ops::make_max_pool_kernel(DType::float32), of_result, [&](Written& out) {
        std::vector<Argument> arguments{array(x, of_data)};
        add(arguments, axes);
        arguments.push_back(array(out.floats, of_result));
        arguments.push_back(array(out.places, of_result));
        return arguments;
      });
  // Some of the places are changed, so that most of these lie outside their windows. A place
  // outside its window must not get a gradient.
  std::vector<std::int32_t> exact = most.places;
  std::vector<std::int32_t> places = exact;
  for (std::size_t i = 0; i < places.size(); i += 11) places[i] += i % 2 == 0 ? 1 : -400;
  for (std::vector<std::int32_t>* each : {&exact, &places})
    check(ops::make_max_pool_gradient_kernel(DType::float32), of_data, [&](Written& out) {
      std::vector<Argument> arguments{array(gy, of_result), array(*each, of_result)};
      add(arguments, axes);
      arguments.push_back(array(out.floats, of_data));
      return arguments;
    });
  check(ops::make_mean_pool_kernel(DType::float32), of_result, [&](Written& out) {
    std::vector<Argument> arguments{array(x, of_data)};
    add(arguments, axes);
    arguments.push_back(share);
    arguments.push_back(array(out.floats, of_result));
    return arguments;
  });
  check(ops::make_mean_pool_gradient_kernel(DType::float32), of_data, [&](Written& out) {
    std::vector<Argument> arguments{array(gy, of_result)};
    add(arguments, axes);
    arguments.push_back(share);
    arguments.push_back(array(out.floats, of_data));
    return arguments;
  });
}

TEST(Pooling, EqualsTheKernelsBodies) {
  constexpr Axis kFlat{1, 1, 1, 1, 0};
  check_all({kFlat, Axis{14, 7, 2, 2, 0}, Axis{10, 5, 2, 2, 0}});  // side by side
  check_all({kFlat, Axis{7, 4, 2, 2, 0}, Axis{7, 4, 2, 2, 0}});    // outside the edge
  check_all({kFlat, Axis{7, 4, 3, 2, 1}, Axis{8, 4, 3, 2, 1}});    // overlapping
  check_all({kFlat, Axis{9, 4, 3, 2, 0}, Axis{21, 10, 3, 2, 0}});  // overlapping, inside the edge
  check_all({kFlat, Axis{6, 6, 3, 1, 1}, Axis{9, 3, 2, 3, 0}});    // with gaps
  check_all({kFlat, Axis{7, 1, 7, 7, 0}, Axis{7, 1, 7, 7, 0}});    // the whole data
  check_all({kFlat, kFlat, Axis{3, 3, 1, 2, 0}});                  // an empty window at the end
  check_all({Axis{4, 2, 2, 2, 0}, Axis{5, 3, 3, 2, 1}, Axis{6, 3, 2, 2, 0}});
}

TEST(Pooling, LeavesOtherLayoutsAndDtypesToTheBody) {
  std::vector<float> x(16, 1), y(4);
  const View turned{{1, 4, 4}, {64, 4, 16}, 0};
  std::vector<Argument> arguments{Argument::array(x.data(), turned)};
  add(arguments, {Axis{1, 1, 1, 1, 0}, Axis{4, 2, 2, 2, 0}, Axis{4, 2, 2, 2, 0}});
  arguments.push_back(Argument::value(DType::float32, 0.25f));
  arguments.push_back(array(y, {1, 2, 2}));
  const ir::Launch launch{{1, 2, 2}, 0, arguments};
  EXPECT_FALSE(run_pooling(ops::make_mean_pool_kernel(DType::float32), launch).has_value());
  EXPECT_FALSE(run_pooling(ops::make_mean_pool_kernel(DType::float64), launch).has_value());
}

}  // namespace
}  // namespace arraycore::cpu
