// Reads the words of ac_call (include/arraycore/arraycore.h). Every read is checked, and a call
// with too few words, too many, or words out of range fails once, in end(). Python's thread only.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/result.h"
#include "dtype/dtype.h"
#include "view/view.h"

namespace arraycore {

inline Error bad_call() {
  return {ErrorKind::internal, "bad_call",
          "An operation was called with words that are not its own."};
}

class Words {
 public:
  explicit Words(std::span<const std::int32_t> words) : rest_(words) {}

  std::int32_t next() {
    if (rest_.empty()) return refuse();
    const std::int32_t word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
  }
  // Reads a number in [0, end).
  std::int32_t below(std::int32_t end) {
    const std::int32_t word = next();
    return word >= 0 && word < end ? word : refuse();
  }
  bool flag() { return below(2) != 0; }
  DType dtype() { return static_cast<DType>(below(static_cast<std::int32_t>(kDTypes))); }
  std::int64_t integer() {
    const auto low = static_cast<std::uint32_t>(next());
    const auto high = static_cast<std::uint32_t>(next());
    return static_cast<std::int64_t>(low | static_cast<std::uint64_t>(high) << 32);
  }
  double number() {
    const std::int64_t bits = integer();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  // Reads a count, then as many 64-bit integers.
  Dims dims() {
    Dims dims;
    const std::int32_t count = below(kMaxDims + 1);
    for (std::int32_t i = 0; i < count; ++i) dims.push_back(integer());
    return dims;
  }

  std::size_t left() const { return rest_.size(); }
  // Returns whether all words that were read so far are valid.
  bool ok() const { return !bad_; }
  // Succeeds if all words were valid and none is left. Call it before any other work.
  Status end() const {
    if (!bad_ && rest_.empty()) return Done{};
    return bad_call();
  }

 private:
  std::int32_t refuse() {
    bad_ = true;
    rest_ = {};
    return 0;
  }
  std::span<const std::int32_t> rest_;
  bool bad_ = false;
};

}  // namespace arraycore
