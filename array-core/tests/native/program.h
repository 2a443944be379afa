// View programs: short sequences of view operations, encoded as 64-bit words. NumPy runs the same
// programs (array_core_fuzz/steps.py has the same numbers). For tests only; each machine serves one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dtype/dtype.h"
#include "view/index.h"
#include "view/view.h"

namespace arraycore::probe {

// The operations, each with the words that follow its number. A list is its length and its items.
enum class StepOp : std::int64_t {
  create = 0,  // dtype, seed, list of extents; bytes are pattern(seed), pattern(seed + 1), ...
  // words: source, number of indices, then each index: its kind, then an integer's position, or for
  // a slice a mask of what is given (1 start, 2 stop, 4 step), start, stop, step
  index = 1,
  transpose = 2,     // source, list of axes; a length of -1 means that none are given
  swap_axes = 3,     // source, axis, axis
  move_axes = 4,     // source, list, list
  reshape = 5,       // source, list
  ravel = 6,         // source
  broadcast = 7,     // source, list
  squeeze = 8,       // source, list or -1
  expand_dims = 9,   // source, list
  diagonal = 10,     // source, offset, axis, axis
  flip = 11,         // source, list or -1
  reinterpret = 12,  // source, dtype
  real = 13,         // source
  imag = 14,         // source
  copy = 15,         // source; to a new storage in C order
  assign = 16,       // target, source: target[...] = source
  astype = 17,       // source, dtype; to a new storage in C order
};

// Reads words. After the last word, next() returns 0, and broken() becomes true.
class Words {
 public:
  explicit Words(std::span<const std::int64_t> words) : words_(words) {}
  std::int64_t next() {
    if (at_ < words_.size()) return words_[at_++];
    broken_ = true;
    return 0;
  }
  bool broken() const { return broken_; }

 private:
  std::span<const std::int64_t> words_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

class Machine {
 public:
  // Runs a program, which is the number of steps and then the steps. For each step `results` gets
  // 0, or the number of its ErrorKind. For a step that made a view there follow its rank, extents
  // and strides (0 where no two elements lie along the axis), 1 if it is C-contiguous plus 2 if it
  // is Fortran-contiguous, and 1 if it has a new storage. At the end `contents` gets every view's
  // elements in C order, then every storage's bytes.
  void run(Words& words, std::vector<std::int64_t>& results, std::vector<std::byte>& contents);

  const std::string& last_message() const { return last_message_; }

 private:
  struct Array {
    std::size_t storage = 0;
    DType dtype = DType::boolean;
    View view;
  };

  Result<Array> step(StepOp op, Words& words);
  Result<Array> create(Words& words);
  Result<Array> fresh(DType dtype, const Dims& shape);
  Result<Array> copied(const Array& source, DType dtype, const Dims& shape);
  Status assign(const Array& target, const Array& source);
  void describe(const Array& array, std::vector<std::int64_t>& results) const;

  std::vector<std::vector<std::byte>> storages_;
  std::vector<Array> arrays_;
  std::string last_message_;
};

}  // namespace arraycore::probe
