// Products of float32 and float64 matrices, and convolutions, on the CPU. Operands are packed into
// panels that the caches hold. They are multiplied in blocks of 6 rows and two vectors, which stay
// in registers. One source serves WebAssembly's SIMD, SSE and AVX, by the compilers' vector
// extensions. One caller at a time; large products are divided among the threads of the thread
// pool.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "gemm/problem.h"

namespace arraycore::cpu {

// Changes the elements of b after they are packed.
class PackedPrologue {
 public:
  PackedPrologue() = default;
  PackedPrologue(const PackedPrologue&) = delete;
  PackedPrologue& operator=(const PackedPrologue&) = delete;
  virtual ~PackedPrologue() = default;

  struct Part {
    std::int64_t batch = 0;
    std::int64_t column = 0;  // the first column
    std::int64_t columns = 0;
    std::int64_t term = 0;  // the first term
    std::int64_t terms = 0;
    int width = 0;  // the columns of a panel; the last panel is as wide as the others
  };
  // Changes the elements in `packed`, which has consecutive panels. In a panel, elements of all its
  // columns that belong to the same term of the sum are next to each other.
  virtual Status apply(const Part& part, std::byte* packed) = 0;
};

// Multiplies matrices. It keeps the memory for packed panels from product to product.
class Gemm {
 public:
  static bool computes(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

  // Computes the problem. `prologue` changes b's elements; nullptr changes none. REQUIRES:
  // computes(problem.dtype); `out` overlaps neither `a` nor `b`; k > 0; `a`, `b` and `out` point to
  // the beginnings of storages and are aligned for the dtype. Error: memory, "out_of_host_memory";
  // device, "thread_lost".
  Status run(const gemm::Problem& problem, const std::byte* a, const std::byte* b, std::byte* out,
             PackedPrologue* prologue = nullptr);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  template <typename T>
  Status multiply(const gemm::Problem& problem, const T* a, const T* b, T* out,
                  PackedPrologue* prologue);
  template <typename T>
  Status convolve(const gemm::Problem& problem, const T* a, const T* b, T* out,
                  PackedPrologue* prologue);
  template <typename Direct, typename T>
  Status convolve_directly(const gemm::Problem& problem, const T* a, const T* b, T* out);
  Status reserve(std::size_t bytes);

  std::unique_ptr<std::byte, Free> workspace_;
  std::size_t capacity_ = 0;
};

}  // namespace arraycore::cpu
