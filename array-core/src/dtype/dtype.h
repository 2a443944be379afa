// The element types of NumPy that array-core has, in NumPy's memory layout (little-endian).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace arraycore {

// Element types. The numbers are part of the C interface.
enum class DType : std::uint8_t {
  boolean = 0,
  int8 = 1,
  uint8 = 2,
  int16 = 3,
  uint16 = 4,
  int32 = 5,
  uint32 = 6,
  int64 = 7,
  uint64 = 8,
  float16 = 9,
  float32 = 10,
  float64 = 11,
  complex64 = 12,
  complex128 = 13,
};
inline constexpr std::size_t kDTypes = 14;

enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating, complex };

struct DTypeInfo {
  std::string_view name;     // NumPy's: "float32"
  std::string_view typestr;  // as in the array interface: "<f4"
  char letter;               // NumPy's and CuPy's one-letter code: 'f'
  Kind kind;
  std::uint8_t size;  // bytes of one element
};

inline constexpr std::array<DTypeInfo, kDTypes> kDTypeInfo{{
    {"bool", "|b1", '?', Kind::boolean, 1},
    {"int8", "|i1", 'b', Kind::signed_integer, 1},
    {"uint8", "|u1", 'B', Kind::unsigned_integer, 1},
    {"int16", "<i2", 'h', Kind::signed_integer, 2},
    {"uint16", "<u2", 'H', Kind::unsigned_integer, 2},
    {"int32", "<i4", 'i', Kind::signed_integer, 4},
    {"uint32", "<u4", 'I', Kind::unsigned_integer, 4},
    {"int64", "<i8", 'q', Kind::signed_integer, 8},
    {"uint64", "<u8", 'Q', Kind::unsigned_integer, 8},
    {"float16", "<f2", 'e', Kind::floating, 2},
    {"float32", "<f4", 'f', Kind::floating, 4},
    {"float64", "<f8", 'd', Kind::floating, 8},
    {"complex64", "<c8", 'F', Kind::complex, 8},
    {"complex128", "<c16", 'D', Kind::complex, 16},
}};

constexpr const DTypeInfo& info(DType dtype) { return kDTypeInfo[static_cast<std::size_t>(dtype)]; }
constexpr std::size_t size_of(DType dtype) { return info(dtype).size; }
constexpr Kind kind_of(DType dtype) { return info(dtype).kind; }
constexpr std::string_view name_of(DType dtype) { return info(dtype).name; }
constexpr bool is_integer(DType d) {
  return kind_of(d) == Kind::signed_integer || kind_of(d) == Kind::unsigned_integer;
}
constexpr bool is_floating(DType d) { return kind_of(d) == Kind::floating; }
constexpr bool is_complex(DType d) { return kind_of(d) == Kind::complex; }
// float64 and complex128 are only on the CPU back end, because no browser's GPU computes them.
constexpr bool on_gpu(DType d) { return d != DType::float64 && d != DType::complex128; }

constexpr std::optional<DType> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < kDTypes; ++i)
    if (kDTypeInfo[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace arraycore
