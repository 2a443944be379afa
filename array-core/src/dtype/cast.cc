// The 196 pairs of dtypes need one contiguous loop each. Strided or unaligned elements go through
// small aligned blocks, so that they cost no code for each pair.
#include "dtype/cast.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "dtype/convert.h"

namespace arraycore {
namespace {

using Loop = void (*)(const std::byte* src, std::byte* dst, std::int64_t count);

template <DType kFrom, DType kTo>
void contiguous_loop(const std::byte* src, std::byte* dst, std::int64_t count) {
  const auto* __restrict in = reinterpret_cast<const Storage<kFrom>*>(src);
  auto* __restrict out = reinterpret_cast<Storage<kTo>*>(dst);
  for (std::int64_t i = 0; i < count; ++i) out[i] = convert<kFrom, kTo>(in[i]);
}

// Compilers vectorise a comparison with 0 and a conversion of bytes to float, but not both in one
// loop.
template <DType kTo>
void from_bool_loop(const std::byte* src, std::byte* dst, std::int64_t count) {
  constexpr std::int64_t kBlock = 512;
  std::array<std::byte, kBlock> bits;
  for (std::int64_t done = 0; done < count; done += kBlock) {
    const std::int64_t n = std::min(kBlock, count - done);
    contiguous_loop<DType::boolean, DType::uint8>(src + done, bits.data(), n);
    contiguous_loop<DType::uint8, kTo>(bits.data(),
                                       dst + done * static_cast<std::int64_t>(size_of(kTo)), n);
  }
}

constexpr DType unsigned_of(std::size_t size) {
  return size == 1   ? DType::uint8
         : size == 2 ? DType::uint16
         : size == 4 ? DType::uint32
                     : DType::uint64;
}

// Pairs that give the same bytes share one loop. Between integers the target's sign does not
// matter, and the source's sign matters only where it is widened.
template <DType kFrom, DType kTo>
constexpr Loop loop_for() {
  if constexpr (is_integer(kFrom) && is_integer(kTo)) {
    constexpr DType kTarget = unsigned_of(size_of(kTo));
    constexpr DType kSource = size_of(kTo) <= size_of(kFrom) ? unsigned_of(size_of(kFrom)) : kFrom;
    return contiguous_loop<kSource, kTarget>;
  } else if constexpr (kFrom == DType::boolean && !is_integer(kTo) && kTo != kFrom) {
    return from_bool_loop<kTo>;
  } else {
    return contiguous_loop<kFrom, kTo>;
  }
}

template <std::size_t... kPair>
constexpr std::array<Loop, kDTypes * kDTypes> make_loops(std::index_sequence<kPair...>) {
  return {loop_for<static_cast<DType>(kPair / kDTypes), static_cast<DType>(kPair % kDTypes)>()...};
}
constexpr auto kLoops = make_loops(std::make_index_sequence<kDTypes * kDTypes>());

struct Bytes16 {
  std::uint64_t low, high;
};

template <typename Item>
void copy_items(const std::byte* src, std::int64_t src_stride, std::byte* dst,
                std::int64_t dst_stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    Item item;
    std::memcpy(&item, src + i * src_stride, sizeof(Item));
    std::memcpy(dst + i * dst_stride, &item, sizeof(Item));
  }
}

bool is_aligned(const std::byte* address, std::size_t size) {
  return reinterpret_cast<std::uintptr_t>(address) % std::min<std::size_t>(size, 8) == 0;
}

}  // namespace

void copy_elements(std::size_t item_size, const std::byte* src, std::int64_t src_stride,
                   std::byte* dst, std::int64_t dst_stride, std::int64_t count) {
  if (count <= 0) return;
  const auto size = static_cast<std::int64_t>(item_size);
  if (src_stride == size && dst_stride == size) {
    std::memcpy(dst, src, static_cast<std::size_t>(count) * item_size);
    return;
  }
  switch (item_size) {
    case 1:
      return copy_items<std::uint8_t>(src, src_stride, dst, dst_stride, count);
    case 2:
      return copy_items<std::uint16_t>(src, src_stride, dst, dst_stride, count);
    case 4:
      return copy_items<std::uint32_t>(src, src_stride, dst, dst_stride, count);
    case 8:
      return copy_items<std::uint64_t>(src, src_stride, dst, dst_stride, count);
    default:
      return copy_items<Bytes16>(src, src_stride, dst, dst_stride, count);
  }
}

void cast_elements(DType from, const std::byte* src, std::int64_t src_stride, DType to,
                   std::byte* dst, std::int64_t dst_stride, std::int64_t count) {
  if (from == to) return copy_elements(size_of(from), src, src_stride, dst, dst_stride, count);
  const Loop loop = kLoops[static_cast<std::size_t>(from) * kDTypes + static_cast<std::size_t>(to)];
  const auto from_size = static_cast<std::int64_t>(size_of(from));
  const auto to_size = static_cast<std::int64_t>(size_of(to));
  const bool gathers = src_stride != from_size || !is_aligned(src, size_of(from));
  const bool scatters = dst_stride != to_size || !is_aligned(dst, size_of(to));
  if (!gathers && !scatters) return loop(src, dst, count);

  constexpr std::int64_t kBlock =
      256;  // at most 4 KiB a block, so that both stay in the first cache
  alignas(16) std::array<std::byte, kBlock * 16> in;
  alignas(16) std::array<std::byte, kBlock * 16> out;
  for (std::int64_t done = 0; done < count; done += kBlock) {
    const std::int64_t n = std::min(kBlock, count - done);
    const std::byte* block_src = src + done * src_stride;
    std::byte* block_dst = dst + done * dst_stride;
    if (gathers) copy_elements(size_of(from), block_src, src_stride, in.data(), from_size, n);
    loop(gathers ? in.data() : block_src, scatters ? out.data() : block_dst, n);
    if (scatters) copy_elements(size_of(to), out.data(), to_size, block_dst, dst_stride, n);
  }
}

}  // namespace arraycore
