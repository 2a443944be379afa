// Cases with layouts, aliases, offsets and incomplete last vectors for each size of element, and
// with reductions that are divided in every way.
#include <cstring>

#include "case_writer.h"
#include "ir/builder.h"
#include "ir/op_info.h"

namespace arraycore::wgsl_cases {
namespace {

using ir::Builder;
using ir::Op;

// Returns a storage of small numbers, with a view of it.
CaseArgument numbers(DType dtype, std::int64_t elements, const Dims& shape, const Dims& steps,
                     std::int64_t first) {
  CaseArgument argument;
  const auto item = static_cast<std::int64_t>(size_of(dtype));
  argument.bytes.resize(static_cast<std::size_t>(elements * item));
  for (std::int64_t i = 0; i < elements; ++i) {
    const ir::Scalar value = ir::scalar_of(dtype, static_cast<double>((i * 7 + 3) % 23));
    std::memcpy(argument.bytes.data() + i * item, &value, static_cast<std::size_t>(item));
  }
  Dims strides;
  for (const std::int64_t step : steps) strides.push_back(step * item);
  argument.view = {shape, strides, first * item};
  return argument;
}

ir::Kernel combine(DType dtype) {
  Builder k("combine");
  const auto x = k.in("x", dtype);
  const auto y = k.in("y", dtype);
  const auto z = k.out("z", dtype);
  if (dtype == DType::boolean)
    k.store(z, k.apply(Op::bit_xor, {k.read(x), k.read(y)}));
  else
    k.store(z, k.read(x) + k.read(y));
  return k.take();
}

void must(bool added, const CaseWriter& writer, const std::string& name) {
  if (!added) die(name + ": " + writer.refusal().message);
}

void layouts_of(CaseWriter& writer, DType dtype) {
  const std::string t(name_of(dtype));
  const auto add = [&](const std::string& what, const Dims& loop,
                       std::vector<CaseArgument> arguments) {
    must(writer.add(what + " " + t, combine(dtype), loop, 0, std::move(arguments)), writer, what);
  };
  for (std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257})
    add("tail " + std::to_string(n), {n},
        {numbers(dtype, n, {n}, {1}, 0), numbers(dtype, n, {n}, {1}, 0),
         numbers(dtype, n + 9, {n}, {1}, 0)});
  for (std::int64_t first = 1; first < 6; ++first)
    add("offset " + std::to_string(first), {13},
        {numbers(dtype, 30, {13}, {1}, 4), numbers(dtype, 30, {13}, {1}, first),
         numbers(dtype, 30, {13}, {1}, first)});
  add("output at 8", {14},
      {numbers(dtype, 30, {14}, {1}, 8), numbers(dtype, 30, {14}, {1}, 1),
       numbers(dtype, 30, {14}, {1}, 8)});
  add("reversed", {11},
      {numbers(dtype, 11, {11}, {-1}, 10), numbers(dtype, 11, {11}, {1}, 0),
       numbers(dtype, 20, {11}, {-1}, 12)});
  add("transposed", {5, 7},
      {numbers(dtype, 35, {5, 7}, {1, 5}, 0), numbers(dtype, 35, {5, 7}, {7, 1}, 0),
       numbers(dtype, 35, {5, 7}, {7, 1}, 0)});
  add("transposed out", {5, 7},
      {numbers(dtype, 35, {5, 7}, {7, 1}, 0), numbers(dtype, 35, {5, 7}, {7, 1}, 0),
       numbers(dtype, 35, {5, 7}, {1, 5}, 0)});
  add("broadcast row", {5, 7},
      {numbers(dtype, 35, {5, 7}, {7, 1}, 0), numbers(dtype, 7, {7}, {1}, 0),
       numbers(dtype, 35, {5, 7}, {7, 1}, 0)});
  add("broadcast column", {5, 8},
      {numbers(dtype, 40, {5, 8}, {8, 1}, 0), numbers(dtype, 5, {5, 1}, {1, 1}, 0),
       numbers(dtype, 40, {5, 8}, {8, 1}, 0)});
  add("broadcast one", {9},
      {numbers(dtype, 9, {9}, {1}, 0), numbers(dtype, 5, {}, {}, 3),
       numbers(dtype, 9, {9}, {1}, 0)});
  add("gaps", {3, 4},
      {numbers(dtype, 60, {3, 4}, {10, 2}, 1), numbers(dtype, 60, {3, 4}, {16, 1}, 0),
       numbers(dtype, 60, {3, 4}, {12, 3}, 2)});
  add("five dimensions", {2, 3, 2, 3, 2},
      {numbers(dtype, 72, {2, 3, 2, 3, 2}, {36, 12, 6, 2, 1}, 0),
       numbers(dtype, 72, {2, 3, 2, 3, 2}, {1, 2, 6, 12, 36}, 0),
       numbers(dtype, 72, {2, 3, 2, 3, 2}, {1, 2, 6, 12, 36}, 0)});
  {
    auto in = numbers(dtype, 21, {21}, {1}, 0);
    auto out = in;
    in.alias = out.alias = 1;
    add("in place", {21}, {in, numbers(dtype, 21, {21}, {1}, 0), out});
  }
  {
    // The two views are the two halves of one storage and do not overlap.
    auto in = numbers(dtype, 40, {16}, {1}, 0);
    auto out = numbers(dtype, 40, {16}, {1}, 16);
    in.alias = out.alias = 1;
    add("one storage", {16}, {in, numbers(dtype, 16, {16}, {1}, 0), out});
  }
}

void conditional_store(CaseWriter& writer, DType dtype) {
  Builder k("conditional");
  const auto x = k.in("x", dtype);
  const auto z = k.out("z", dtype);
  const auto two = k.integer(DType::int32, 2);
  k.if_(k.loop_index() % two == 0.0, [&] { k.store(z, k.read(x)); });
  must(writer.add("conditional store " + std::string(name_of(dtype)), k.take(), {11}, 0,
                  {numbers(dtype, 11, {11}, {1}, 0), numbers(dtype, 20, {11}, {1}, 0)}),
       writer, "conditional");
}

ir::Kernel reduction(DType dtype, Op op, bool identity) {
  Builder k("reduction");
  const auto x = k.in("x", dtype);
  const auto y = k.out("y", dtype);
  k.reduce(
      k.read(x), identity ? std::optional(k.constant(dtype, 0)) : std::nullopt,
      [&](ir::Value a, ir::Value b) { return k.apply(op, {a, b}); },
      [&](ir::Value total) { k.store(y, total); });
  return k.take();
}

void reductions_of(CaseWriter& writer, DType dtype, Op op) {
  const std::string t = std::string(name_of(op)) + " " + std::string(name_of(dtype));
  const auto add = [&](const std::string& what, const Dims& loop, std::uint32_t axes,
                       CaseArgument in, CaseArgument out, bool identity) {
    const std::string name = "reduce " + what + " " + t;
    must(writer.add(name, reduction(dtype, op, identity), loop, axes,
                    {std::move(in), std::move(out)}),
         writer, name);
  };
  const auto scalar = [&] { return numbers(dtype, 3, {}, {}, 1); };
  for (std::int64_t n : {1, 5, 32, 33, 127, 128, 129, 1000, 20000})
    add("all of " + std::to_string(n), {n}, 1, numbers(dtype, n, {n}, {1}, 0), scalar(), false);
  if (op == Op::add) add("none", {0}, 1, numbers(dtype, 1, {0}, {1}, 0), scalar(), true);
  add("rows", {6, 50}, 2, numbers(dtype, 300, {6, 50}, {50, 1}, 0), numbers(dtype, 6, {6}, {1}, 0),
      false);
  add("columns", {50, 6}, 1, numbers(dtype, 300, {50, 6}, {6, 1}, 0),
      numbers(dtype, 6, {6}, {1}, 0), false);
  add("short rows", {40, 3}, 2, numbers(dtype, 120, {40, 3}, {3, 1}, 0),
      numbers(dtype, 50, {40}, {1}, 3), false);
  add("middle", {4, 40, 5}, 2, numbers(dtype, 800, {4, 40, 5}, {200, 5, 1}, 0),
      numbers(dtype, 20, {4, 5}, {5, 1}, 0), false);
  add("outer two", {4, 10, 5}, 5, numbers(dtype, 200, {4, 10, 5}, {50, 5, 1}, 0),
      numbers(dtype, 10, {10}, {1}, 0), false);
  add("outer two by fours", {4, 10, 12}, 5, numbers(dtype, 480, {4, 10, 12}, {120, 12, 1}, 0),
      numbers(dtype, 10, {10}, {1}, 0), false);
  add("outer two by fours, offset", {4, 10, 12}, 5,
      numbers(dtype, 484, {4, 10, 12}, {120, 12, 1}, 1), numbers(dtype, 10, {10}, {1}, 0), false);
  add("apart", {4, 3, 2, 8}, 13, numbers(dtype, 256, {4, 3, 2, 8}, {64, 16, 8, 1}, 0),
      numbers(dtype, 3, {3}, {1}, 0), false);
  add("split rows", {3, 17000}, 2, numbers(dtype, 51000, {3, 17000}, {17000, 1}, 0),
      numbers(dtype, 3, {3}, {1}, 0), false);
  add("broadcast", {6, 40}, 2, numbers(dtype, 40, {40}, {1}, 0), numbers(dtype, 6, {6}, {1}, 0),
      false);
}

void float_sum(CaseWriter& writer) {
  std::vector<float> values;
  for (int i = 0; i < 50000; ++i) values.push_back(static_cast<float>(i % 101) * 0.37f + 0.1f);
  CaseArgument in;
  in.bytes.resize(values.size() * 4);
  std::memcpy(in.bytes.data(), values.data(), in.bytes.size());
  in.view = {{50000}, {4}, 0};
  must(writer.add("sum of floats", reduction(DType::float32, Op::add, true), {50000}, 1,
                  {in, numbers(DType::float32, 1, {}, {}, 0)}, {8, 0}),
       writer, "sum");
}

// Adds cases of argmax, which compares values and then positions. The kernel uses the index within
// the reduction, and its `post` uses a scalar.
void arg_max(CaseWriter& writer) {
  for (const std::int64_t length : {7, 100, 17000}) {
    Builder k("argmax");
    const auto x = k.in("x", DType::int32);
    const auto y = k.out("y", DType::int64);
    const auto scale = k.scalar("scale", DType::int64);
    const DType wide = DType::int64;
    const auto place = k.convert(wide, k.reduce_index());
    const auto key = k.convert(wide, k.read(x)) * k.integer(wide, 1 << 20) - place;
    k.reduce(
        key, std::nullopt, [&](ir::Value a, ir::Value b) { return k.apply(Op::maximum, {a, b}); },
        [&](ir::Value best) {
          const auto low =
              k.apply(Op::modulo, {k.apply(Op::negate, {best}), k.integer(wide, 1 << 20)});
          k.store(y, low * k.read(scale) + k.convert(wide, k.loop_index()));
        });
    CaseArgument three;
    three.scalar = ir::scalar_of(wide, 3);
    must(writer.add("argmax " + std::to_string(length), k.take(), {2, length}, 2,
                    {numbers(DType::int32, 2 * length, {2, length}, {length, 1}, 0),
                     numbers(wide, 2, {2}, {1}, 0), three}),
         writer, "argmax");
  }
}

// Returns a kernel for the largest element of a row and its first position, combined together.
ir::Kernel best() {
  Builder k("best");
  const auto x = k.in("x", DType::int32);
  const auto y = k.out("y", DType::int32);
  const auto place = k.out("place", DType::int64);
  using Values = Builder::Values;
  k.reduce(
      {{k.read(x), std::nullopt}, {k.convert(DType::int64, k.reduce_index()), std::nullopt}},
      [&](const Values& a, const Values& b) {
        const auto earlier = k.apply(Op::logical_and, {a[0] == b[0], a[1] < b[1]});
        const auto first = k.apply(Op::logical_or, {a[0] > b[0], earlier});
        return Values{k.select(first, a[0], b[0]), k.select(first, a[1], b[1])};
      },
      [&](const Values& found) {
        k.store(y, found[0]);
        k.store(place, found[1]);
      });
  return k.take();
}

void bests(CaseWriter& writer) {
  const auto add = [&](const Dims& loop, std::uint32_t axes, std::int64_t rows) {
    std::int64_t n = 1;
    Dims steps = loop;
    for (int axis = loop.size() - 1; axis >= 0; n *= loop[axis--]) steps[axis] = n;
    must(writer.add(
             "best of " + std::to_string(n), best(), loop, axes,
             {numbers(DType::int32, n, loop, steps, 0), numbers(DType::int32, rows, {rows}, {1}, 0),
              numbers(DType::int64, rows, {rows}, {1}, 0)}),
         writer, "best");
  };
  add({5, 3}, 2, 5);
  add({3, 250}, 2, 3);
  add({3, 1200}, 2, 3);
  add({2, 40000}, 2, 2);
  add({300, 40}, 1, 40);
  add({20000, 5}, 1, 5);
  add({4, 10, 12}, 5, 10);
  add({3, 2, 4000}, 5, 2);
}

// Adds cases with three values in a reduction: their totals take an odd number of pairs of words.
void three_values(CaseWriter& writer) {
  for (const std::int64_t length : {20, 300, 20000}) {
    Builder k("three");
    const auto x = k.in("x", DType::int32);
    const auto y = k.out("y", DType::int64);
    using Values = Builder::Values;
    const ir::Value one = k.read(x);
    k.reduce(
        {{k.convert(DType::int64, one), std::nullopt},
         {one, std::nullopt},
         {k.convert(DType::int16, one), std::nullopt}},
        [&](const Values& a, const Values& b) {
          return Values{a[0] + b[0], k.apply(Op::maximum, {a[1], b[1]}),
                        k.apply(Op::minimum, {a[2], b[2]})};
        },
        [&](const Values& all) {
          k.store(y, all[0] * k.integer(DType::int64, 100000) +
                         k.convert(DType::int64, all[1]) * k.integer(DType::int64, 1000) +
                         k.convert(DType::int64, all[2]));
        });
    const std::string name = "reduce three values of " + std::to_string(length);
    must(writer.add(name, k.take(), {3, length}, 2,
                    {numbers(DType::int32, 3 * length, {3, length}, {length, 1}, 0),
                     numbers(DType::int64, 3, {3}, {1}, 0)}),
         writer, name);
  }
}

// Adds cases of sums of rows over two axes, where one operand is read in groups of four and the
// others element by element, as in the sums of a normalization's gradient.
void mixed_rows(CaseWriter& writer) {
  Builder k("mixed");
  const auto x = k.in("x", DType::int32);
  const auto each = k.in("each", DType::int32);
  const auto turned = k.in("turned", DType::int32);
  const auto y = k.out("y", DType::int32);
  k.reduce(
      k.read(x) * k.read(each) + k.read(turned), std::nullopt,
      [](ir::Value a, ir::Value b) { return a + b; }, [&](ir::Value total) { k.store(y, total); });
  must(writer.add("mixed rows", k.take(), {4, 10, 12}, 5,
                  {numbers(DType::int32, 480, {4, 10, 12}, {120, 12, 1}, 0),
                   numbers(DType::int32, 12, {4, 10, 12}, {0, 0, 1}, 0),
                   numbers(DType::int32, 480, {4, 10, 12}, {1, 4, 40}, 0),
                   numbers(DType::int32, 10, {10}, {1}, 0)}),
       writer, "mixed rows");
}

// Adds cases of running sums together with elements' indices, divided in every way: one invocation,
// one workgroup, several workgroups.
void scans(CaseWriter& writer, DType dtype, bool wide_strides) {
  const auto add = [&](const Dims& loop, std::uint32_t axes) {
    Builder k("scan");
    const auto x = k.in("x", dtype);
    const auto y = k.out("y", dtype);
    using Values = Builder::Values;
    const ir::Value one = k.read(x);
    k.scan(
        {{one, std::nullopt}, {k.convert(DType::int32, one), std::nullopt}},
        [&](const Values& a, const Values& b) {
          return Values{a[0] + b[0], k.apply(Op::maximum, {a[1], b[1]})};
        },
        [&](const Values& running, const Values& own) {
          k.store(y, running[0] + k.convert(dtype, running[1] - own[1] + k.loop_index()));
        });
    std::int64_t n = 1;
    Dims steps = loop;
    for (int axis = loop.size() - 1; axis >= 0; n *= loop[axis--]) steps[axis] = n;
    const std::int64_t apart = wide_strides ? 2 : 1;
    Dims spread = steps;
    for (std::int64_t& step : spread) step *= apart;
    must(writer.add(
             "scan of " + std::to_string(n) + " " + std::string(name_of(dtype)), k.take(), loop,
             axes, {numbers(dtype, n, loop, steps, 0), numbers(dtype, n * apart, loop, spread, 0)}),
         writer, "scan");
  };
  for (const std::int64_t length : {1, 16, 17, 1023, 1024, 1025, 5000, 9000, 70000})
    add({length}, 1);
  add({3, 50}, 2);
  add({3, 9000}, 2);
  add({50, 6}, 1);
  add({4, 30, 5}, 2);
  add({4, 30, 5}, 5);
  add({20, 2100}, 1);
  add({0}, 1);
}

// Adds a case of a launch of more than 65,535 workgroups, on a device that allows few along one
// axis.
void two_dimensional_grid(CaseWriter& writer) {
  codegen::Limits limits;
  limits.groups = 7;
  const std::int64_t n = 64 * 4 * 30 + 5;
  must(writer.add("two-dimensional grid", combine(DType::int32), {n}, 0,
                  {numbers(DType::int32, n, {n}, {1}, 0), numbers(DType::int32, n, {n}, {1}, 0),
                   numbers(DType::int32, n, {n}, {1}, 0)},
                  {}, limits),
       writer, "grid");
}

// Adds cases of atomic updates of few elements, with floats and narrow types by
// compare-and-exchange. The values are small integers, so that sums of floats are exact (float16 up
// to 2048).
void contended(CaseWriter& writer) {
  for (const DType dtype : {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32,
                            DType::uint32, DType::float16, DType::float32})
    for (const Op op : {Op::atomic_add, Op::atomic_min, Op::atomic_max}) {
      Builder k("contended");
      const auto x = k.in("x", dtype);
      const auto bins = k.raw("bins", dtype, ir::Access::read_write);
      k.evaluate(k.atomic(op, bins, {k.loop_index() % k.integer(DType::int32, 5), k.read(x)}));
      const std::string name = std::string(name_of(op)) + " " + std::string(name_of(dtype));
      const std::int64_t n = dtype == DType::float16 ? 800 : 3000;
      must(writer.add(name, k.take(), {n}, 0,
                      {numbers(dtype, n, {n}, {1}, 0), numbers(dtype, 7, {5}, {1}, 1)}),
           writer, name);
    }
}

// Adds cases of atomic sums of 64 bits, which add the low half and then the high half. Most terms
// cause a carry.
void contended_wide(CaseWriter& writer) {
  for (const DType dtype : {DType::int64, DType::uint64}) {
    Builder k("wide");
    const auto x = k.in("x", dtype);
    const auto bins = k.raw("bins", dtype, ir::Access::read_write);
    k.evaluate(
        k.atomic(Op::atomic_add, bins, {k.loop_index() % k.integer(DType::int32, 3), k.read(x)}));
    CaseArgument terms = numbers(dtype, 3000, {3000}, {1}, 0);
    std::uint64_t bits = 1;
    for (std::size_t at = 0; at < terms.bytes.size(); at += sizeof bits) {
      bits = bits * 6364136223846793005U + 1442695040888963407U;
      std::memcpy(terms.bytes.data() + at, &bits, sizeof bits);
    }
    const std::string name = "atomic_add " + std::string(name_of(dtype));
    must(writer.add(name, k.take(), {3000}, 0, {std::move(terms), numbers(dtype, 4, {3}, {1}, 1)}),
         writer, name);
  }
}

// Adds cases that exchange elements of 1, 2 and 4 bytes. The old values are stored; neighbours must
// not change.
void exchanged(CaseWriter& writer) {
  for (const DType dtype : {DType::int8, DType::uint16, DType::float16, DType::float32}) {
    Builder k("exchanged");
    const auto seen = k.out("seen", dtype);
    const auto cells = k.raw("cells", dtype, ir::Access::read_write);
    const auto swapped = k.raw("swapped", dtype, ir::Access::read_write);
    // Each cell belongs to one element, so the outcome does not depend on the order.
    const ir::Value old = k.atomic(Op::atomic_compare_exchange, cells,
                                   {k.loop_index(), k.constant(dtype, 3), k.constant(dtype, 99)});
    k.store(seen,
            old + k.atomic(Op::atomic_exchange, swapped, {k.loop_index(), k.constant(dtype, 5)}));
    const std::string name = "atomic exchange " + std::string(name_of(dtype));
    must(writer.add(name, k.take(), {23}, 0,
                    {numbers(dtype, 23, {23}, {1}, 0), numbers(dtype, 25, {23}, {1}, 1),
                     numbers(dtype, 25, {23}, {1}, 1)}),
         writer, name);
  }
}

}  // namespace

void add_layout_cases(CaseWriter& writer) {
  for (std::size_t d = 0; d < kDTypes; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (!on_gpu(dtype)) continue;
    layouts_of(writer, dtype);
    conditional_store(writer, dtype);
  }
  two_dimensional_grid(writer);
  contended(writer);
  contended_wide(writer);
  exchanged(writer);
}

void add_reduction_cases(CaseWriter& writer) {
  for (const DType dtype :
       {DType::int8, DType::uint16, DType::int32, DType::uint32, DType::int64, DType::uint64}) {
    reductions_of(writer, dtype, Op::add);
    reductions_of(writer, dtype, Op::maximum);
  }
  for (const DType dtype : {DType::float16, DType::float32})
    reductions_of(writer, dtype, Op::minimum);
  reductions_of(writer, DType::boolean, Op::logical_and);
  bests(writer);
  mixed_rows(writer);
  three_values(writer);
  for (const DType dtype : {DType::uint8, DType::int32, DType::int64})
    scans(writer, dtype, dtype == DType::int32);
  float_sum(writer);
  arg_max(writer);
}

}  // namespace arraycore::wgsl_cases
