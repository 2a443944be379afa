#include "cpu/gemm.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "cpu/gemm_kernel.h"
#include "team/team.h"

namespace arraycore::cpu {

namespace {

using gemm::Matrix;
using gemm::Problem;

// How much is packed at a time: a panel of b stays in the first cache, the block of a in the
// second, b's block in the last.
constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kBlockRows = 96;
constexpr std::int64_t kBlockColumns = 1024;
static_assert(kBlockRows % kRows == 0);
static_assert(kBlockColumns % kColumns<float> == 0);

constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

// Packs `count` lines of `depth` elements into panels of `width` lines: element p of every line of
// a panel together, absent lines as zeros.
template <typename T, int width>
void pack(const T* from, std::int64_t line_stride, std::int64_t depth_stride, std::int64_t count,
          std::int64_t depth, T* to) {
  for (std::int64_t line = 0; line < count; line += width) {
    const T* const panel = from + line * line_stride;
    const std::int64_t lines = std::min<std::int64_t>(width, count - line);
    if (lines < width) std::fill(to, to + depth * width, T{});
    if (line_stride == 1 && lines == width) {
      for (std::int64_t p = 0; p < depth; ++p)
        std::memcpy(to + p * width, panel + p * depth_stride, width * sizeof(T));
    } else {
      for (std::int64_t i = 0; i < lines; ++i) {
        const T* const source = panel + i * line_stride;
        for (std::int64_t p = 0; p < depth; ++p) to[p * width + i] = source[p * depth_stride];
      }
    }
    to += depth * width;
  }
}

// ---- matrix by vector: nothing is used twice, so nothing is packed

// out[row] = sum of matrix(row, p) * vector[p], the elements of a row one after the other.
template <typename T>
void rows_by_vector(std::int64_t rows, std::int64_t depth, const T* matrix, std::int64_t row_stride,
                    const T* vector, T* out, std::int64_t out_stride) {
  constexpr int kSums = 4;
  constexpr std::int64_t kStep = kSums * kLanes<T>;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const line = matrix + row * row_stride;
    Lanes<T> sums[kSums] = {};  // NOLINT(*-avoid-c-arrays): registers
    std::int64_t p = 0;
    for (; p + kStep <= depth; p += kStep)
      for (int s = 0; s < kSums; ++s)
        sums[s] =
            multiply_add(load(line + p + s * kLanes<T>), load(vector + p + s * kLanes<T>), sums[s]);
    const Lanes<T> both = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    T total{};
    for (int lane = 0; lane < kLanes<T>; ++lane) total += both[lane];
    for (; p < depth; ++p) total += line[p] * vector[p];
    out[row * out_stride] = total;
  }
}

// The same, rows one after the other: a block of rows runs down the matrix together.
template <typename T>
void columns_by_vector(std::int64_t rows, std::int64_t depth, const T* matrix,
                       std::int64_t depth_stride, const T* vector, T* out,
                       std::int64_t out_stride) {
  constexpr int kSums = 8;
  constexpr std::int64_t kStep = kSums * kLanes<T>;
  std::int64_t row = 0;
  for (; row + kStep <= rows; row += kStep) {
    Lanes<T> sums[kSums] = {};  // NOLINT(*-avoid-c-arrays): registers
    const T* line = matrix + row;
    for (std::int64_t p = 0; p < depth; ++p, line += depth_stride) {
      const Lanes<T> value = splat(vector[p]);
      for (int s = 0; s < kSums; ++s)
        sums[s] = multiply_add(value, load(line + s * kLanes<T>), sums[s]);
    }
    for (int s = 0; s < kSums; ++s)
      for (int lane = 0; lane < kLanes<T>; ++lane)
        out[(row + s * kLanes<T> + lane) * out_stride] = sums[s][lane];
  }
  for (; row < rows; ++row) {
    T total{};
    for (std::int64_t p = 0; p < depth; ++p) total += matrix[row + p * depth_stride] * vector[p];
    out[row * out_stride] = total;
  }
}

// ---- packed blocks, shared out

// Waking a thread costs some 20 us, the time of 200,000 products.
constexpr std::int64_t kSharedProducts = 1'000'000;
// For each thread, so that all end at nearly the same time.
constexpr std::int64_t kPartsOfMember = 8;

bool shares_out(std::int64_t m, std::int64_t n, std::int64_t k) {
  return m * n >= kSharedProducts / k;
}

Error thread_lost() {
  return {ErrorKind::device, "thread_lost",
          "A thread that computes a part of a product of matrices has not answered for " +
              std::to_string(Team::kPatienceMs / 1'000) +
              " s; the result is lost, and what follows is computed by one thread."};
}

// out += or = a times one packed block of b: rows of a by columns of b. Parts are a block of rows
// and a stretch of columns; each member packs the rows that it needs.
template <typename T>
struct Blocks {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  std::int64_t block_rows = 0;
  const T* a = nullptr;
  std::int64_t a_row_stride = 0;
  std::int64_t a_depth_stride = 0;
  T* packed_a = nullptr;  // of member 0; the others' follow
  std::int64_t packed_a_stride = 0;
  const T* packed_b = nullptr;
  T* out = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  bool adds = false;

  bool run(int members) {
    const std::int64_t row_blocks = (rows + block_rows - 1) / block_rows;
    const std::int64_t wanted = members == 1 ? 1 : members * kPartsOfMember;
    const std::int64_t stretches = std::max<std::int64_t>(1, wanted / row_blocks);
    stretch_ = round_up((columns + stretches - 1) / stretches, kColumns<T>);
    stretches_ = (columns + stretch_ - 1) / stretch_;
    packed_.fill(-1);
    return team().run(part, this, row_blocks * stretches_, members);
  }

 private:
  static void part(void* task, std::int64_t part, int member) {
    auto& blocks = *static_cast<Blocks*>(task);
    blocks.compute(part / blocks.stretches_, part % blocks.stretches_ * blocks.stretch_, member);
  }

  void compute(std::int64_t row_block, std::int64_t first_column, int member) {
    const std::int64_t begin = row_block * block_rows;
    const std::int64_t here = std::min(block_rows, rows - begin);
    T* const packed = packed_a + member * packed_a_stride;
    std::int64_t& held = packed_[static_cast<std::size_t>(member)];
    if (held != row_block) {
      pack<T, kRows>(a + begin * a_row_stride, a_row_stride, a_depth_stride, here, depth, packed);
      held = row_block;
    }
    const std::int64_t end = std::min(columns, first_column + stretch_);
    for (std::int64_t column = first_column; column < end; column += kColumns<T>)
      for (std::int64_t first = 0; first < here; first += kRows) {
        const Block<T> block = run_block(depth, packed + first * depth, packed_b + column * depth);
        put_block(block, {out + (begin + first) * row_stride + column * column_stride, row_stride,
                          column_stride, std::min<std::int64_t>(kRows, here - first),
                          std::min<std::int64_t>(kColumns<T>, columns - column), adds});
      }
  }

  std::int64_t stretch_ = 0;  // columns
  std::int64_t stretches_ = 0;
  std::array<std::int64_t, Team::kMaxMembers> packed_{};  // each member's block of rows
};

}  // namespace

void Gemm::Free::operator()(std::byte* memory) const { std::free(memory); }  // NOLINT(*-no-malloc)

Status Gemm::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return Done{};
  // malloc gives a null pointer where memory is out; new would end the process.
  workspace_.reset();
  capacity_ = 0;
  workspace_.reset(static_cast<std::byte*>(std::malloc(bytes)));  // NOLINT(*-no-malloc)
  if (workspace_ == nullptr)
    return Error{ErrorKind::memory, "out_of_host_memory",
                 "There is no memory left for the " + std::to_string(bytes) +
                     " bytes that a product of matrices packs its operands into."};
  capacity_ = bytes;
  return Done{};
}

template <typename T>
Status Gemm::multiply(const Problem& problem, const T* a, const T* b, T* out) {
  const std::int64_t m = problem.m;
  const std::int64_t n = problem.n;
  const std::int64_t k = problem.k;
  const Matrix& left = problem.a;
  const Matrix& right = problem.b;

  // A vector, and the matrix it meets as rows that are summed.
  const bool row = m == 1;
  const std::int64_t rows = row ? n : m;
  const std::int64_t row_stride = row ? right.column_stride : left.row_stride;
  const std::int64_t depth_stride = row ? right.row_stride : left.column_stride;
  const std::int64_t vector_stride = row ? left.column_stride : right.row_stride;
  const std::int64_t out_stride = row ? problem.out.column_stride : problem.out.row_stride;
  const bool is_vector = (row || n == 1) && (depth_stride == 1 || row_stride == 1);

  const std::int64_t depth = std::min(kDepth, k);
  const std::int64_t block_rows = std::min(kBlockRows, round_up(m, kRows));
  const std::int64_t block_columns = std::min(kBlockColumns, round_up(n, kColumns<T>));
  const int members = shares_out(m, n, k) ? std::min(team().members(), Team::kMaxMembers) : 1;
  const std::int64_t packed = is_vector ? k : depth * (block_rows * members + block_columns);
  const Status room = reserve(static_cast<std::size_t>(packed) * sizeof(T));
  if (!room) return room;
  T* const packed_a = reinterpret_cast<T*>(workspace_.get());
  T* const packed_b = packed_a + depth * block_rows * members;

  for (std::int64_t index = 0; index < problem.batches(); ++index) {
    const Problem::Place at = problem.place(index);
    if (is_vector) {
      const T* const matrix = row ? b + at.b : a + at.a;
      const T* vector = row ? a + at.a : b + at.b;
      if (vector_stride != 1) {
        for (std::int64_t p = 0; p < k; ++p) packed_a[p] = vector[p * vector_stride];
        vector = packed_a;
      }
      if (depth_stride == 1)
        rows_by_vector(rows, k, matrix, row_stride, vector, out + at.out, out_stride);
      else
        columns_by_vector(rows, k, matrix, depth_stride, vector, out + at.out, out_stride);
      continue;
    }
    for (std::int64_t j = 0; j < n; j += block_columns) {
      const std::int64_t columns = std::min(block_columns, n - j);
      for (std::int64_t p = 0; p < k; p += depth) {
        const std::int64_t deep = std::min(depth, k - p);
        pack<T, kColumns<T>>(b + at.b + p * right.row_stride + j * right.column_stride,
                             right.column_stride, right.row_stride, columns, deep, packed_b);
        Blocks<T> blocks;
        blocks.rows = m;
        blocks.columns = columns;
        blocks.depth = deep;
        blocks.block_rows = block_rows;
        blocks.a = a + at.a + p * left.column_stride;
        blocks.a_row_stride = left.row_stride;
        blocks.a_depth_stride = left.column_stride;
        blocks.packed_a = packed_a;
        blocks.packed_a_stride = depth * block_rows;
        blocks.packed_b = packed_b;
        blocks.out = out + at.out + j * problem.out.column_stride;
        blocks.row_stride = problem.out.row_stride;
        blocks.column_stride = problem.out.column_stride;
        blocks.adds = p > 0;
        if (!blocks.run(members)) return thread_lost();
      }
    }
  }
  return Done{};
}

Status Gemm::run(const Problem& problem, const std::byte* a, const std::byte* b, std::byte* out) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    return multiply(problem, reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
                    reinterpret_cast<T*>(out));
  };
  return problem.dtype == DType::float32 ? as(float{}) : as(double{});
}

}  // namespace arraycore::cpu
