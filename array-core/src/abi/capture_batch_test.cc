// Tests batched launches in captures, and that TapedBackend passes on every call of a back end.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "abi/calls/context.h"
#include "backend/cpu/cpu_backend.h"
#include "ir/builder.h"
#include "paths.h"
#include "testing/fake_device.h"
#include "view/shape.h"

namespace arraycore::capture {
namespace {

// y = y * rate + x.
ir::Kernel update() {
  ir::Builder k("update");
  const auto x = k.in("x", DType::float32);
  const auto rate = k.scalar("rate", DType::float32);
  const auto y = k.in_out("y", DType::float32);
  k.store(y, k.read(y) * k.read(rate) + k.read(x));
  return k.take();
}

// A device whose storages share one buffer, or have one buffer each if `apart` is set. It runs a
// batched launch as one launch for each segment.
struct SharingDevice : FakeDevice {
  std::uint32_t shared_buffer(StorageId storage) const override { return apart ? storage : 1; }
  Status launch_batch(KernelId kernel, std::span<const ir::Scalar> scalars,
                      std::span<const BatchSegment> segments) override {
    ++batches;
    for (const BatchSegment& segment : segments) {
      Launch launch;
      launch.kernel = kernel;
      launch.loop = Dims{segment.count};
      launch.arguments = {segment.arrays[0], scalars[0], segment.arrays[1]};
      for (const std::size_t place : {std::size_t{0}, std::size_t{2}}) {
        View& view = std::get_if<ArrayArgument>(&launch.arguments[place])->view;
        const std::int64_t offset = view.offset;
        view = contiguous({segment.count}, 4);
        view.offset = offset;
      }
      if (const Status done = FakeDevice::launch(launch); !done) return done;
    }
    return Done{};
  }
  bool apart = false;
  int batches = 0;
};

// A library whose step updates three sets of small arrays.
struct Updates {
  Updates() : Updates(std::make_unique<SharingDevice>()) {}
  explicit Updates(std::unique_ptr<SharingDevice> owned)
      : device(*owned), context(make_cpu_backend(), std::move(owned), arrays, std::nullopt) {
    EXPECT_TRUE(context.launcher().set_fusing(true));
    kernel = context.launcher().prepare(update()).value();
    for (const std::int64_t size : {3, 1, 5})
      for (std::vector<ArrayId>* const ids : {&x, &y}) {
        const std::vector<float> values(static_cast<std::size_t>(size),
                                        static_cast<float>(size) / 8);
        ids->push_back(context.create(DType::float32, {size}, values.data()).value());
      }
  }
  void step(float rate) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Array from = **context.get(x[i]);
      const Array to = **context.get(y[i]);
      const std::array<Operand, 3> operands{Operand{&from, {}}, Operand{nullptr, ir::put(rate)},
                                            Operand{&to, {}}};
      EXPECT_TRUE(context.launcher().launch({kernel, from.view.shape, 0, operands, true}));
    }
    EXPECT_TRUE(context.launcher().flush());
  }
  std::vector<float> values() {
    std::vector<float> all;
    for (const ArrayId id : y) {
      std::vector<float> out(static_cast<std::size_t>(context.describe(id)->view.count()));
      EXPECT_TRUE(context.read(id, std::as_writable_bytes(std::span(out))));
      all.insert(all.end(), out.begin(), out.end());
    }
    return all;
  }

  ArrayTable arrays;
  SharingDevice& device;
  Context context;
  KernelRef kernel = 0;
  std::vector<ArrayId> x;
  std::vector<ArrayId> y;
};

void plays_as_plain(bool apart) {
  Updates plain;
  Updates fast;
  for (const float rate : {0.5F, 0.25F}) {
    plain.step(rate);
    ASSERT_TRUE(fast.context.captures().begin());
    fast.step(rate);
    ASSERT_TRUE(fast.context.captures().end());
  }
  EXPECT_EQ(fast.device.batches, 2);
  const auto differing = fast.context.captures().compare();
  ASSERT_TRUE(differing) << differing.error().message;
  ASSERT_EQ(differing->size(), 1U);
  EXPECT_EQ((*differing)[0].argument, 1U);
  fast.device.apart = apart;
  const std::array<std::uint32_t, 1> values{0};
  const auto number = fast.context.captures().build(values);
  ASSERT_TRUE(number);
  for (const float rate : {0.125F, 2.0F, -1.0F}) {
    plain.step(rate);
    const std::vector<std::uint64_t> given{std::bit_cast<std::uint32_t>(rate)};
    ASSERT_TRUE(fast.context.captures().play(*number, given));
    EXPECT_EQ(fast.values(), plain.values()) << rate;
  }
  EXPECT_EQ(fast.device.batches, apart ? 2 : 5);
}

TEST(CaptureBatches, ArePlayedWithTheirScalars) { plays_as_plain(false); }

TEST(CaptureBatches, WhoseArraysHaveNoCommonBufferAreTakenApart) { plays_as_plain(true); }

TEST(CaptureBatches, AResetLetsGoOfWhatWaits) {
  Updates updates;
  {
    const Array from = **updates.context.get(updates.x[0]);
    const Array to = **updates.context.get(updates.y[0]);
    const std::array<Operand, 3> operands{Operand{&from, {}}, Operand{nullptr, ir::put(2.0F)},
                                          Operand{&to, {}}};
    EXPECT_TRUE(
        updates.context.launcher().launch({updates.kernel, from.view.shape, 0, operands, true}));
  }
  EXPECT_TRUE(updates.context.reset());
  EXPECT_EQ(updates.context.counters().live_bytes, 0);
}

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(hyperflock::kSourceDirectory) + "/array-core/src/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// If a call were not passed on, the base class's default would replace the back end's function.
TEST(TapedBackend, PassesOnEveryCallOfABackEnd) {
  const std::string seam = text_of("backend/backend.h");
  const std::string taped = text_of("runtime/capture/taped_backend.h");
  const std::regex call(R"(virtual [^;{}]*?(\w+)\()");
  int found = 0;
  for (std::sregex_iterator each(seam.begin(), seam.end(), call), end; each != end; ++each) {
    const std::string name = (*each)[1];
    // TapedBackend need not pass on the functions for blocks: captures call those of the wrapped
    // back end.
    if (name == "Backend" || name.find("block") != std::string::npos) continue;
    ++found;
    EXPECT_NE(taped.find(" " + name + "("), std::string::npos) << name;
  }
  EXPECT_GT(found, 20);
}

}  // namespace
}  // namespace arraycore::capture
