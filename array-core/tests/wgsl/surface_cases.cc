// Cases for random numbers and for the steps of a sort. Words and integers must have the same bits;
// floats may have the errors of their logarithms, sines and powers.
#include <array>
#include <cstring>
#include <vector>

#include "case_writer.h"
#include "ops/random.h"
#include "ops/sorting.h"

namespace arraycore::wgsl_cases {
namespace {

CaseArgument zeros(DType dtype, const Dims& shape) {
  CaseArgument argument;
  argument.view = contiguous(shape, size_of(dtype));
  argument.bytes.resize(static_cast<std::size_t>(argument.view.count()) * size_of(dtype));
  return argument;
}

CaseArgument scalar(const ir::Scalar& value) { return {{}, {}, value, -1}; }

template <typename T>
CaseArgument values(DType dtype, const Dims& shape, const std::vector<T>& elements) {
  CaseArgument argument = zeros(dtype, shape);
  std::memcpy(argument.bytes.data(), elements.data(), argument.bytes.size());
  return argument;
}

void add(CaseWriter& writer, const std::string& name, const ir::Kernel& kernel, const Dims& loop,
         std::vector<CaseArgument> arguments, codegen::Accuracy accuracy = {}) {
  if (!writer.add(name, kernel, loop, 0, std::move(arguments), accuracy))
    die(name + ": " + writer.refusal().message);
}

// Draws 203 elements, which is no multiple of the elements that one iteration draws.
void drawn(CaseWriter& writer, ops::Distribution distribution, DType dtype, const ir::Scalar& a,
           const ir::Scalar& b, codegen::Accuracy accuracy = {}) {
  constexpr std::int64_t kCount = 203;
  std::vector<CaseArgument> arguments;
  for (const std::uint32_t word : {0xa4093822U, 0x299f31d0U, 5U, 0x85a308d3U, 0x13198a2eU, 9U})
    arguments.push_back(scalar(ir::put(word)));
  arguments.push_back(scalar(a));
  arguments.push_back(scalar(b));
  if (ops::takes_array(distribution)) {
    std::vector<float> each;
    for (std::int64_t i = 0; i < kCount; ++i)
      each.push_back(ir::get<float>(a) * (1 + static_cast<float>(i % 5)));
    arguments.push_back(values(dtype, {kCount}, each));
  }
  arguments.push_back(zeros(dtype, {kCount}));
  const std::int64_t per_turn = ops::elements_per_turn(distribution, dtype);
  add(writer,
      "draw " + std::to_string(static_cast<int>(distribution)) + " " + std::string(name_of(dtype)),
      ops::random_kernel(distribution, dtype), {(kCount + per_turn - 1) / per_turn},
      std::move(arguments), accuracy);
}

void sorting_of(CaseWriter& writer, DType dtype) {
  const std::string t(name_of(dtype));
  CaseArgument source = zeros(dtype, {3, 8});
  for (std::size_t i = 0; i < source.bytes.size(); ++i)
    source.bytes[i] = static_cast<std::byte>(dtype == DType::boolean ? i % 2 : i * 37 % 251);
  const DType key = ops::sort_key(dtype);
  add(writer, "sort keys " + t, ops::encode_kernel(dtype), {3, 8},
      {source, zeros(key, {3, 8}), zeros(DType::int32, {3, 8})});
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i < 24; ++i) places.push_back(i * 5 % 8);
  add(writer, "sort gather " + t, ops::gather_kernel(dtype), {3, 8},
      {source, values(DType::int32, {3, 8}, places), zeros(dtype, {3, 8})});
}

template <typename T>
void exchanged(CaseWriter& writer, DType key) {
  std::vector<T> keys;
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i < 33; ++i) {
    keys.push_back(static_cast<T>(i * 7 % 5 - 2) * (T{1} << (8 * sizeof(T) - 5)));
    places.push_back(32 - i);
  }
  for (const ops::ExchangeStep& step : ops::exchange_steps(11))
    add(writer,
        "sort exchange " + std::string(name_of(key)) + " " + std::to_string(step.bit) + " " +
            std::to_string(step.distance),
        ops::exchange_kernel(key), {3, 11 - step.distance},
        {values(key, {3, 11}, keys), values(DType::int32, {3, 11}, places),
         scalar(ir::put(step.bit)), scalar(ir::put(step.wanted)), scalar(ir::put(step.distance)),
         scalar(ir::put(std::int32_t{11}))});
}

}  // namespace

void add_surface_cases(CaseWriter& writer) {
  using ops::Distribution;
  drawn(writer, Distribution::bits, DType::uint32, {}, {});
  for (const DType dtype : {DType::boolean, DType::int8, DType::uint16, DType::int32, DType::uint32,
                            DType::int64, DType::uint64}) {
    const std::uint64_t high = dtype == DType::boolean ? 2 : 100;
    drawn(writer, Distribution::integers, dtype, ir::put(std::uint64_t{0}), ir::put(high));
    drawn(writer, Distribution::integers_wide, dtype, ir::put(std::uint64_t{0}), ir::put(high));
    drawn(writer, Distribution::bernoulli, dtype, ir::put(std::uint64_t{1} << 30), {});
    drawn(writer, Distribution::binomial, dtype, ir::put(std::uint64_t{1} << 31),
          ir::put(std::uint64_t{dtype == DType::boolean ? 1U : 11U}));
  }
  drawn(writer, Distribution::integers_wide, DType::uint64, ir::put(std::uint64_t{7}), {});
  const ir::Scalar zero = ir::put(0.0F);
  const ir::Scalar one = ir::put(1.0F);
  drawn(writer, Distribution::uniform, DType::float32, zero, one);
  const codegen::Accuracy near{64, 1};
  for (const Distribution which :
       {Distribution::normal, Distribution::exponential, Distribution::lognormal,
        Distribution::gumbel, Distribution::laplace})
    drawn(writer, which, DType::float32, zero, one, near);
  for (const float shape : {0.25F, 7.0F})
    drawn(writer, Distribution::gamma, DType::float32, ir::put(shape), one, {256, 1});
  for (const float mean : {0.5F, 9.0F})
    drawn(writer, Distribution::poisson, DType::float32, ir::put(mean), one, {4, 1});

  for (std::size_t i = 0; i < kDTypes; ++i)
    if (on_gpu(static_cast<DType>(i))) sorting_of(writer, static_cast<DType>(i));
  exchanged<std::int32_t>(writer, DType::int32);
  exchanged<std::int64_t>(writer, DType::int64);
}

}  // namespace arraycore::wgsl_cases
