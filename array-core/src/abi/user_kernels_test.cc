// Tests users' kernels on the CPU back end: types, loops, outputs, and the cost of a repeated call.
// Also tests kernels in a device's own language, with a device that only records them.
#include "operations/kernels/user_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "abi/calls/context.h"
#include "backend/cpu/cpu_backend.h"
#include "ir/builder.h"
#include "testing/fake_device.h"

namespace arraycore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string fields(std::initializer_list<std::string_view> texts) {
  std::string all;
  for (const std::string_view text : texts) {
    all += text;
    all += '\0';
  }
  return all;
}
std::string elementwise(std::string_view in, std::string_view out, std::string_view operation,
                        std::string_view preamble = "") {
  return fields({"k", in, out, operation, preamble, "", ""});
}

// A device that accepts WGSL and records its launches.
class RecordingDevice final : public FakeDevice {
 public:
  Result<KernelId> prepare_raw(const RawText& text) override {
    texts.push_back(text);
    return static_cast<KernelId>(texts.size() - 1);
  }
  // Writes 7 to each word that the kernel is allowed to write.
  Status launch_raw(const RawLaunch& launch) override {
    raw_launches.push_back(launch);
    for (std::size_t k = 0; k < launch.bindings.size(); ++k) {
      if ((texts[launch.kernel].read_write_mask >> k & 1U) == 0) continue;
      const std::array<float, 2> sevens{7, 7};
      if (const Status up = upload(launch.bindings[k], 0, std::as_bytes(std::span(sevens))); !up)
        return up;
    }
    return Done{};
  }

  std::vector<RawText> texts;
  std::vector<RawLaunch> raw_launches;
};

struct UserKernelsTest : testing::Test {
  explicit UserKernelsTest(std::unique_ptr<Backend> device = nullptr)
      : context(make_cpu_backend(), std::move(device), arrays, std::nullopt) {}

  Array array(const std::vector<float>& values, const Dims& shape) {
    return made(DType::float32, shape, values.data());
  }
  Array array(const std::vector<float>& values) {
    return array(values, {static_cast<std::int64_t>(values.size())});
  }
  Array made(DType dtype, const Dims& shape, const void* elements) {
    auto array = context.launcher().allocate(dtype, shape);
    EXPECT_TRUE(array);
    EXPECT_TRUE(context.launcher().upload(*array, elements));
    return *array;
  }
  template <typename T = float>
  std::vector<T> values(const Array& array) {
    std::vector<T> out(static_cast<std::size_t>(array.view.count()));
    const Status read = context.launcher().download(array, std::as_writable_bytes(std::span(out)));
    EXPECT_TRUE(read) << read.error().message;
    return out;
  }
  static KernelArgument of(const Array& array) {
    KernelArgument argument;
    argument.value.array = &array;
    return argument;
  }
  static KernelArgument of(double value) {
    KernelArgument argument;
    argument.value.python = PythonScalar::floating;
    argument.value.value = ir::put(value);
    return argument;
  }
  static KernelArgument whole(std::int64_t value) {
    KernelArgument argument;
    argument.value.python = PythonScalar::integer;
    argument.value.integer = {value < 0, static_cast<std::uint64_t>(value < 0 ? -value : value),
                              false};
    argument.value.value = ir::put(static_cast<double>(value));
    return argument;
  }
  KernelNumber add(KernelKind kind, const std::string& texts) {
    const auto number = kernels().add(kind, texts);
    EXPECT_TRUE(number) << number.error().message;
    return number ? *number : -1;
  }
  KernelNumber add(const std::string& texts) { return add(KernelKind::elementwise, texts); }
  Result<std::vector<Array>> call(KernelNumber kernel, std::vector<KernelArgument> in,
                                  std::vector<const Array*> out = {},
                                  std::optional<std::int64_t> size = std::nullopt) {
    return kernels().run(UserKernels::Elementwise{kernel, size, in, out});
  }
  UserKernels& kernels() { return context.kernels(); }

  ArrayTable arrays;
  Context context;
};

// A program: y = floor(x / n), rounded down, for int32.
constexpr const char* kProgram =
    "inputs 2\n"
    "param x int32 elementwise read plain -1\n"
    "param n int32 scalar read plain -1\n"
    "param y int32 elementwise write plain -1\n"
    "expr param int32 0 0 0\n"
    "expr param int32 1 0 0\n"
    "expr floor_divide int32 - 0 0 0 1\n"
    "stmt store 2 2 - -\n"
    "block 0\n"
    "body 0\n";

TEST_F(UserKernelsTest, AProgramIsCalledAsAnElementwiseKernel) {
  const KernelNumber kernel = add(KernelKind::program, fields({"floor", kProgram}));
  EXPECT_EQ(kernels().kind_of(kernel).value(), KernelKind::elementwise);
  const std::array<std::int32_t, 3> numbers{-3, 3, 4};
  const Array x = made(DType::int32, {3}, numbers.data());
  const auto y = call(kernel, {of(x), whole(2)});
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_THAT(values<std::int32_t>(y->front()), ElementsAre(-2, 1, 2));
  // The program was written for these types, and for a number in this place.
  EXPECT_EQ(call(kernel, {of(array({1})), whole(2)}).error().code, "kernel_arguments");
  EXPECT_EQ(call(kernel, {of(x), of(x)}).error().code, "kernel_arguments");
  EXPECT_EQ(call(kernel, {of(x)}).error().code, "kernel_arguments");
}

TEST_F(UserKernelsTest, AProgramThatBreaksARuleIsRefusedWhenItIsAdded) {
  const std::string program = kProgram;
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = program;
    changed.replace(changed.find(from), from.size(), to);
    const auto added = kernels().add(KernelKind::program, fields({"floor", changed}));
    return added ? std::string("added") : added.error().code;
  };
  EXPECT_EQ(refused("0 0 0 1", "0 0 0 2"), "bad_kernel");       // uses itself
  EXPECT_EQ(refused("inputs 2", "inputs 3"), "bad_kernel");     // an input is written
  EXPECT_EQ(refused("inputs 2", "inputs 1"), "bad_kernel");     // an output is only read
  EXPECT_EQ(refused("floor_divide", "divided"), "bad_kernel");  // no operation
  EXPECT_EQ(refused("store 2 2", "store 0 2"), "bad_kernel");   // stores to an input
  EXPECT_EQ(refused("body 0\n", "body 7\n"), "bad_kernel");     // no block
  EXPECT_EQ(kernels().add(KernelKind::program, "no end").error().code, "bad_call");
}

TEST_F(UserKernelsTest, LettersAreBoundAndScalarsTakeWhatTheyStandFor) {
  const KernelNumber axpy = add(elementwise("T a, T x, T y", "T z", "z = a * x + y"));
  const Array x = array({1, 2, 3}), y = array({10, 20, 30});
  const auto z = call(axpy, {of(0.5), of(x), of(y)});
  ASSERT_TRUE(z) << z.error().message;
  ASSERT_EQ(z->size(), 1U);
  EXPECT_EQ(z->front().dtype, DType::float32);
  EXPECT_THAT(values(z->front()), ElementsAre(10.5F, 21, 31.5F));
  const std::array<std::int32_t, 2> whole_numbers{3, 4};
  const Array i = made(DType::int32, {2}, whole_numbers.data());
  const auto w = call(axpy, {whole(-2), of(i), of(i)});
  ASSERT_TRUE(w) << w.error().message;
  EXPECT_THAT(values<std::int32_t>(w->front()), ElementsAre(-3, -4));
  EXPECT_EQ(call(axpy, {of(x), of(i), of(i)}).error().code, "kernel_arguments");
  EXPECT_EQ(call(axpy, {whole(std::int64_t{1} << 40), of(i), of(i)}).error().code,
            "scalar_out_of_bounds");
}

TEST_F(UserKernelsTest, EqualTextsAreOneKernelAndEqualTypesOneCompilation) {
  const std::string texts = elementwise("T x", "T y", "y = x * x");
  const KernelNumber kernel = add(texts);
  EXPECT_EQ(add(texts), kernel);
  EXPECT_NE(add(elementwise("T x", "T y", "y = x + x")), kernel);
  const Array x = array({1, 2, 3});
  // Each compilation gets a new number, so an unchanged number shows that nothing was compiled.
  ASSERT_TRUE(call(kernel, {of(x)}));
  const auto prepared = [this] {
    ir::Builder builder("one");
    builder.store(builder.out("y", DType::float32), builder.constant(DType::float32, 1));
    return context.launcher().prepare(builder.take());
  };
  const auto before = prepared();
  ASSERT_TRUE(call(kernel, {of(x)}));
  const auto after = prepared();
  EXPECT_EQ(*after, *before + 1);
}

TEST_F(UserKernelsTest, InputsAndOutputsBroadcastToOneLoop) {
  const KernelNumber sum = add(elementwise("T x, T y", "T z", "z = x + y"));
  const Array column = array({1, 2}, {2, 1}), row = array({10, 20, 30}, {1, 3});
  const auto z = call(sum, {of(column), of(row)});
  ASSERT_TRUE(z);
  EXPECT_EQ(z->front().view.shape, (Dims{2, 3}));
  EXPECT_THAT(values(z->front()), ElementsAre(11, 21, 31, 12, 22, 32));
  const Array out = array({0, 0, 0, 0, 0, 0}, {2, 3}), small = array({0, 0, 0});
  const auto given = call(sum, {of(column), of(1.0)}, {&out});
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_TRUE(given->empty());
  EXPECT_THAT(values(out), ElementsAre(2, 2, 2, 3, 3, 3));
  EXPECT_EQ(call(sum, {of(column), of(row)}, {&small}).error().code, "out_shape");
  EXPECT_EQ(call(sum, {of(array({1, 2})), of(array({1, 2, 3}))}).error().code,
            "shapes_do_not_broadcast");
  const Array repeated{DType::float32, {{2, 3}, {0, 4}, 0}, small.storage};
  EXPECT_EQ(call(sum, {of(column), of(row)}, {&repeated}).error().code, "read_only");
}

TEST_F(UserKernelsTest, OutputsMayOverlapInputs) {
  const KernelNumber next = add(elementwise("T x", "T y", "y = x + 1"));
  const Array all = array({1, 2, 3, 4});
  const Array head{DType::float32, {{3}, {4}, 0}, all.storage};
  const Array tail{DType::float32, {{3}, {4}, 4}, all.storage};
  ASSERT_TRUE(call(next, {of(head)}, {&tail}));
  EXPECT_THAT(values(all), ElementsAre(1, 2, 3, 4));
}

TEST_F(UserKernelsTest, RawArraysNeedASizeAndTakeOne) {
  const KernelNumber take = add(elementwise("raw T x, raw int32 at", "T y", "y = x[at[i]]"));
  const std::array<std::int32_t, 2> places{2, 0};
  const Array x = array({5, 6, 7}), at = made(DType::int32, {2}, places.data());
  EXPECT_EQ(call(take, {of(x), of(at)}).error().code, "loop_undecided");
  const auto y = call(take, {of(x), of(at)}, {}, 2);
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_THAT(values(y->front()), ElementsAre(7, 5));
  EXPECT_TRUE(call(take, {of(x), of(at)}, {}, 0)->front().view.shape == (Dims{0}));
  EXPECT_EQ(call(take, {of(x), of(at)}, {}, -1).error().kind, ErrorKind::value);
  EXPECT_EQ(call(take, {of(x), of(at)}, {&x}, 3).error().code, "kernel_size");
  const KernelNumber walk = add(elementwise("raw T x", "raw T y", "y[0] = x[i]"));
  EXPECT_EQ(call(walk, {of(x)}, {&x}, std::int64_t{1} << 31).error().code, "loop_too_long");
  const KernelNumber twice = add(elementwise("T x", "T y", "y = x"));
  EXPECT_EQ(call(twice, {of(x)}, {}, 3).error().code, "kernel_size");
  EXPECT_EQ(call(twice, {of(1.0)}).error().code, "kernel_arguments");
}

TEST_F(UserKernelsTest, ACallIsOneLaunchAndAnEmptyOneNone) {
  const KernelNumber both = add(elementwise("T x", "T y, int8 z", "y = x; z = x > 1"));
  const Array x = array({1, 2}), none = array({});
  const auto made = call(both, {of(x)});
  ASSERT_TRUE(made);
  EXPECT_EQ(context.counters().dispatches, 1);
  EXPECT_THAT(values<std::int8_t>((*made)[1]), ElementsAre(0, 1));
  ASSERT_TRUE(call(both, {of(none)}));
  EXPECT_EQ(context.counters().dispatches, 1);
}

TEST_F(UserKernelsTest, ATextsErrorIsTheCallsAndNamesItsPlace) {
  const KernelNumber kernel = add(elementwise("T x", "T y", "y = x +\n  wrong"));
  const Array x = array({1});
  const auto made = call(kernel, {of(x)});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::compile);
  EXPECT_THAT(made.error().message, HasSubstr("kernel 'k', operation, line 2, column 3"));
  const auto params = kernels().add(KernelKind::elementwise, elementwise("T", "T y", ""));
  EXPECT_EQ(params.error().code, "kernel_params");
  const auto twice = kernels().add(KernelKind::elementwise, elementwise("T x", "T x", ""));
  EXPECT_EQ(twice.error().code, "kernel_params");
  EXPECT_EQ(kernels().add(KernelKind::elementwise, "no end").error().code, "bad_call");
}

TEST_F(UserKernelsTest, KernelsOfManyParametersKeepTheirTypesApart) {
  std::string in = "T x0";
  for (int k = 1; k < 20; ++k) in += ", T x" + std::to_string(k);
  const KernelNumber kernel = add(elementwise(in + ", S last", "S y", "y = last + x0"));
  const Array x = array({1, 2});
  std::vector<KernelArgument> arguments(20, of(x));
  arguments.push_back(of(x));
  const auto floats = call(kernel, arguments);
  ASSERT_TRUE(floats) << floats.error().message;
  const std::array<std::int32_t, 2> numbers{5, 6};
  const Array whole_numbers = made(DType::int32, {2}, numbers.data());
  arguments.back() = of(whole_numbers);
  const auto mixed = call(kernel, arguments);
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_EQ(mixed->front().dtype, DType::int32);
  EXPECT_THAT(values<std::int32_t>(mixed->front()), ElementsAre(6, 8));
  EXPECT_EQ(call(kernel, {of(x)}).error().code, "kernel_arguments");
}

TEST_F(UserKernelsTest, AKernelOfALibraryThatWasClosedIsUnknown) {
  const KernelNumber old = add(elementwise("T x", "T y", "y = x"));
  ArrayTable others;
  Context next(make_cpu_backend(), nullptr, others, std::nullopt);
  EXPECT_EQ(next.kernels().kind_of(old).error().code, "unknown_kernel");
  const auto young = next.kernels().add(KernelKind::elementwise, elementwise("T x", "T y", "y=-x"));
  EXPECT_NE(*young, old);
  EXPECT_FALSE(kernels().kind_of(*young));
}

// ---- reductions

struct ReductionTest : UserKernelsTest {
  Result<std::vector<Array>> reduce(KernelNumber kernel, std::vector<KernelArgument> in,
                                    std::optional<Dims> axes = std::nullopt, bool keep = false,
                                    std::vector<const Array*> out = {}) {
    return kernels().run(UserKernels::Reduction{kernel, std::move(axes), keep, in, out});
  }
  KernelNumber sum(std::string_view identity = "0") {
    return add(KernelKind::reduction,
               fields({"total", "T x, T w", "T y", "x * w", "a + b", "y = a", identity, "", ""}));
  }
};

TEST_F(ReductionTest, AxesAreReducedAndKeptAsAsked) {
  const Array x = array({1, 2, 3, 4, 5, 6}, {2, 3});
  const KernelNumber kernel = sum();
  const auto all = reduce(kernel, {of(x), of(2.0)});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->front().view.shape, Dims{});
  EXPECT_THAT(values(all->front()), ElementsAre(42));
  const auto rows = reduce(kernel, {of(x), of(1.0)}, Dims{-1});
  EXPECT_EQ(rows->front().view.shape, (Dims{2}));
  EXPECT_THAT(values(rows->front()), ElementsAre(6, 15));
  const auto kept = reduce(kernel, {of(x), of(1.0)}, Dims{0}, true);
  EXPECT_EQ(kept->front().view.shape, (Dims{1, 3}));
  EXPECT_THAT(values(kept->front()), ElementsAre(5, 7, 9));
  const auto none = reduce(kernel, {of(x), of(1.0)}, Dims{});
  EXPECT_THAT(values(none->front()), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(context.counters().dispatches, 4);
}

TEST_F(ReductionTest, InputsBroadcastAndOutputsMayBePassed) {
  const Array x = array({1, 2, 3, 4, 5, 6}, {2, 3}), w = array({1, 10, 100});
  const Array out = array({0, 0}), kept = array({0, 0}, {2, 1});
  const KernelNumber kernel = sum();
  ASSERT_TRUE(reduce(kernel, {of(x), of(w)}, Dims{1}, false, {&out}));
  EXPECT_THAT(values(out), ElementsAre(321, 654));
  ASSERT_TRUE(reduce(kernel, {of(x), of(w)}, Dims{1}, true, {&kept}));
  EXPECT_THAT(values(kept), ElementsAre(321, 654));
  EXPECT_EQ(reduce(kernel, {of(x), of(w)}, Dims{1}, false, {&kept}).error().code, "out_shape");
  EXPECT_EQ(reduce(kernel, {of(x), of(w)}, Dims{1}, true, {&out}).error().code, "out_shape");
}

TEST_F(ReductionTest, AxesThatAreNotThereAreNamed) {
  const Array x = array({1, 2}, {1, 2});
  const KernelNumber kernel = sum();
  EXPECT_EQ(reduce(kernel, {of(x), of(1.0)}, Dims{2}).error().code, "axis_out_of_bounds");
  EXPECT_EQ(reduce(kernel, {of(x), of(1.0)}, Dims{1, -1}).error().code, "repeated_axis");
  EXPECT_EQ(reduce(kernel, {of(1.0), of(1.0)}).error().code, "kernel_arguments");
}

TEST_F(ReductionTest, NothingReducedIsTheIdentityOrAnError) {
  const Array none = array({}, {2, 0});
  const auto zeros = reduce(sum(), {of(none), of(1.0)}, Dims{1});
  ASSERT_TRUE(zeros) << zeros.error().message;
  EXPECT_THAT(values(zeros->front()), ElementsAre(0, 0));
  EXPECT_EQ(reduce(sum(""), {of(none), of(1.0)}, Dims{1}).error().code, "empty_reduction");
  const auto rowless = reduce(sum(""), {of(none), of(1.0)}, Dims{0});
  ASSERT_TRUE(rowless) << rowless.error().message;
  EXPECT_EQ(rowless->front().view.shape, (Dims{0}));
}

// ---- WGSL

struct RawKernelTest : UserKernelsTest {
  RawKernelTest() : RawKernelTest(std::make_unique<RecordingDevice>()) {}
  explicit RawKernelTest(std::unique_ptr<RecordingDevice> made)
      : UserKernelsTest(nullptr),
        device(made.get()),
        library(make_cpu_backend(), std::move(made), held, std::nullopt) {}

  static constexpr std::string_view kText = R"(
struct Block { count: u32, shift: i32, factor: vec2f }
@group(0) @binding(9) var<uniform> block: Block;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage> x: array<f32>;
@compute @workgroup_size(64) fn scale() {})";

  KernelNumber raw(std::string_view text = kText) {
    const auto number = library.kernels().add(KernelKind::raw, fields({"scale", text}));
    EXPECT_TRUE(number) << number.error().message;
    return number ? *number : -1;
  }
  Array floats(const std::vector<float>& elements) {
    auto made =
        library.launcher().allocate(DType::float32, {static_cast<std::int64_t>(elements.size())});
    EXPECT_TRUE(library.launcher().upload(*made, elements.data()));
    return *made;
  }
  std::vector<float> read(const Array& array) {
    std::vector<float> out(static_cast<std::size_t>(array.view.count()));
    EXPECT_TRUE(library.launcher().download(array, std::as_writable_bytes(std::span(out))));
    return out;
  }
  Status run(KernelNumber kernel, const std::vector<KernelArgument>& arguments,
             std::array<std::uint32_t, 3> groups = {1, 1, 1},
             std::optional<std::span<const std::uint32_t>> uniforms = std::nullopt) {
    return library.kernels().run(UserKernels::Raw{kernel, groups, uniforms, arguments});
  }
  static std::uint32_t bits(float value) {
    std::uint32_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    return word;
  }

  RecordingDevice* device;
  ArrayTable held;
  Context library;
};

TEST_F(RawKernelTest, ArraysAndNumbersGoWhereTheTextDeclaresThem) {
  const KernelNumber kernel = raw();
  const Array x = floats({1, 2}), y = floats({0, 0});
  const std::vector<KernelArgument> arguments{of(x), whole(2), whole(-3), of(1.5), of(0.25), of(y)};
  const Status launched = run(kernel, arguments, {4, 2, 1});
  ASSERT_TRUE(launched) << launched.error().message;
  ASSERT_TRUE(run(kernel, arguments));
  ASSERT_EQ(device->texts.size(), 1U) << "a kernel is prepared once";
  EXPECT_EQ(device->texts[0].name, "scale");
  EXPECT_EQ(device->texts[0].uniform_bytes, 16U);
  EXPECT_EQ(device->texts[0].bindings, 2U);
  EXPECT_EQ(device->texts[0].read_write_mask, 2U);
  const RawLaunch& launch = device->raw_launches.at(0);
  EXPECT_THAT(launch.groups, ElementsAre(4, 2, 1));
  EXPECT_THAT(launch.bindings, ElementsAre(x.storage->id(), y.storage->id()));
  EXPECT_THAT(launch.uniforms,
              ElementsAre(2, static_cast<std::uint32_t>(-3), bits(1.5F), bits(0.25F)));
  EXPECT_THAT(read(y), ElementsAre(7, 7));
}

TEST_F(RawKernelTest, TheUniformBlockMayBeGivenAsItsBytes) {
  const Array x = floats({1, 2}), y = floats({0, 0});
  const std::array<std::uint32_t, 4> words{1, 2, 3, 4};
  const KernelNumber kernel = raw();
  ASSERT_TRUE(run(kernel, {of(x), of(y)}, {1, 1, 1}, words));
  EXPECT_THAT(device->raw_launches.at(0).uniforms, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(run(kernel, {of(x), of(y)}, {1, 1, 1}, std::span(words).first(3)).error().code,
            "uniform_size");
  EXPECT_EQ(run(kernel, {of(x), of(y), whole(1)}, {1, 1, 1}, words).error().code,
            "kernel_arguments");
}

TEST_F(RawKernelTest, PartsOfArraysAreBoundAsCopiesAndWrittenBack) {
  const Array x = floats({1, 2}), all = floats({1, 2, 3, 4});
  const Array every_other{DType::float32, {{2}, {8}, 4}, all.storage};
  ASSERT_TRUE(run(raw(), {of(x), whole(0), whole(0), of(0.0), of(0.0), of(every_other)}));
  EXPECT_NE(device->raw_launches.at(0).bindings.at(1), all.storage->id());
  EXPECT_THAT(read(all), ElementsAre(1, 7, 3, 7));
}

TEST_F(RawKernelTest, AnArrayThatIsReadAndWrittenIsReadFromACopy) {
  const Array x = floats({1, 2});
  const std::array<std::uint32_t, 4> words{};
  ASSERT_TRUE(run(raw(), {of(x), of(x)}, {1, 1, 1}, words));
  EXPECT_NE(device->raw_launches.at(0).bindings.at(0), x.storage->id());
  EXPECT_EQ(device->raw_launches.at(0).bindings.at(1), x.storage->id());
  const KernelNumber writes_two = raw(R"(
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1) fn scale() {})");
  EXPECT_EQ(run(writes_two, {of(x), of(x)}).error().code, "kernel_overlap");
  const Array first{DType::float32, {{1}, {4}, 0}, x.storage};
  const Array second{DType::float32, {{1}, {4}, 4}, x.storage};
  EXPECT_EQ(run(writes_two, {of(x), of(second)}).error().code, "kernel_overlap");
  const Array pair = floats({1, 2, 3, 4});
  const Array head{DType::float32, {{2}, {4}, 0}, pair.storage};
  const Array tail{DType::float32, {{2}, {4}, 8}, pair.storage};
  ASSERT_TRUE(run(writes_two, {of(head), of(tail)}));
  EXPECT_THAT(read(pair), ElementsAre(7, 7, 7, 7));
}

TEST_F(RawKernelTest, WhatDoesNotFitTheTextIsRefusedBeforeAnythingHappens) {
  const KernelNumber kernel = raw();
  const Array x = floats({1, 2}), y = floats({0, 0});
  const auto code = [&](const std::vector<KernelArgument>& arguments) {
    const Status status = run(kernel, arguments);
    return status ? std::string("none") : status.error().code + ": " + status.error().message;
  };
  EXPECT_THAT(code({of(x), whole(1), whole(1), of(1.0), of(1.0)}),
              HasSubstr("it binds 2 arrays ('x', 'y'), and 1 were given"));
  EXPECT_THAT(code({of(x), of(y), of(y), whole(1), whole(1), of(1.0), of(1.0)}),
              HasSubstr("3 were given"));
  EXPECT_THAT(code({of(x), of(y), whole(1)}), HasSubstr("holds 4 numbers, and 1 were given"));
  EXPECT_THAT(code({of(x), of(y), of(1.0), whole(1), of(1.0), of(1.0)}),
              HasSubstr("number 1 of the uniform block is uint32"));
  EXPECT_THAT(code({of(x), of(y), whole(-1), whole(1), of(1.0), of(1.0)}),
              HasSubstr("scalar_out_of_bounds"));
  KernelArgument borrowed = of(y);
  borrowed.borrowed = true;
  EXPECT_THAT(code({of(x), borrowed, whole(1), whole(1), of(1.0), of(1.0)}),
              HasSubstr("it writes 'y'"));
  auto wide = library.launcher().allocate(DType::float64, {2});
  EXPECT_THAT(code({of(*wide), of(y), whole(1), whole(1), of(1.0), of(1.0)}),
              HasSubstr("'x' is float64"));
  EXPECT_TRUE(device->raw_launches.empty());
  EXPECT_EQ(run(kernel, {of(x), of(y), whole(1), whole(1), whole(1), of(1.0)}, {0, 1, 1}).ok(),
            true);
  EXPECT_TRUE(device->raw_launches.empty()) << "no workgroups, no launch";
}

TEST_F(RawKernelTest, TheCpuRunsNoWgsl) {
  const KernelNumber kernel = kernels().add(KernelKind::raw, fields({"scale", kText})).value();
  const Status status = kernels().run(UserKernels::Raw{kernel, {1, 1, 1}, std::nullopt, {}});
  EXPECT_EQ(status.error().code, "no_raw_kernels");
  EXPECT_EQ(kernels().add(KernelKind::raw, fields({"scale", "fn"})).error().code, "raw_text");
}

}  // namespace
}  // namespace arraycore
