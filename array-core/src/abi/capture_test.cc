// Tests captured steps that use a library's arrays. Playing a capture computes what the step would
// compute, an error says how two recordings differ, and all memory is freed at the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "abi/calls/calls.h"
#include "abi/calls/context.h"
#include "abi/calls/ufuncs.h"
#include "arraycore/arraycore.h"
#include "backend/cpu/cpu_backend.h"
#include "runtime/capture/captures.h"
#include "testing/fake_device.h"
#include "testing/recorded_ring.h"

namespace arraycore::capture {
namespace {

using Step = std::function<void()>;

// A library with short functions for the operations of these tests.
struct Library {
  explicit Library(std::unique_ptr<Backend> device = nullptr)
      : context(make_cpu_backend(), std::move(device), arrays, std::nullopt) {}

  ArrayId array(const std::vector<float>& values) {
    const Dims shape{static_cast<std::int64_t>(values.size())};
    return context.create(DType::float32, shape, values.data()).value();
  }
  std::vector<float> values(ArrayId id) {
    std::vector<float> out(static_cast<std::size_t>(context.describe(id)->view.count()));
    EXPECT_TRUE(context.read(id, std::as_writable_bytes(std::span(out))));
    return out;
  }
  ArrayId binary(std::string_view name, ArrayId a, ArrayId b) {
    return calls::binary(context, ops::find(name).value(), a, b).value();
  }
  ArrayId scaled(ArrayId a, double factor) {
    return calls::binary_scalar(context, ops::find("multiply").value(), a, factor, AC_PYTHON_FLOAT,
                                false)
        .value();
  }
  void assign(ArrayId target, ArrayId source) {
    const Array to = **context.get(target);
    const Array from = **context.get(source);
    EXPECT_TRUE(context.launcher().assign(to, from));
  }
  void free(std::vector<ArrayId> ids) { EXPECT_TRUE(context.let_go(ids)); }
  Captures& captures() { return context.captures(); }
  void record(const Step& step) {
    ASSERT_TRUE(captures().begin());
    step();
    ASSERT_TRUE(captures().end());
  }
  // Records the two steps and compares the recordings. Returns the code of compare()'s error, or
  // "".
  std::string compared(const Step& first, const Step& second) {
    record(first);
    record(second);
    const auto same = captures().compare();
    return same ? "" : same.error().code;
  }
  std::int32_t captured(const Step& step) {
    EXPECT_EQ(compared(step, step), "");
    const auto number = captures().build({});
    EXPECT_TRUE(number) << (number ? "" : number.error().message);
    return number ? *number : 0;
  }
  void play(std::int32_t number, std::vector<std::uint64_t> with = {}) {
    const Status done = captures().play(number, with);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
  }

  ArrayTable arrays;
  Context context;
};

struct CaptureTest : testing::Test, Library {
  ArrayId x = array({1, 2, 3});
  ArrayId state = array({0, 0, 0});
  // Returns a step that computes state += x * factor.
  Step adds(double factor) {
    return [this, factor] {
      const ArrayId part = scaled(x, factor);
      const ArrayId sum = binary("add", state, part);
      assign(state, sum);
      free({part, sum});
    };
  }
};

TEST_F(CaptureTest, APlayDoesWhatTheStepDoes) {
  const std::int32_t number = captured(adds(2));
  EXPECT_EQ(values(state), (std::vector<float>{4, 8, 12}));
  play(number);
  play(number);
  EXPECT_EQ(values(state), (std::vector<float>{8, 16, 24}));
  assign(x, array({10, 10, 10}));  // the step must read what is there now
  play(number);
  EXPECT_EQ(values(state), (std::vector<float>{28, 36, 44}));
}

TEST_F(CaptureTest, WhatAStepLeavesHoldsTheNewestPlaysResult) {
  ArrayId result = 0;
  const Step doubles = [&] {
    if (result != 0) free({result});
    result = scaled(x, 2);
  };
  const std::int32_t number = captured(doubles);
  assign(x, array({5, 6, 7}));
  EXPECT_EQ(values(result), (std::vector<float>{2, 4, 6}));
  play(number);
  EXPECT_EQ(values(result), (std::vector<float>{10, 12, 14}));
  captures().close(number);
  EXPECT_EQ(values(result), (std::vector<float>{10, 12, 14})) << "it outlives the capture";
}

TEST_F(CaptureTest, WhatWaitsBetweenPlaysReadsWhatWasThereBefore) {
  ASSERT_TRUE(context.launcher().set_fusing(true));
  const std::int32_t number = captured(adds(1));
  const ArrayId before = scaled(state, 10);
  play(number);
  EXPECT_EQ(values(before), (std::vector<float>{20, 40, 60}));
  EXPECT_EQ(values(state), (std::vector<float>{3, 6, 9}));
}

TEST_F(CaptureTest, StateThatEachStepMakesAnewIsCarriedOn) {
  ArrayId held = array({1, 1, 1});
  const Step step = [&] {
    const ArrayId next = binary("add", held, x);
    free({held});
    held = next;
  };
  step();
  const std::int32_t number = captured(step);
  EXPECT_EQ(values(held), (std::vector<float>{4, 7, 10}));
  for (int i = 0; i < 3; ++i) play(number);
  EXPECT_EQ(values(held), (std::vector<float>{7, 13, 19}));
}

TEST_F(CaptureTest, ScalarsThatDifferAreGivenToEachPlay) {
  ASSERT_EQ(compared(adds(1), adds(2)), "");
  const auto differing = captures().compare();
  ASSERT_EQ(differing->size(), 1U);
  EXPECT_EQ((*differing)[0].dtype, DType::float32);
  EXPECT_EQ(ir::get<float>((*differing)[0].before), 1);
  EXPECT_EQ(ir::get<float>((*differing)[0].after), 2);
  const std::array<std::uint32_t, 1> value{0};
  const auto number = captures().build(value);
  ASSERT_TRUE(number);
  EXPECT_EQ(captures().play(*number, {}).error().code, "capture_value_count");
  play(*number, {std::bit_cast<std::uint32_t>(100.0F)});
  EXPECT_EQ(values(state), (std::vector<float>{103, 206, 309}));
}

TEST_F(CaptureTest, AScalarThatNobodyGivesIsNamed) {
  ASSERT_EQ(compared(adds(1), adds(2)), "");
  const std::array<std::uint32_t, 1> nobody{kNoValue};
  const auto refused = captures().build(nobody);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "capture_values");
  EXPECT_NE(refused.error().message.find("multiply"), std::string::npos);
}

TEST_F(CaptureTest, RefusalsTellWhatDiffers) {
  const Step reads = [&] { values(state); };
  EXPECT_EQ(compared(adds(1), reads), "capture_reads");
  const ArrayId other = array({4, 5, 6});
  const Step adds_other = [&] {
    const ArrayId part = scaled(other, 1);
    const ArrayId sum = binary("add", state, part);
    assign(state, sum);
    free({part, sum});
  };
  EXPECT_EQ(compared(adds(1), adds_other), "capture_arrays");
  const Step subtracts = [&] { free({binary("subtract", state, x)}); };
  const Step divides = [&] { free({binary("divide", state, x)}); };
  EXPECT_EQ(compared(subtracts, divides), "capture_operations");
  const Step twice = [&] {
    subtracts();
    subtracts();
  };
  EXPECT_EQ(compared(subtracts, twice), "capture_operations");
  const ArrayId longer = array({1, 2, 3, 4});
  const Step squares = [&] { free({binary("subtract", longer, longer)}); };
  EXPECT_EQ(compared(subtracts, squares), "capture_shapes");
  float value = 0;
  const Step brings = [&] {
    value += 1;
    free({array({value, 2})});
  };
  EXPECT_EQ(compared(brings, brings), "capture_uploads");
  const Step brings_the_same = [&] { free({array({1, 2})}); };
  EXPECT_EQ(compared(brings_the_same, brings_the_same), "");
}

TEST_F(CaptureTest, AnArrayOfTheSameIdIsNotTheSameArray) {
  ArrayId passing = 0;
  const Step uses = [&] {
    const ArrayId sum = binary("add", state, passing);
    assign(state, sum);
    free({sum});
  };
  passing = array({1, 1, 1});
  record(uses);
  free({passing});
  passing = array({2, 2, 2});
  record(uses);
  EXPECT_EQ(captures().compare().error().code, "capture_arrays");
}

TEST_F(CaptureTest, ArraysThatAStepUsesStayWhenTheyAreGivenBack) {
  const std::int32_t number = captured(adds(1));
  free({x});
  const ArrayId fresh = array({50, 50, 50});  // would get x's memory if that were free
  play(number);
  EXPECT_EQ(values(state), (std::vector<float>{3, 6, 9}));
  EXPECT_EQ(values(fresh), (std::vector<float>{50, 50, 50}));
}

TEST_F(CaptureTest, MisuseIsTold) {
  EXPECT_EQ(captures().end().error().code, "capture_none");
  EXPECT_EQ(captures().compare().error().code, "capture_none");
  EXPECT_EQ(captures().build({}).error().code, "capture_none");
  EXPECT_EQ(captures().play(7, {}).error().code, "capture_closed");
  const std::int32_t number = captured(adds(1));
  ASSERT_TRUE(captures().begin());
  EXPECT_EQ(captures().begin().error().code, "capture_nested");
  EXPECT_EQ(captures().play(number, {}).error().code, "capture_nested");
  captures().abort();
  captures().close(number);
  captures().close(number);
  EXPECT_EQ(captures().play(number, {}).error().code, "capture_closed");
}

TEST_F(CaptureTest, AResetEndsCaptures) {
  const std::int32_t number = captured(adds(1));
  ASSERT_TRUE(context.reset());
  EXPECT_EQ(captures().play(number, {}).error().code, "capture_closed");
}

TEST(CaptureMemory, WhatDoesNotFitTheBudgetIsNoCapture) {
  ArrayTable arrays;
  Context context(make_cpu_backend(), nullptr, arrays, 10'000);
  const std::vector<float> ones(1000, 1);
  const ArrayId x = context.create(DType::float32, {1000}, ones.data()).value();
  const auto step = [&] {
    const ArrayId sum = calls::binary(context, ops::find("add").value(), x, x).value();
    const Array to = **context.get(x);
    const Array from = **context.get(sum);
    EXPECT_TRUE(context.launcher().assign(to, from));
    EXPECT_TRUE(context.let_go(std::vector<ArrayId>{sum}));
  };
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(context.captures().begin());
    step();
    ASSERT_TRUE(context.captures().end());
  }
  ASSERT_TRUE(context.captures().compare());
  const std::vector<float> more(1000, 1);
  const ArrayId other = context.create(DType::float32, {1000}, more.data()).value();
  EXPECT_EQ(context.captures().build({}).error().code, "over_budget");
  EXPECT_TRUE(context.let_go(std::vector<ArrayId>{other}));
  const std::int64_t live = context.counters().live_bytes;
  const auto number = context.captures().build({});
  ASSERT_TRUE(number) << "it may be tried again";
  context.captures().close(*number);
  EXPECT_EQ(context.counters().live_bytes, live);
}

TEST(CaptureMemory, IsFlatOverPlaysAndGivenBack) {
  auto made = std::make_unique<FakeDevice>();
  FakeDevice& device = *made;
  Library library(std::move(made));
  ASSERT_TRUE(library.context.launcher().set_fusing(true));
  const ArrayId x = library.array(std::vector<float>(1000, 1));
  const ArrayId state = library.array(std::vector<float>(1000, 0));
  const Step step = [&] {
    std::vector<ArrayId> parts{library.scaled(x, 2)};
    for (int i = 0; i < 6; ++i) parts.push_back(library.binary("add", parts.back(), x));
    library.assign(state, parts.back());
    library.free(parts);
  };
  const int storages = device.storages;
  const std::int64_t live = library.context.counters().live_bytes;
  const std::int32_t number = library.captured(step);
  const std::int64_t captured = library.context.counters().live_bytes;
  const int held = device.storages;
  for (int i = 0; i < 1000; ++i) library.play(number);
  EXPECT_EQ(library.context.counters().live_bytes, captured);
  EXPECT_EQ(device.storages, held);
  library.captures().close(number);
  EXPECT_EQ(library.context.counters().live_bytes, live);
  EXPECT_EQ(device.storages, storages);
}

// Random programs with arrays that change in place, new arrays that are released, and arrays that
// each step passes to the next. After each step, the captured program's arrays have the same bits
// as those of the plain program.
struct Program {
  Program(Library& own, unsigned seed) : library(own), code(seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 4; ++i) {
      std::vector<float> values(6);
      for (float& value : values) value = static_cast<float>(random() % 100) / 50 - 1;
      arrays.push_back(library.array(values));
    }
  }
  void step() {
    std::mt19937 random(code);  // the same instructions in each step
    const auto pick = [&](const std::vector<ArrayId>& from) {
      return from[random() % from.size()];
    };
    std::vector<ArrayId> made;
    std::vector<ArrayId> all = arrays;
    const std::array<std::string_view, 4> names{"add", "subtract", "multiply", "maximum"};
    for (int i = 0; i < 12; ++i) {
      made.push_back(library.scaled(
          library_temporary(names[random() % names.size()], pick(all), pick(all)), 0.5));
      all.push_back(made.back());
      if (random() % 4 == 0) library.assign(pick(arrays), made.back());
      if (random() % 6 == 0) {  // carried: from now on it is another array
        const std::size_t place = random() % arrays.size();
        library.free({arrays[place]});
        std::replace(all.begin(), all.end(), arrays[place], made.back());
        arrays[place] = made.back();
        made.pop_back();
      }
    }
    library.free(temporaries);
    temporaries.clear();
    library.free(made);
  }
  ArrayId library_temporary(std::string_view name, ArrayId a, ArrayId b) {
    temporaries.push_back(library.binary(name, a, b));
    return temporaries.back();
  }

  Library& library;
  unsigned code;
  std::vector<ArrayId> arrays;
  std::vector<ArrayId> temporaries;
};

TEST(CapturePrograms, RandomOnesHaveThePlainOnesBits) {
  int captured = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const bool on_device = seed % 3 == 0;
    Library plain(on_device ? std::make_unique<FakeDevice>() : nullptr);
    Library fast(on_device ? std::make_unique<FakeDevice>() : nullptr);
    for (Library* const each : {&plain, &fast})
      ASSERT_TRUE(each->context.launcher().set_fusing(seed % 2 == 0));
    Program expected(plain, seed);
    Program program(fast, seed);
    for (int i = 0; i < 2; ++i) {
      expected.step();
      program.step();
    }
    for (int i = 0; i < 2; ++i) {
      expected.step();
      fast.record([&] { program.step(); });
    }
    const auto same = fast.captures().compare();
    if (!same) continue;  // the arrays have changed places, so the period is more than one step
    const auto number = fast.captures().build({});
    ASSERT_TRUE(number) << number.error().message;
    ++captured;
    for (int i = 0; i < 3; ++i) {
      expected.step();
      fast.play(*number);
      for (std::size_t k = 0; k < program.arrays.size(); ++k) {
        const auto got = fast.values(program.arrays[k]);
        const auto want = plain.values(expected.arrays[k]);
        ASSERT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0)
            << "array " << k << " after play " << i;
      }
    }
  }
  EXPECT_GT(captured, 60);
}

}  // namespace
}  // namespace arraycore::capture
