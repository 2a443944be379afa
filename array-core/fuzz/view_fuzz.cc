// Fuzzes the view functions with any numbers as arguments, on views inside a small storage. Each
// result must be inside the storage too and show the right elements.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "dtype/dtype.h"
#include "view/collapse.h"
#include "view/index.h"
#include "view/overlap.h"
#include "view/reinterpret.h"
#include "view/reshape.h"
#include "view/shape.h"
#include "view/view.h"

namespace {

using namespace arraycore;

constexpr std::int64_t kStorageBytes = 2048;
constexpr std::int64_t kMaxModelled = 4096;  // broadcast views may have more elements than bytes

void require(bool holds) {
  if (!holds) std::abort();
}

// Reads the fuzzer's bytes as numbers. Most of them are small.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  std::uint8_t byte() { return empty() ? 0 : data_[at_++]; }
  std::int64_t number() {
    const std::uint8_t first = byte();
    if (first < 250) return static_cast<std::int64_t>(first) - 125;
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return static_cast<std::int64_t>(value);
  }
  std::vector<std::int64_t> numbers(std::size_t most) {
    std::vector<std::int64_t> result(byte() % (most + 1));
    for (std::int64_t& value : result) value = number();
    return result;
  }
  std::optional<std::int64_t> maybe_number() {
    if (byte() % 2 == 0) return std::nullopt;
    return number();
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

// Returns the byte offsets of a view's elements in C order.
std::vector<std::int64_t> offsets(const View& view) {
  std::vector<std::int64_t> result;
  if (view.count() == 0) return result;
  result.push_back(view.offset);
  for (int axis = 0; axis < view.ndim(); ++axis) {
    std::vector<std::int64_t> next;
    for (const std::int64_t start : result)
      for (std::int64_t i = 0; i < view.shape[axis]; ++i)
        next.push_back(i == 0 ? start : start + i * view.strides[axis]);
    result = next;
  }
  return result;
}

bool is_small(const View& view) { return view.count() <= kMaxModelled; }

std::vector<Index> read_indices(Input& input) {
  std::vector<Index> indices(input.byte() % 6);
  for (Index& index : indices) {
    switch (input.byte() % 4) {
      case 0:
        index = Index::at(input.number());
        break;
      case 1: {
        const auto start = input.maybe_number();
        const auto stop = input.maybe_number();
        index = Index::slice(start, stop, input.maybe_number());
        break;
      }
      case 2:
        index = Index::newaxis();
        break;
      default:
        index = Index::ellipsis();
        break;
    }
  }
  return indices;
}

struct Array {
  View view;
  DType dtype;
  std::size_t item_size() const { return size_of(dtype); }
};

// Returns the view that one random operation makes; nullopt if the operation is refused.
std::optional<Array> apply(Input& input, const Array& array) {
  const View& view = array.view;
  const auto of = [&](const Result<View>& result) -> std::optional<Array> {
    if (!result.ok()) {
      require(!result.error().message.empty() && !result.error().code.empty());
      return std::nullopt;
    }
    return Array{*result, array.dtype};
  };
  const auto reshaped = [&](const Reshaped& result) -> std::optional<Array> {
    if (!result.view) return std::nullopt;
    require(result.view->shape == result.shape);
    // The reshaped view must have the elements of the old view in the same order.
    if (is_small(view)) require(offsets(view) == offsets(*result.view));
    return Array{*result.view, array.dtype};
  };
  switch (input.byte() % 15) {
    case 0:
      return of(basic_index(view, read_indices(input)));
    case 1:
      return of(transpose(view, input.numbers(6)));
    case 2:
      return Array{transpose(view), array.dtype};
    case 3: {
      const std::int64_t axis1 = input.number();
      return of(swap_axes(view, axis1, input.number()));
    }
    case 4: {
      const auto source = input.numbers(4);
      return of(move_axes(view, source, input.numbers(4)));
    }
    case 5: {
      const auto result = reshape(view, input.numbers(33), array.item_size());
      if (!result.ok()) return std::nullopt;
      return reshaped(*result);
    }
    case 6:
      return reshaped(ravel(view, array.item_size()));
    case 7:
      return of(broadcast_to(view, Dims(input.numbers(8))));
    case 8:
      return of(squeeze(view, input.numbers(4)));
    case 9:
      return Array{squeeze(view), array.dtype};
    case 10:
      return of(expand_dims(view, input.numbers(33)));
    case 11: {
      const std::int64_t offset = input.number();
      const std::int64_t axis1 = input.number();
      return of(diagonal(view, offset, axis1, input.number()));
    }
    case 12:
      return of(flip(view, input.numbers(4)));
    case 13: {
      const auto dtype = static_cast<DType>(input.byte() % kDTypes);
      auto result = of(reinterpret(view, array.dtype, dtype));
      if (result) result->dtype = dtype;
      return result;
    }
    default: {
      if (!is_complex(array.dtype)) return Array{flip(view), array.dtype};
      return Array{imag_part(view, array.dtype), part_dtype(array.dtype)};
    }
  }
}

void check_collapse(const View& a, const View& b) {
  const auto pairs = [](const View& first, const View& second) {
    const auto x = offsets(first);
    const auto y = offsets(second);
    std::vector<std::array<std::int64_t, 2>> result;
    for (std::size_t i = 0; i < x.size(); ++i) result.push_back({x[i], y[i]});
    return result;
  };
  std::array<View, 2> kept{a, b};
  collapse(kept, AxisOrder::keep);
  require(kept[0].shape == kept[1].shape);
  auto expected = pairs(a, b);
  require(pairs(kept[0], kept[1]) == expected);
  std::array<View, 2> freed{a, b};
  collapse(freed, AxisOrder::any);
  auto any = pairs(freed[0], freed[1]);
  std::sort(any.begin(), any.end());
  std::sort(expected.begin(), expected.end());
  require(any == expected);
}

bool share_a_byte(const Array& a, const Array& b) {
  const auto marks = [](const Array& array) {
    std::vector<bool> bytes(kStorageBytes);
    for (const std::int64_t offset : offsets(array.view))
      for (std::size_t i = 0; i < array.item_size(); ++i)
        bytes[static_cast<std::size_t>(offset) + i] = true;
    return bytes;
  };
  const auto in_a = marks(a);
  const auto in_b = marks(b);
  for (std::size_t i = 0; i < in_a.size(); ++i)
    if (in_a[i] && in_b[i]) return true;
  return false;
}

// Checks the views of an assignment target[...] = source. The source is broadcast to as many
// elements as the target has. After collapse(), each target element gets the same source element.
void check_assignment(const Array& target, const Array& source) {
  const auto from = broadcast_for_assignment(source.view, target.view.shape);
  if (!from.ok()) return;
  require(offsets(target.view).size() == offsets(*from).size());
  check_collapse(target.view, *from);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  std::vector<std::byte> storage(kStorageBytes);
  for (std::size_t i = 0; i < storage.size(); ++i)
    storage[i] = static_cast<std::byte>(i * 151 >> 3);

  // The first view is made of arbitrary numbers. check_view() must refuse each view that is not
  // inside the storage.
  Array first{{Dims(input.numbers(6)), Dims(input.numbers(6)), input.number()},
              static_cast<DType>(input.byte() % kDTypes)};
  if (!check_view(first.view, first.item_size(), kStorageBytes).ok()) {
    first.dtype = DType::float32;
    first.view = contiguous({4, 5, 6}, 4);
  }
  std::vector<Array> arrays{first};
  for (int step = 0; step < 24 && !input.empty(); ++step) {
    const Array& source = arrays[input.byte() % arrays.size()];
    if (input.byte() % 4 == 0) {
      const Array& other = arrays[input.byte() % arrays.size()];
      if (!is_small(source.view) || !is_small(other.view)) continue;
      const Overlap answer =
          overlap(source.view, source.item_size(), other.view, other.item_size());
      if (share_a_byte(source, other))
        require(answer != Overlap::disjoint);
      else
        require(answer != Overlap::same);
      if (answer == Overlap::same) require(offsets(source.view) == offsets(other.view));
      check_assignment(source, other);
      continue;
    }
    const auto made = apply(input, source);
    if (!made) continue;
    require(check_view(made->view, made->item_size(), kStorageBytes).ok());
    arrays.push_back(*made);
  }
  return 0;
}
