// Compares fused kernels with their parts run one after the other, bit for bit.
#include "fuse/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "cpu/program.h"
#include "ir/builder.h"
#include "ir/interpret.h"
#include "ir/print.h"
#include "ir/random_kernel.h"
#include "ir/verify.h"

namespace arraycore::fuse {
namespace {

Wire param(std::uint32_t index) { return {Wire::Kind::param, index}; }
Wire value(std::uint32_t part) { return {Wire::Kind::value, part}; }

ir::Kernel binary(const char* name, ir::Op op, DType dtype) {
  ir::Builder k(name);
  const auto x = k.in("x", dtype);
  const auto y = k.in("y", dtype);
  const auto z = k.out("z", dtype);
  k.store(z, k.apply(op, {k.read(x), k.read(y)}));
  return k.take();
}

std::size_t count(const ir::Kernel& kernel, ir::Op op) {
  return static_cast<std::size_t>(std::count_if(kernel.exprs.begin(), kernel.exprs.end(),
                                                [op](const ir::Expr& e) { return e.op == op; }));
}

TEST(Traits, SayWhatMayStandBeforeOthers) {
  const Traits add = traits_of(binary("add", ir::Op::add, DType::float32));
  EXPECT_TRUE(add.member && add.consumer && add.simple);
  EXPECT_EQ(add.result, 2U);

  ir::Builder returns("returns");
  const auto x = returns.in("x", DType::float32);
  const auto y = returns.out("y", DType::float32);
  returns.if_(returns.read(x) > 0.0, [&] { returns.give(); });
  returns.store(y, returns.read(x));
  const Traits early = traits_of(returns.take());
  EXPECT_FALSE(early.member);
  EXPECT_TRUE(early.consumer);

  ir::Builder asks("asks");
  const auto a = asks.in("a", DType::float32);
  const auto n = asks.out("n", DType::int32);
  asks.store(n, asks.size(a));
  EXPECT_FALSE(traits_of(asks.take()).consumer);

  ir::Builder updates("updates");
  const auto both = updates.in_out("both", DType::int32);
  updates.store(both, updates.read(both) + 1.0);
  EXPECT_FALSE(traits_of(updates.take()).member);
}

TEST(Fuse, AChainIsOneStatement) {
  const ir::Kernel add = binary("add", ir::Op::add, DType::float32);
  const ir::Kernel multiply = binary("multiply", ir::Op::multiply, DType::float32);
  const std::vector<Part> parts{{&add, {param(0), param(1), value(0)}},
                                {&multiply, {value(0), param(2), param(3)}}};
  const ir::Kernel fused = fuse(name_of(parts), parts, 4);
  ASSERT_TRUE(ir::verify(fused)) << ir::print(fused);
  EXPECT_EQ(fused.name, "add+multiply");
  EXPECT_EQ(fused.locals.size(), 0U);
  EXPECT_EQ(fused.stmts.size(), 1U);
  EXPECT_EQ(fused.params[3].access, ir::Access::write);
}

TEST(Fuse, ASharedResultIsComputedOnceAndStoredWhereItIsHeld) {
  const ir::Kernel add = binary("add", ir::Op::add, DType::float32);
  const ir::Kernel multiply = binary("multiply", ir::Op::multiply, DType::float32);
  const std::vector<Part> diamond{{&add, {param(0), param(0), value(0)}},
                                  {&multiply, {value(0), value(0), param(1)}}};
  const ir::Kernel once = fuse("diamond", diamond, 2);
  ASSERT_TRUE(ir::verify(once)) << ir::print(once);
  EXPECT_EQ(count(once, ir::Op::add), 1U);

  const std::vector<Part> held{{&add, {param(0), param(0), param(2)}},
                               {&multiply, {value(0), value(0), param(1)}}};
  const ir::Kernel both = fuse("held", held, 3);
  ASSERT_TRUE(ir::verify(both)) << ir::print(both);
  EXPECT_EQ(count(both, ir::Op::add), 1U);
  std::vector<float> x{1, 2, 3}, sum(3), product(3);
  const View view = contiguous({3}, 4);
  ASSERT_TRUE(ir::interpret(
      both, {{3},
             0,
             {ir::Argument::array(x.data(), view), ir::Argument::array(product.data(), view),
              ir::Argument::array(sum.data(), view)}}));
  EXPECT_EQ(sum, (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(product, (std::vector<float>{4, 16, 36}));
}

TEST(Fuse, NarrowResultsAreRoundedAsInMemory) {
  const ir::Kernel add = binary("add", ir::Op::add, DType::uint8);
  const ir::Kernel half = binary("add", ir::Op::add, DType::float16);
  for (const auto& [kernel, dtype] :
       {std::pair(&add, DType::uint8), std::pair(&half, DType::float16)}) {
    const std::vector<Part> parts{{kernel, {param(0), param(1), value(0)}},
                                  {kernel, {value(0), param(1), param(2)}}};
    const ir::Kernel fused = fuse("fused", parts, 3);
    const auto run = [&](double a, double b) {
      ir::Scalar x = ir::scalar_of(dtype, a), y = ir::scalar_of(dtype, b), z;
      const View one = contiguous({}, 1);
      EXPECT_TRUE(ir::interpret(fused, {{},
                                        0,
                                        {ir::Argument::array(&x, one), ir::Argument::array(&y, one),
                                         ir::Argument::array(&z, one)}}));
      return z;
    };
    if (dtype == DType::uint8)
      EXPECT_EQ(ir::get<std::uint8_t>(run(200, 100)), 144);
    else  // in float16, 2048 + 1 gives 2048 again, twice
      EXPECT_EQ(run(2048, 1), ir::scalar_of(DType::float16, 2048.0));
  }
}

TEST(Fuse, WhatLiesBetweenTwoPartsIsStored) {
  for (const bool held : {false, true}) {
    for (const DType dtype : {DType::float32, DType::complex64, DType::float16, DType::int32}) {
      const ir::Kernel add = binary("add", ir::Op::add, dtype);
      const ir::Kernel multiply = binary("multiply", ir::Op::multiply, dtype);
      const std::vector<Part> parts{{&multiply, {param(0), param(1), held ? param(4) : value(0)}},
                                    {&add, {value(0), param(2), param(3)}}};
      const ir::Kernel fused = fuse("fused", parts, held ? 5 : 4);
      ASSERT_TRUE(ir::verify(fused)) << ir::print(fused);
      const bool joins = dtype == DType::float32 || dtype == DType::complex64;
      ASSERT_EQ(count(fused, ir::Op::stored), joins ? 1U : 0U) << ir::print(fused);
      if (!joins) continue;
      for (const ir::Expr& e : fused.exprs) {
        if (e.op != ir::Op::stored) continue;
        EXPECT_EQ(fused.exprs[fused.args[e.first_arg]].op, ir::Op::multiply);
      }
    }
  }
}

TEST(Fuse, ALongNameIsCutShort) {
  const ir::Kernel add = binary("add", ir::Op::add, DType::float32);
  const ir::Kernel last = binary("last", ir::Op::add, DType::float32);
  std::vector<Part> parts(20, Part{&add, {}});
  EXPECT_EQ(name_of(std::span(parts).first(4)), "add+add+add+add");
  parts.push_back({&last, {}});
  EXPECT_EQ(name_of(parts), "add+add+add+17 more+last");
}

// ---- random kernels as producers for random kernels

struct Random {
  std::mt19937_64 engine;
  // Returns elements of arbitrary bits; bools are 0 or 1.
  std::vector<std::byte> elements(DType dtype, std::int64_t count) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size_of(dtype));
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(dtype == DType::boolean ? engine() & 1 : engine() & 0xff);
    return bytes;
  }
};

// A producer, which computes one element for each element of the consumer's loop, and the
// producer's memory.
struct Producer {
  ir::Kernel kernel;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<ir::Argument> arguments;
  std::vector<std::byte> result;
};

Producer producer_of(ir::Kernel kernel, const Dims& loop, Random& random) {
  Producer made;
  const ir::Id result = traits_of(kernel).result;
  const std::int64_t elements = contiguous(loop, 1).count();
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    const ir::Param& own = kernel.params[p];
    made.bytes.push_back(random.elements(own.dtype, std::max<std::int64_t>(elements, 2)));
    ir::Argument argument;
    if (own.kind == ir::ParamKind::scalar)
      std::memcpy(static_cast<void*>(&argument.scalar), made.bytes.back().data(),
                  size_of(own.dtype));
    else
      argument.view = contiguous(loop, size_of(own.dtype));
    made.arguments.push_back(argument);
  }
  for (std::size_t p = 0; p < made.bytes.size(); ++p)
    if (kernel.params[p].kind != ir::ParamKind::scalar)
      made.arguments[p].base = made.bytes[p].data();
  made.result.assign(made.bytes[result].size(), std::byte{0});
  made.arguments[result].base = made.result.data();
  made.kernel = std::move(kernel);
  return made;
}

TEST(Fuse, RandomKernelsMeanTheSameTogether) {
  std::vector<ir::Kernel> members;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    ir::Kernel kernel = ir::random_case(seed, ir::Subset::all).kernel;
    if (traits_of(kernel).member) members.push_back(std::move(kernel));
  }
  ASSERT_GT(members.size(), 50U);
  int compared = 0;
  int reductions = 0;
  for (std::uint64_t seed = 10'000; seed < 10'600; ++seed) {
    const ir::RandomCase clean = ir::random_case(seed, ir::Subset::all);
    if (!traits_of(clean.kernel).consumer || contiguous(clean.loop, 1).count() > 2000) continue;
    Random random{std::mt19937_64(seed)};
    // Each parameter that the kernel reads gets a producer of the parameter's dtype, if one is
    // found.
    std::vector<Part> parts;
    std::vector<Producer> producers;
    std::vector<std::pair<std::size_t, std::size_t>> fed;  // parameter and producer
    for (std::size_t p = 0; p < clean.kernel.params.size(); ++p) {
      const ir::Param& own = clean.kernel.params[p];
      if (own.kind != ir::ParamKind::elementwise || own.access != ir::Access::read) continue;
      for (int tries = 0; tries < 200; ++tries) {
        const ir::Kernel& kernel = members[random.engine() % members.size()];
        if (kernel.params[traits_of(kernel).result].dtype != own.dtype) continue;
        fed.emplace_back(p, producers.size());
        producers.push_back(producer_of(kernel, clean.loop, random));
        break;
      }
    }
    if (fed.empty()) continue;

    // First runs the kernels one after the other.
    ir::RandomCase apart = clean;
    ir::Launch second = apart.launch();
    for (Producer& producer : producers)
      ASSERT_TRUE(ir::interpret(producer.kernel, {clean.loop, 0, producer.arguments}));
    std::vector<std::vector<std::byte>> between;
    for (const auto& [p, from] : fed) between.push_back(producers[from].result);
    for (std::size_t i = 0; i < fed.size(); ++i) {
      const std::size_t p = fed[i].first;
      second.arguments[p].base = between[i].data();
      second.arguments[p].view = contiguous(clean.loop, size_of(clean.kernel.params[p].dtype));
    }
    const Status expected = ir::interpret(clean.kernel, second);

    // Runs the fused kernel, which also stores some results.
    ir::RandomCase together = clean;
    ir::Launch launch = together.launch();
    std::vector<ir::Argument> arguments;
    std::vector<bool> stored;
    for (std::size_t from = 0; from < producers.size(); ++from) {
      Producer& producer = producers[from];
      Part part{&producer.kernel, {}};
      const ir::Id result = traits_of(producer.kernel).result;
      stored.push_back(random.engine() % 3 == 0);
      std::fill(producer.result.begin(), producer.result.end(), std::byte{0});
      for (std::size_t p = 0; p < producer.arguments.size(); ++p) {
        if (p == result && !stored.back()) {
          part.wires.push_back(value(static_cast<std::uint32_t>(from)));
          continue;
        }
        part.wires.push_back(param(static_cast<std::uint32_t>(arguments.size())));
        arguments.push_back(producer.arguments[p]);
      }
      // In a reduction, the result of a part cannot be stored for each element.
      if (clean.kernel.reduction && stored.back()) {
        stored.back() = false;
        arguments.erase(arguments.begin() + part.wires[result].index);
        for (Wire& wire : part.wires)
          if (wire.index > part.wires[result].index) --wire.index;
        part.wires[result] = value(static_cast<std::uint32_t>(from));
      }
      parts.push_back(std::move(part));
    }
    Part last{&clean.kernel, {}};
    for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
      const auto found =
          std::find_if(fed.begin(), fed.end(), [p](const auto& each) { return each.first == p; });
      if (found != fed.end()) {
        last.wires.push_back(value(static_cast<std::uint32_t>(found->second)));
        continue;
      }
      last.wires.push_back(param(static_cast<std::uint32_t>(arguments.size())));
      arguments.push_back(launch.arguments[p]);
    }
    parts.push_back(std::move(last));
    const ir::Kernel fused = fuse(name_of(parts), parts, arguments.size());
    const Status verified = ir::verify(fused);
    ASSERT_TRUE(verified) << seed << ": " << verified.error().message << ir::print(fused);
    const bool on_cpu = seed % 2 == 0;  // the blocked interpreter runs the same kernels
    const ir::Launch whole{clean.loop, clean.reduced, arguments};
    const Status got =
        on_cpu ? cpu::Program::compile(fused).run(whole) : ir::interpret(fused, whole);
    ASSERT_EQ(got.ok(), expected.ok()) << seed;
    if (!expected) continue;
    if (on_cpu && clean.kernel.reduction) continue;  // it adds in another order

    for (std::size_t p = 0; p < clean.kernel.params.size(); ++p) {
      const ir::Param& own = clean.kernel.params[p];
      if (own.kind == ir::ParamKind::scalar || own.access == ir::Access::read) continue;
      const std::size_t item = size_of(own.dtype);
      const auto& a = apart.arguments[p].bytes;
      const auto& b = together.arguments[p].bytes;
      for (std::size_t at = 0; at + item <= a.size(); at += item)
        ASSERT_TRUE(ir::same_value(own.dtype, a.data() + at, b.data() + at))
            << seed << ": parameter " << p << " at byte " << at << "\n"
            << ir::print(fused);
    }
    for (std::size_t i = 0; i < fed.size(); ++i) {
      const DType dtype = clean.kernel.params[fed[i].first].dtype;
      const auto& result = producers[fed[i].second].result;
      if (!stored[fed[i].second]) continue;
      for (std::size_t at = 0; at + size_of(dtype) <= result.size(); at += size_of(dtype))
        ASSERT_TRUE(ir::same_value(dtype, between[i].data() + at, result.data() + at)) << seed;
    }
    ++compared;
    reductions += clean.kernel.reduction ? 1 : 0;
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(reductions, 20);
}

}  // namespace
}  // namespace arraycore::fuse
