#include "dtype/promotion.h"

#include <array>
#include <string>
#include <utility>

namespace arraycore {
namespace {

constexpr bool is_signed(DType d) { return kind_of(d) == Kind::signed_integer; }

constexpr DType integer_of(bool with_sign, std::size_t size) {
  for (std::size_t i = 0; i < kDTypes; ++i) {
    const auto d = static_cast<DType>(i);
    if (is_integer(d) && is_signed(d) == with_sign && size_of(d) == size) return d;
  }
  return DType::float64;  // only for signed integers of 16 bytes, for which NumPy takes float64
}

// Returns the narrowest floating dtype that holds every value of an integer dtype. For 64-bit
// integers it is float64, which rounds large values.
constexpr DType floating_for(DType d) {
  if (d == DType::boolean || size_of(d) == 1) return DType::float16;
  return size_of(d) == 2 ? DType::float32 : DType::float64;
}

constexpr DType wider(DType a, DType b) { return size_of(a) >= size_of(b) ? a : b; }

constexpr DType promote_pair(DType a, DType b) {
  if (a == b || b == DType::boolean) return a;
  if (a == DType::boolean) return b;
  if (is_integer(a) && is_integer(b)) {
    if (is_signed(a) == is_signed(b)) return wider(a, b);
    const DType with = is_signed(a) ? a : b;
    const DType without = is_signed(a) ? b : a;
    if (size_of(with) > size_of(without)) return with;
    return integer_of(true, 2 * size_of(without));
  }
  if (is_complex(a) || is_complex(b)) {
    const auto part = [](DType d) {
      if (is_complex(d)) return size_of(d) == 8 ? DType::float32 : DType::float64;
      return is_floating(d) ? d : floating_for(d);
    };
    return wider(part(a), part(b)) == DType::float64 ? DType::complex128 : DType::complex64;
  }
  return wider(is_floating(a) ? a : floating_for(a), is_floating(b) ? b : floating_for(b));
}

// ---- NumPy's promotion of many operands
//
// It works on classes: the 14 dtypes and Python's three scalar types. For a pair, the class of
// higher rank decides the result. Of many operands, NumPy combines the class of the highest rank
// with each of the others, so that the order of operands does not matter.
enum class Class : std::uint8_t { python_int = kDTypes, python_float, python_complex };
using ClassId = std::uint8_t;
constexpr ClassId kNone = 0xff;
constexpr ClassId kPythonInt = static_cast<ClassId>(Class::python_int);
constexpr ClassId kPythonFloat = static_cast<ClassId>(Class::python_float);
constexpr ClassId kPythonComplex = static_cast<ClassId>(Class::python_complex);

constexpr ClassId id(DType d) { return static_cast<ClassId>(d); }

// Returns the rank in the order of NumPy's type numbers, but with float16 last.
constexpr int rank(ClassId c) { return c == id(DType::float16) ? 100 : c; }

// Returns the class of the pair (a, b) if `a` decides it. kNone means that `b` decides.
ClassId answer(ClassId a, ClassId b) {
  if (a == b) return a;
  const bool abstract_a = a >= kDTypes;
  const bool abstract_b = b >= kDTypes;
  if (abstract_a && abstract_b) return a > b ? a : kNone;
  if (abstract_a) {
    const Kind kind = kind_of(static_cast<DType>(b));
    if (a == kPythonInt) return kind == Kind::boolean ? id(DType::int64) : kNone;
    if (kind == Kind::floating || kind == Kind::complex) return kNone;
    return a == kPythonFloat ? id(DType::float64) : id(DType::complex128);
  }
  const auto d = static_cast<DType>(a);
  if (abstract_b) {
    if (b == kPythonInt) return d == DType::boolean ? kNone : a;
    if (is_complex(d)) return a;
    if (!is_floating(d)) return kNone;
    if (b == kPythonFloat) return a;
    return d == DType::float64 ? id(DType::complex128) : id(DType::complex64);
  }
  if (rank(b) > rank(a)) return kNone;
  return id(promote_pair(d, static_cast<DType>(b)));
}

ClassId common(ClassId a, ClassId b) {
  const ClassId first = answer(a, b);
  return first != kNone ? first : answer(b, a);
}

// The number of classes. Operands of the same class count once, which does not change the result,
// so no more than this number are kept.
constexpr std::size_t kClasses = kDTypes + 3;

class Classes {
 public:
  void add(ClassId c) {
    for (std::size_t i = 0; i < size_; ++i)
      if (ids_[i] == c) return;
    ids_[size_++] = c;
  }

  // Compares classes in pairs, as NumPy does, until the class of the highest rank is the first one.
  // Removes a class if its pair with a class of higher rank gives the latter. The first two classes
  // are compared last; returns their answer().
  ClassId reduce(std::size_t length) {
    ClassId result = kNone;
    for (std::size_t low = 0; low < length / 2; ++low) {
      const std::size_t high = length - 1 - low;
      if (ids_[low] == kNone || ids_[high] == kNone) continue;
      result = answer(ids_[low], ids_[high]);
      if (result == kNone)
        std::swap(ids_[low], ids_[high]);
      else if (result == ids_[low])
        ids_[high] = kNone;
    }
    if (length == 2) return result;
    return reduce(length - length / 2);
  }

  ClassId resolve() {
    if (size_ == 1) return ids_[0];
    ClassId result = reduce(size_);
    const std::size_t begin = result == kNone ? 1 : 2;
    const ClassId main = ids_[0];
    for (std::size_t i = begin; i < size_; ++i) {
      if (ids_[i] == kNone) continue;
      const ClassId with_main = common(main, ids_[i]);
      result = result == kNone ? with_main : common(result, with_main);
    }
    return result;
  }

  bool empty() const { return size_ == 0; }

 private:
  std::array<ClassId, kClasses> ids_{};
  std::size_t size_ = 0;
};

constexpr int category(DType d) {
  if (d == DType::boolean) return 0;
  return is_integer(d) ? 1 : 2;
}

ClassId class_of(PromotionMode mode, int array_category, const ScalarOperand& scalar) {
  if (scalar.python) return static_cast<ClassId>(kPythonInt + static_cast<int>(*scalar.python));
  const DType d = scalar.dtype;
  if (mode == PromotionMode::numpy2 || d == DType::boolean || category(d) > array_category)
    return id(d);
  if (is_integer(d)) return kPythonInt;
  return is_floating(d) ? kPythonFloat : kPythonComplex;
}

}  // namespace

DType promote(DType a, DType b) { return promote_pair(a, b); }

DType result_type(PromotionMode mode, std::span<const DType> arrays,
                  std::span<const ScalarOperand> scalars) {
  Classes classes;
  int array_category = -1;
  for (const DType d : arrays)
    if (category(d) > array_category) array_category = category(d);
  const bool weak_integers =
      mode == PromotionMode::cupy && array_category == category(DType::float32);
  for (const DType d : arrays) classes.add(weak_integers && is_integer(d) ? kPythonInt : id(d));
  for (const ScalarOperand& scalar : scalars) classes.add(class_of(mode, array_category, scalar));
  if (classes.empty()) return DType::float64;
  switch (const ClassId result = classes.resolve()) {
    case kPythonInt:
      return DType::int64;
    case kPythonFloat:
      return DType::float64;
    case kPythonComplex:
      return DType::complex128;
    default:
      return static_cast<DType>(result);
  }
}

bool can_cast(DType from, DType to, Casting casting) {
  // Unsigned integers come before signed ones, as in NumPy: under same_kind a uint64 may become an
  // int8, but not the reverse.
  const auto order = [](DType d) {
    switch (kind_of(d)) {
      case Kind::boolean:
        return 0;
      case Kind::unsigned_integer:
        return 1;
      case Kind::signed_integer:
        return 2;
      case Kind::floating:
        return 3;
      case Kind::complex:
        break;
    }
    return 4;
  };
  switch (casting) {
    case Casting::no:
    case Casting::equiv:
      return from == to;
    case Casting::safe:
      return promote_pair(from, to) == to;
    case Casting::same_kind:
      return order(from) <= order(to);
    case Casting::unsafe:
      break;
  }
  return true;
}

Status check_fits(const PythonInt& value, DType dtype) {
  if (!is_integer(dtype)) return Done{};
  const unsigned bits = static_cast<unsigned>(size_of(dtype)) * 8;
  bool fits = !value.beyond;
  if (is_signed(dtype)) {
    const std::uint64_t half = std::uint64_t{1} << (bits - 1);
    fits = fits && (value.negative ? value.magnitude <= half : value.magnitude < half);
  } else {
    const bool negative = value.negative && value.magnitude != 0;
    fits = fits && !negative && (bits == 64 || value.magnitude >> bits == 0);
  }
  if (fits) return Done{};
  std::string text = "Python integer ";
  if (value.beyond) {
    text += value.negative ? "below -2**64" : "beyond 2**64";
  } else {
    if (value.negative) text += '-';
    text += std::to_string(value.magnitude);
  }
  text += " out of bounds for ";
  text += name_of(dtype);
  return Error{ErrorKind::value, "scalar_out_of_bounds", std::move(text)};
}

}  // namespace arraycore
