// Arrays as parameters of statements, in PostgreSQL's binary format. Pure.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hyperflock::storage::postgres {

// The numbers of types in PostgreSQL's catalog, which never change.
enum class TypeId : unsigned {
  boolean = 16,
  bytes = 17,
  int8 = 20,
  int2 = 21,
  int4 = 23,
  text = 25,
  float8 = 701,
  numeric = 1700,
  bytes_array = 1001,
  text_array = 1009,
  int8_array = 1016,
  float8_array = 1022,
};

// Appends a number with the most significant byte first.
template <typename Number>
void append_big_endian(std::string& out, Number number) {
  for (int shift = 8 * (static_cast<int>(sizeof number) - 1); shift >= 0; shift -= 8)
    out += static_cast<char>((static_cast<std::uint64_t>(number) >> shift) & 0xff);
}

// Returns the text without what PostgreSQL does not store: NUL bytes and sequences that are not
// UTF-8 become U+FFFD. nullopt: it has none of these.
std::optional<std::string> storable(std::string_view text);

// A list of values that is bound as one parameter.
class Array {
 public:
  Array(TypeId type, TypeId element) : type_(type) {
    append_big_endian<std::uint32_t>(bytes_, 1);  // dimensions
    append_big_endian<std::uint32_t>(bytes_, 0);  // whether it has nulls
    append_big_endian(bytes_, static_cast<std::uint32_t>(element));
    append_big_endian<std::uint32_t>(bytes_, 0);  // its length
    append_big_endian<std::uint32_t>(bytes_, 1);  // the first index
  }

  void add_bytes(std::string_view bytes) {
    append_big_endian(bytes_, static_cast<std::uint32_t>(bytes.size()));
    bytes_ += bytes;
    count();
  }
  void add_null() {
    bytes_[7] = 1;
    append_big_endian(bytes_, ~std::uint32_t{0});
    count();
  }

  TypeId type() const { return type_; }
  const std::string& bytes() const { return bytes_; }
  std::uint32_t size() const { return size_; }

 private:
  void count() {
    std::string length;
    append_big_endian(length, ++size_);
    bytes_.replace(12, 4, length);
  }

  TypeId type_;
  std::uint32_t size_ = 0;
  std::string bytes_;
};

class Integers : public Array {
 public:
  Integers() : Array(TypeId::int8_array, TypeId::int8) {}
  template <typename T>
  void add(T value) {
    std::string bytes;
    append_big_endian(bytes, static_cast<std::int64_t>(value));
    add_bytes(bytes);
  }
  template <typename T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      add_null();
    }
  }
};

class Reals : public Array {
 public:
  Reals() : Array(TypeId::float8_array, TypeId::float8) {}
  void add(double value) {
    std::string bytes;
    append_big_endian(bytes, std::bit_cast<std::int64_t>(value));
    add_bytes(bytes);
  }
};

class Texts : public Array {
 public:
  Texts() : Array(TypeId::text_array, TypeId::text) {}
  void add(std::string_view value) {
    const auto other = storable(value);
    add_bytes(other ? *other : value);
  }
  void add_or_null(const std::optional<std::string_view>& value) {
    if (value) {
      add(*value);
    } else {
      add_null();
    }
  }
};

class Blobs : public Array {
 public:
  Blobs() : Array(TypeId::bytes_array, TypeId::bytes) {}
  void add(std::string_view value) { add_bytes(value); }
};

}  // namespace hyperflock::storage::postgres
