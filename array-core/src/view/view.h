// How an array lies in its storage: shape, byte strides, byte offset. Pure arithmetic; every bound
// is checked here and nowhere later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace arraycore {

inline constexpr int kMaxDims = 32;

// Up to kMaxDims integers without an allocation.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) push_back(value);
  }
  explicit Dims(std::span<const std::int64_t> values) {
    for (const std::int64_t value : values) push_back(value);
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t& operator[](int i) { return values_[i]; }
  std::int64_t operator[](int i) const { return values_[i]; }
  std::int64_t* begin() { return values_; }
  std::int64_t* end() { return values_ + size_; }
  const std::int64_t* begin() const { return values_; }
  const std::int64_t* end() const { return values_ + size_; }
  // REQUIRES: size() < kMaxDims.
  void push_back(std::int64_t value) { values_[size_++] = value; }
  void resize(int size, std::int64_t fill = 0) {
    for (int i = size_; i < size; ++i) values_[i] = fill;
    size_ = static_cast<std::uint8_t>(size);
  }
  bool operator==(const Dims& other) const {
    if (size_ != other.size_) return false;
    for (int i = 0; i < size_; ++i)
      if (values_[i] != other.values_[i]) return false;
    return true;
  }

 private:
  std::int64_t values_[kMaxDims] = {};  // NOLINT(*-avoid-c-arrays): constant-size, no heap
  std::uint8_t size_ = 0;
};

// Element (i0, i1, ...) lies at byte `offset + i0 * strides[0] + i1 * strides[1] + ...` of the
// storage. Strides may be negative or 0 (broadcast).
struct View {
  Dims shape;
  Dims strides;             // bytes; as many as shape has
  std::int64_t offset = 0;  // bytes
  bool operator==(const View&) const = default;

  int ndim() const { return shape.size(); }
  std::int64_t count() const {  // elements; 1 for 0 dimensions
    std::int64_t n = 1;
    for (const std::int64_t extent : shape) n *= extent;
    return n;
  }
};

// The C-ordered view of `shape` from byte 0.
View contiguous(const Dims& shape, std::size_t item_size);
bool is_c_contiguous(const View& view, std::size_t item_size);
bool is_f_contiguous(const View& view, std::size_t item_size);

}  // namespace arraycore
