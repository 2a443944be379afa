// Operations over a block of lanes: plain loops that compilers vectorise, one for each operation
// and type. Internal to cpu/. Pure; any thread.
#pragma once

#include <cstddef>

#include "ir/ir.h"

// Tells the compiler that the iterations of a loop are independent. REQUIRES: the loop writes to
// `d`, which is either the address of one of its operands or overlaps none of them.
#if defined(__clang__)
#define ARRAYCORE_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define ARRAYCORE_LANES _Pragma("GCC ivdep")
#endif

namespace arraycore::cpu {

inline constexpr int kLanes = 256;

// Computes d[i] = f(a[i], b[i], c[i]) for i < n. `d` equals one of the operands or overlaps none.
using Loop = void (*)(std::byte* d, const std::byte* a, const std::byte* b, const std::byte* c,
                      int n);

// Returns the loop of every pure operation with operands, and nullptr for leaves, select, call and
// atomics.
Loop loop_of(ir::Op op, DType operand, DType result);

// Computes d[i] = condition[i] ? a[i] : b[i] for elements of `size` bytes. Conditions are bools.
void choose(std::byte* d, const std::byte* condition, const std::byte* a, const std::byte* b,
            std::size_t size, int n);

// Turns bytes into bools: every byte that is not 0 becomes true.
void make_bools(std::byte* bytes, int n);

}  // namespace arraycore::cpu
