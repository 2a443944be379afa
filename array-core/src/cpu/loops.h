// Operations over a block of lanes: plain loops that compilers vectorise, one for each operation
// and type. Internal to cpu/. Pure; any thread.
#pragma once

#include <cstddef>

#include "ir/ir.h"

// Lanes are independent: `d` is an operand's own address or apart from all of them.
#if defined(__clang__)
#define ARRAYCORE_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define ARRAYCORE_LANES _Pragma("GCC ivdep")
#endif

namespace arraycore::cpu {

inline constexpr int kLanes = 256;

// d[i] = f(a[i], b[i], c[i]) for i < n. `d` may be one of the operands, not overlap it otherwise.
using Loop = void (*)(std::byte* d, const std::byte* a, const std::byte* b, const std::byte* c,
                      int n);

// Every pure operation with operands; nullptr for leaves, select, call and atomics.
Loop loop_of(ir::Op op, DType operand, DType result);

// d[i] = condition[i] ? a[i] : b[i], elements of `size` bytes; conditions are bools.
void choose(std::byte* d, const std::byte* condition, const std::byte* a, const std::byte* b,
            std::size_t size, int n);

// Any byte but 0 is true.
void make_bools(std::byte* bytes, int n);

}  // namespace arraycore::cpu
