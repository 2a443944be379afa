// Tests that packed launches compute what unpacked launches do. The reference interpreter runs
// both, on random kernels whose arguments are spread over random buffers.
#include "backend/gpu/packing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "ir/builder.h"
#include "ir/interpret.h"

namespace arraycore {
namespace {

using Buffers = std::map<std::uint32_t, std::vector<std::byte>>;

// Runs a launch whose operands are in `ranges`, which are parts of `buffers`.
void run(const ir::Kernel& kernel, const codegen::Launch& launch,
         const std::vector<BoundRange>& ranges, Buffers& buffers) {
  ir::Launch reference{launch.loop, launch.reduced, {}};
  for (const codegen::Operand& operand : launch.operands) {
    const BoundRange& range = ranges[operand.binding];
    reference.arguments.push_back(
        ir::Argument::array(buffers.at(range.buffer).data() + range.offset, operand.view));
  }
  const Status done = ir::interpret(kernel, reference);
  ASSERT_TRUE(done) << done.error().message;
}

struct Case {
  ir::Kernel kernel;
  codegen::Launch launch;
  std::vector<BoundRange> ranges;
  Buffers buffers;
};

// Makes a kernel whose outputs are sums of some inputs. The arguments are slices of storages, some
// of which are in one heap.
Case random_case(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Case result;
  const std::int64_t elements = 1 + below(40);
  const std::uint32_t inputs = 2 + below(12);
  const std::uint32_t outputs = 1 + below(6);
  const std::uint32_t heaps = 1 + below(12);
  std::vector<std::uint32_t> ends(heaps, 0);
  ir::Builder k("sums");
  std::vector<ir::ParamRef> read;
  std::vector<ir::ParamRef> written;
  for (std::uint32_t i = 0; i < inputs; ++i)
    read.push_back(k.in("x" + std::to_string(i), DType::int32));
  for (std::uint32_t i = 0; i < outputs; ++i)
    written.push_back(k.out("y" + std::to_string(i), DType::int32));
  for (const ir::ParamRef& out : written) {
    ir::Value sum = k.read(read[below(inputs)]);
    for (const ir::ParamRef& in : read)
      if (below(2) == 0) sum = sum + k.read(in);
    k.store(out, sum);
  }
  result.kernel = k.take();
  result.launch.loop = {elements};
  for (std::uint32_t i = 0; i < inputs + outputs; ++i) {
    const bool again = i < inputs && i > 0 && below(4) == 0;  // another view of an earlier storage
    const std::int64_t stride = again ? 4 : 4 * (1 + below(3));
    const std::int64_t offset = again ? 0 : 4 * below(20);
    std::size_t place = result.ranges.size();
    if (again) {
      place = result.launch.operands[below(i)].binding;
    } else {
      const std::uint32_t heap = below(heaps);
      const auto bytes = static_cast<std::uint32_t>((offset + elements * stride + 15) / 16 * 16);
      result.ranges.push_back({heap + 1, ends[heap], bytes});
      ends[heap] += (bytes + 255) / 256 * 256;
    }
    const BoundRange& range = result.ranges[place];
    result.launch.operands.push_back({static_cast<std::uint32_t>(place),
                                      range.buffer,
                                      range.bytes,
                                      {{elements}, {stride}, offset},
                                      {}});
  }
  for (std::uint32_t heap = 0; heap < heaps; ++heap) {
    auto& bytes = result.buffers[heap + 1];
    bytes.resize(ends[heap]);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(below(256));
  }
  return result;
}

TEST(Packing, ComputesWhatUnpackedLaunchesDo) {
  int blocks = 0;
  int shared = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    const Case original = random_case(seed);
    Case plain = original;
    run(plain.kernel, plain.launch, plain.ranges, plain.buffers);

    for (std::uint32_t most = 1; most <= 8; ++most) {
      Case packed = original;
      if (packed.ranges.size() <= most) break;
      const auto packing = pack(packed.kernel, packed.launch, packed.ranges, most, 1 << 30);
      ASSERT_TRUE(packing) << packing.error().message;
      ASSERT_LE(packed.ranges.size(), most);
      (packing->block_bytes > 0 ? blocks : shared) += 1;
      constexpr std::uint32_t kBlock = 1000;
      if (packing->block_bytes > 0) {
        packed.ranges[packing->block].buffer = kBlock;
        packed.buffers[kBlock].resize(packing->block_bytes);
      }
      for (const PackedPiece& piece : packing->pieces) {
        EXPECT_EQ(piece.offset % 4 + piece.bytes % 4 + piece.place % 4, 0U);
        ASSERT_LE(piece.place + piece.bytes, packing->block_bytes);
        ASSERT_LE(piece.offset + piece.bytes, packed.buffers.at(piece.buffer).size());
        std::memcpy(packed.buffers[kBlock].data() + piece.place,
                    packed.buffers[piece.buffer].data() + piece.offset, piece.bytes);
      }
      run(packed.kernel, packed.launch, packed.ranges, packed.buffers);
      for (const PackedPiece& piece : packing->pieces)
        if (piece.written)
          std::memcpy(packed.buffers[piece.buffer].data() + piece.offset,
                      packed.buffers[kBlock].data() + piece.place, piece.bytes);
      packed.buffers.erase(kBlock);
      ASSERT_EQ(packed.buffers, plain.buffers) << "seed " << seed << ", at most " << most;
    }
  }
  EXPECT_GT(blocks, 100);
  EXPECT_GT(shared, 100);
}

TEST(Packing, RefusesABlockThatNoBufferHolds) {
  Case all;
  for (std::uint32_t seed = 0; all.ranges.size() < 10; ++seed) all = random_case(seed);
  for (std::size_t r = 0; r < all.ranges.size(); ++r)
    all.ranges[r].buffer = static_cast<std::uint32_t>(r + 1);  // nothing shares a heap
  const auto packing = pack(all.kernel, all.launch, all.ranges, 2, 16);
  ASSERT_FALSE(packing);
  EXPECT_EQ(packing.error().kind, ErrorKind::not_implemented);
  EXPECT_EQ(packing.error().code, "too_many_bindings");
}

}  // namespace
}  // namespace arraycore
