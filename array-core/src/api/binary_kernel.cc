#include "api/binary_kernel.h"

#include <array>

#include "ir/builder.h"

namespace arraycore {

namespace {

struct Row {
  const char* name;
  ir::Op op;
};

// In the order of BinaryOperation.
constexpr std::array<Row, 4> kRows{{
    {"add", ir::Op::add},
    {"subtract", ir::Op::subtract},
    {"multiply", ir::Op::multiply},
    {"divide", ir::Op::divide},
}};

}  // namespace

ir::Kernel binary_kernel(BinaryOperation operation, DType dtype, std::optional<Side> scalar) {
  const Row& row = kRows[static_cast<std::size_t>(operation)];
  ir::Builder builder(row.name);
  const auto a = scalar == Side::left ? builder.scalar("a", dtype) : builder.in("a", dtype);
  const auto b = scalar == Side::right ? builder.scalar("b", dtype) : builder.in("b", dtype);
  const auto out = builder.out("out", dtype);
  const ir::Value left = builder.read(a);
  const ir::Value right = builder.read(b);
  builder.store(out, builder.apply(row.op, {left, right}));
  return builder.take();
}

}  // namespace arraycore
