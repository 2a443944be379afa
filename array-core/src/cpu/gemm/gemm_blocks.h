// The outer loops of a product. They decide when each part of both operands is packed, in which
// order blocks are computed, and what the threads of the thread pool share. The caller defines how
// a part is packed and where the result's columns are. Internal to cpu/; one caller at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/result.h"
#include "cpu/gemm/gemm_kernel.h"
#include "thread_pool/thread_pool.h"

namespace arraycore::cpu {

// The sizes of the blocks that are packed at a time. A panel of b stays in the first-level cache,
// the block of a in the second-level cache, and the block of b in the last-level cache.
inline constexpr std::int64_t kDepth = 256;
inline constexpr std::int64_t kBlockRows = 96;
inline constexpr std::int64_t kBlockColumns = 1024;
static_assert(kBlockRows % kRows == 0);
static_assert(kBlockColumns % kColumns<float> == 0);

constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

// Waking a thread takes about 20 us, the time of 200,000 multiplications.
inline constexpr std::int64_t kSharedWork = 1'000'000;
// The number of parts for each thread. With several parts each, all threads end at nearly the same
// time.
inline constexpr std::int64_t kPartsOfThread = 8;

inline int threads_for(std::int64_t rows, std::int64_t columns, std::int64_t terms) {
  if (rows * columns < kSharedWork / terms) return 1;
  return std::min(thread_pool().threads(), ThreadPool::kMaxThreads);
}

// The sizes of the blocks of one product that are packed together.
template <typename T>
struct Blocks {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  int threads = 1;  // the number of threads; each packs rows of a for itself

  Blocks(std::int64_t rows, std::int64_t columns, std::int64_t terms)
      : m(rows), n(columns), k(terms), threads(threads_for(rows, columns, terms)) {}
  std::int64_t depth() const { return std::min(kDepth, k); }
  std::int64_t rows() const { return std::min(kBlockRows, round_up(m, kRows)); }
  std::int64_t columns() const { return std::min(kBlockColumns, round_up(n, kColumns<T>)); }
  // Returns the number of elements of memory for both packed operands.
  std::int64_t packed() const { return depth() * (threads * rows() + columns()); }
};

// Multiplies one packed block of b with every row of a, as a task of the thread pool. A part is a
// block of rows and a range of columns. Each thread packs the rows that it needs.
template <typename T, typename Packing>
class Sweep {
 public:
  Sweep(const Blocks<T>& blocks, T* memory, Packing& packing)
      : blocks_(blocks),
        packing_(packing),
        packed_a_(memory),
        packed_b_(memory + blocks.threads * blocks.depth() * blocks.rows()) {}

  T* packed_b() const { return packed_b_; }

  // Uses `columns` columns of b from `first_column` on, and `terms` terms from `first_term` on.
  // Returns false if a thread was lost.
  bool run(std::int64_t first_column, std::int64_t columns, std::int64_t first_term,
           std::int64_t terms) {
    first_column_ = first_column;
    columns_ = columns;
    first_term_ = first_term;
    terms_ = terms;
    const std::int64_t row_blocks = (blocks_.m + blocks_.rows() - 1) / blocks_.rows();
    const std::int64_t wanted = blocks_.threads == 1 ? 1 : blocks_.threads * kPartsOfThread;
    const std::int64_t stretches = std::max<std::int64_t>(1, wanted / row_blocks);
    stretch_ = round_up((columns + stretches - 1) / stretches, kColumns<T>);
    stretches_ = (columns + stretch_ - 1) / stretch_;
    held_.fill(-1);
    return thread_pool().run(part, this, row_blocks * stretches_, blocks_.threads);
  }

 private:
  static void part(void* task, std::int64_t part, int thread) {
    auto& sweep = *static_cast<Sweep*>(task);
    sweep.compute(part / sweep.stretches_, part % sweep.stretches_ * sweep.stretch_, thread);
  }

  void compute(std::int64_t row_block, std::int64_t begin, int thread) {
    const std::int64_t row = row_block * blocks_.rows();
    const std::int64_t here = std::min(blocks_.rows(), blocks_.m - row);
    T* const packed = packed_a_ + thread * blocks_.depth() * blocks_.rows();
    std::int64_t& held = held_[static_cast<std::size_t>(thread)];
    if (held != row_block) packing_.a(row, here, first_term_, terms_, packed);
    held = row_block;
    const std::int64_t end = std::min(columns_, begin + stretch_);
    for (std::int64_t column = begin; column < end; column += kColumns<T>) {
      const std::int64_t wide = std::min<std::int64_t>(kColumns<T>, columns_ - column);
      for (std::int64_t first = 0; first < here; first += kRows) {
        const Block<T> block =
            run_block(terms_, packed + first * terms_, packed_b_ + column * terms_);
        Target<T> target = packing_.target(row + first, first_column_, column, wide);
        target.rows = std::min<std::int64_t>(kRows, here - first);
        target.columns = wide;
        target.adds = first_term_ > 0;
        put_block(block, target);
      }
    }
  }

  const Blocks<T>& blocks_;
  Packing& packing_;
  T* const packed_a_;  // a block for each thread
  T* const packed_b_;
  std::int64_t first_column_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t first_term_ = 0;
  std::int64_t terms_ = 0;
  std::int64_t stretch_ = 0;  // the columns of a part
  std::int64_t stretches_ = 0;
  // The block of rows that each thread packed last.
  std::array<std::int64_t, ThreadPool::kMaxThreads> held_{};
};

// Calls `packing.b(first column, columns, first term, terms, to) -> Status`. Then, for each block
// of rows, it calls `packing.a(first row, rows, first term, terms, to)` and `packing.target(row,
// the block's first column, column of the block, columns) -> Target`, and sets the target's rows,
// columns and `adds`. Several threads call `a` and `target` at the same time.
template <typename T, typename Packing>
Status multiply_blocks(const Blocks<T>& blocks, T* memory, Packing& packing) {
  Sweep<T, Packing> sweep(blocks, memory, packing);
  for (std::int64_t j = 0; j < blocks.n; j += blocks.columns()) {
    const std::int64_t columns = std::min(blocks.columns(), blocks.n - j);
    for (std::int64_t p = 0; p < blocks.k; p += blocks.depth()) {
      const std::int64_t terms = std::min(blocks.depth(), blocks.k - p);
      TRY_DONE(packing.b(j, columns, p, terms, sweep.packed_b()));
      if (!sweep.run(j, columns, p, terms)) return ThreadPool::lost();
    }
  }
  return Done{};
}

}  // namespace arraycore::cpu
