// The layout of an array in its storage: shape, strides and offset in bytes. Pure arithmetic. Every
// bound is checked here, and later code relies on that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "base/result.h"

namespace arraycore {

inline constexpr int kMaxDims = 32;

// Up to kMaxDims integers without an allocation. A copy copies only the size() values in use,
// because every operation copies views and most have one to three axes.
class Dims {
 public:
  // NOLINTNEXTLINE(*-member-init): values beyond size() are never read
  Dims() {}
  // NOLINTNEXTLINE(*-member-init)
  Dims(const Dims& other) : size_(other.size_) { take(other); }
  Dims& operator=(const Dims& other) {  // NOLINT(bugprone-unhandled-self-assignment): harmless
    size_ = other.size_;
    take(other);
    return *this;
  }
  ~Dims() = default;
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
  void clear() { size_ = 0; }
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
  void take(const Dims& other) {
    for (int i = 0; i < size_; ++i) values_[i] = other.values_[i];
  }
  std::int64_t values_[kMaxDims];  // NOLINT(*-avoid-c-arrays): constant-size, no heap
  std::uint8_t size_ = 0;
};

// Element (i0, i1, ...) is at byte `offset + i0 * strides[0] + i1 * strides[1] + ...` of the
// storage. Strides may be negative or 0 (broadcast).
struct View {
  Dims shape;
  Dims strides;             // in bytes; as many as shape has
  std::int64_t offset = 0;  // in bytes
  bool operator==(const View&) const = default;

  int ndim() const { return shape.size(); }
  std::int64_t count() const {  // the number of elements; 1 for 0 dimensions
    std::int64_t n = 1;
    for (const std::int64_t extent : shape) n *= extent;
    return n;
  }
};

// Returns the C-ordered view of `shape` from byte 0. REQUIRES: checked_bytes(shape,
// item_size).ok().
View contiguous(const Dims& shape, std::size_t item_size);
// Return whether the elements are in C or F order without gaps. As with NumPy's flags, axes of
// extent 1 do not matter, and a view without elements is both.
bool is_c_contiguous(const View& view, std::size_t item_size);
bool is_f_contiguous(const View& view, std::size_t item_size);

// The most elements that a shape may have, with extents of 0 counted as 1. So a count, its bytes in
// any dtype and a product of extents never overflow later.
inline constexpr std::int64_t kMaxCount = (std::int64_t{1} << 59) - 1;
// The most bytes that a storage may have.
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 61;

// Returns the number of elements, or of bytes, of a shape. Error: value, "negative_dimension" or
// "array_too_big".
Result<std::int64_t> checked_count(const Dims& shape);
Result<std::int64_t> checked_bytes(const Dims& shape, std::size_t item_size);

// The bytes [begin, end) that contain the view's elements. Without any, begin == end == offset.
struct ByteExtent {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const ByteExtent&) const = default;
};
ByteExtent byte_extent(const View& view, std::size_t item_size);

// Checks a view whose numbers a user gave: equal ranks of shape and strides, no negative extent, no
// overflow, and each element inside a storage of `storage_bytes`. Error: value, "bad_view". Every
// function of this folder REQUIRES checked views and returns such views.
Status check_view(const View& view, std::size_t item_size, std::int64_t storage_bytes);

}  // namespace arraycore
