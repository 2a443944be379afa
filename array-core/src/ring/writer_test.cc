// Tests the issuing side: bytes of commands, wrap-around, waits for room, texts, and cost.
#include "ring/writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "ring/rig.h"

namespace arraycore::ring {
namespace {

using Words = std::vector<std::uint32_t>;

Words ring_from(PumpRig& rig, std::uint32_t begin) {
  const auto ring = rig.memory.ring();
  return {ring.begin() + begin, ring.begin() + rig.writer.position()};
}

TEST(Writer, WritesEachCommandAsTheContractSays) {
  PumpRig rig;
  const Address text = rig.writer.address_of(rig.memory.texts().data());
  ASSERT_TRUE(rig.writer.create_buffer(7, 64, "abc").ok());
  EXPECT_EQ(ring_from(rig, 0), (Words{header(Opcode::create_buffer, 5), 7, 64, text, 3}));
  std::uint32_t at = rig.writer.position();
  ASSERT_TRUE(rig.writer.upload(7, 8, 4096, 5).ok());
  EXPECT_EQ(ring_from(rig, at), (Words{header(Opcode::upload, 5), 7, 8, 4096, 5}));
  at = rig.writer.position();
  const std::array bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  ASSERT_TRUE(rig.writer.upload_inline(7, 4, bytes).ok());
  EXPECT_EQ(ring_from(rig, at), (Words{header(Opcode::upload_inline, 6), 7, 4, 5, 0x04030201, 5}));
  at = rig.writer.position();
  ASSERT_TRUE(rig.writer.copy(7, 0, 8, 4, 12).ok());
  EXPECT_EQ(ring_from(rig, at), (Words{header(Opcode::copy, 6), 7, 0, 8, 4, 12}));
  at = rig.writer.position();
  ASSERT_TRUE(rig.writer.fill(7, 0, 64, 9).ok());
  EXPECT_EQ(ring_from(rig, at), (Words{header(Opcode::fill, 5), 7, 0, 64, 9}));
  at = rig.writer.position();
  ASSERT_TRUE(rig.writer
                  .create_pipeline(3, {.text = "text",
                                       .label = "add",
                                       .uniform_bytes = 8,
                                       .bindings = 3,
                                       .read_write_mask = 4})
                  .ok());
  EXPECT_EQ(ring_from(rig, at),
            (Words{header(Opcode::create_pipeline, 9), 3, text + 3, 4, text + 7, 3, 8, 3, 4}));
  at = rig.writer.position();
  const std::array<Binding, 2> bindings{{{7, 256, 64}, {8, 0, 16}}};
  const std::array<std::uint32_t, 3> uniforms{10, 20, 30};
  ASSERT_TRUE(rig.writer
                  .dispatch({.tag = 99,
                             .pipeline = 3,
                             .x = 4,
                             .y = 5,
                             .z = 6,
                             .bindings = bindings,
                             .uniforms = uniforms})
                  .ok());
  EXPECT_EQ(ring_from(rig, at), (Words{header(Opcode::dispatch, 16), 99, 3, 4, 5, 6, 2 | 3 << 16, 7,
                                       256, 64, 8, 0, 16, 10, 20, 30}));
  at = rig.writer.position();
  ASSERT_TRUE(rig.writer.read(7, 0, 512, 16).ok());
  ASSERT_TRUE(rig.writer.timestamp_begin().ok());
  ASSERT_TRUE(rig.writer.timestamp_end(600).ok());
  ASSERT_TRUE(rig.writer.destroy_buffer(7).ok());
  ASSERT_TRUE(rig.writer.destroy_pipeline(3).ok());
  EXPECT_EQ(*rig.writer.fence(), 1U);
  EXPECT_EQ(ring_from(rig, at),
            (Words{header(Opcode::read, 5), 7, 0, 512, 16, header(Opcode::timestamp_begin, 1),
                   header(Opcode::timestamp_end, 2), 600, header(Opcode::destroy_buffer, 2), 7,
                   header(Opcode::destroy_pipeline, 2), 3, header(Opcode::fence, 2), 1}));
}

TEST(Writer, TellsTheExecutorWhereTheRingIs) {
  PumpRig rig(256);
  EXPECT_EQ(rig.control[Word::magic], kMagic);
  EXPECT_EQ(rig.control[Word::ring_address], 0U);
  EXPECT_EQ(rig.control[Word::ring_words], 256U);
}

TEST(Writer, NothingIsVisibleBeforeAGroupIsFullOrFlushed) {
  PumpRig rig(1024, {.publish_every = 4});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.writer.fill(1, 0, 4, 0).ok());
  EXPECT_EQ(rig.control[Word::written], 0U);
  ASSERT_TRUE(rig.writer.fill(1, 0, 4, 0).ok());
  EXPECT_EQ(rig.control[Word::written], 20U);
  ASSERT_TRUE(rig.writer.fill(1, 0, 4, 0).ok());
  rig.writer.flush();
  EXPECT_EQ(rig.control[Word::written], 25U);
}

TEST(Writer, NoCommandWrapsRoundTheEnd) {
  // In a ring of 32 words, six commands of 5 words fit. 2 words remain for padding.
  PumpRig rig(32);
  ASSERT_TRUE(rig.writer.create_buffer(1, 64, "").ok());
  for (std::uint32_t i = 0; i < 5; ++i) ASSERT_TRUE(rig.writer.fill(1, 4 * i, 4, i).ok());
  EXPECT_EQ(rig.writer.position(), 30U);
  ASSERT_TRUE(rig.writer.fill(1, 20, 4, 5).ok());
  EXPECT_EQ(rig.writer.position(), 37U);
  EXPECT_EQ(rig.memory.ring()[30], header(Opcode::pad, 2));
  ASSERT_TRUE(rig.finish().ok());
  std::uint32_t words[6] = {};
  std::memcpy(words, rig.executor.buffers().at(1).bytes.data(), sizeof words);
  for (std::uint32_t i = 0; i < 6; ++i) EXPECT_EQ(words[i], i);
}

TEST(Writer, ABlockIsWhatWasTapped) {
  PumpRig rig(64);
  ASSERT_TRUE(rig.writer.create_buffer(1, 64, "").ok());
  std::vector<std::uint32_t> block;
  rig.writer.tap(&block);
  ASSERT_TRUE(rig.writer.create_buffer(2, 64, "")
                  .ok());  // it can exist once, so the block does not have it
  for (std::uint32_t i = 0; i < 5; ++i) ASSERT_TRUE(rig.writer.fill(1, 4 * i, 4, i).ok());
  ASSERT_TRUE(rig.writer.copy(1, 0, 2, 0, 20).ok());
  rig.writer.tap(nullptr);
  ASSERT_TRUE(rig.writer.fill(1, 0, 64, 99).ok());
  EXPECT_EQ(block.size(), 5U * 5 + 6);

  // The block is appended so often that it begins at every place of the ring.
  for (int turn = 0; turn < 40; ++turn) {
    ASSERT_TRUE(rig.writer.fill(2, 0, 64, 77).ok());
    std::size_t from = 0;
    ASSERT_TRUE(rig.writer.append_block(block, from).ok());
    EXPECT_EQ(from, block.size());
    ASSERT_TRUE(rig.finish().ok());
    std::uint32_t words[5] = {};
    std::memcpy(words, rig.executor.buffers().at(2).bytes.data(), sizeof words);
    for (std::uint32_t i = 0; i < 5; ++i) ASSERT_EQ(words[i], i) << turn;
  }
}

TEST(Writer, ABlockThatWasInterruptedGoesOnWhereItStood) {
  PumpRig rig(32);
  ASSERT_TRUE(rig.writer.create_buffer(1, 256, "").ok());
  ASSERT_TRUE(rig.finish().ok());
  std::vector<std::uint32_t> block;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::array<std::uint32_t, 5> fill{header(Opcode::fill, 5), 1, 4 * i, 4, i + 1};
    block.insert(block.end(), fill.begin(), fill.end());
  }
  rig.control[Word::interrupt] = kInterruptOnce;
  std::size_t from = 0;
  const Status stopped = rig.writer.append_block(block, from);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, "interrupted");
  EXPECT_GT(from, 0U);
  EXPECT_LT(from, block.size());
  ASSERT_TRUE(rig.writer.append_block(block, from).ok());
  ASSERT_TRUE(rig.finish().ok());
  std::uint32_t words[20] = {};
  std::memcpy(words, rig.executor.buffers().at(1).bytes.data(), sizeof words);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(words[i], i + 1);
}

TEST(Writer, PositionsGoRoundAt32Bits) {
  // The writer and the executor start just before 2^32 words, where positions overflow.
  PumpRig rig(64);
  ASSERT_TRUE(rig.writer.create_buffer(1, 4, "").ok());
  ASSERT_TRUE(rig.finish().ok());
  const std::uint32_t far = 0U - 64U;
  rig.writer.skip_to_for_test(far);
  rig.executor.skip_to_for_test(far);
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(rig.writer.fill(1, 0, 4, i).ok());
    ASSERT_TRUE(rig.finish().ok());
  }
  EXPECT_LT(rig.writer.position(), 1000U);
  std::uint32_t word = 0;
  std::memcpy(&word, rig.executor.buffers().at(1).bytes.data(), 4);
  EXPECT_EQ(word, 99U);
}

TEST(Writer, WaitsForRoomAndUsesTextSpaceAgain) {
  PumpRig rig(64);
  const std::string label(1500, 'x');  // room for two such labels
  for (std::uint32_t id = 1; id <= 40; ++id)
    ASSERT_TRUE(rig.writer.create_buffer(id, 4, label + std::to_string(id)).ok());
  ASSERT_TRUE(rig.finish().ok());
  ASSERT_EQ(rig.executor.buffers().size(), 40U);
  for (std::uint32_t id = 1; id <= 40; ++id)
    EXPECT_EQ(rig.executor.buffers().at(id).label, label + std::to_string(id));
}

TEST(Writer, RefusesWhatCannotBeACommand) {
  PumpRig rig(64);
  const std::vector<std::byte> large(100);
  EXPECT_EQ(rig.writer.upload_inline(1, 0, large).error().code, "inline_too_large");
  EXPECT_EQ(rig.writer.label(std::string(5000, 'x')).error().code, "text_too_large");
  const std::vector<Binding> many(kMaxBindings + 1);
  EXPECT_EQ(rig.writer.dispatch({.bindings = many}).error().code, "dispatch_too_large");
  const std::vector<Binding> some(20);
  EXPECT_EQ(rig.writer.dispatch({.bindings = some}).error().code, "dispatch_too_large")
      << "67 words do not fit into half of a ring of 64";
  EXPECT_EQ(rig.writer.create_pipeline(1, {.bindings = kMaxBindings + 1}).error().code,
            "too_many_bindings");
  EXPECT_EQ(rig.writer.position(), 0U);
}

TEST(Writer, SaysWhenUploadedMemoryIsFree) {
  PumpRig rig;
  ASSERT_TRUE(rig.writer.create_buffer(1, 4, "").ok());
  ASSERT_TRUE(rig.writer.upload(1, 0, rig.memory.data(), 4).ok());
  const std::uint32_t position = rig.writer.position();
  EXPECT_FALSE(rig.writer.is_consumed(position));
  ASSERT_TRUE(rig.finish().ok());
  EXPECT_TRUE(rig.writer.is_consumed(position));
}

TEST(Writer, AnErrorIsReportedOnceAndNamesItsCommand) {
  PumpRig rig;
  ASSERT_TRUE(rig.writer.label("softmax").ok());
  ASSERT_TRUE(rig.writer.create_buffer(1, 4, "").ok());
  const std::uint32_t position = rig.writer.position();
  ASSERT_TRUE(rig.writer.dispatch({.tag = 42, .pipeline = 5}).ok());
  const Status status = rig.finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::device);
  EXPECT_EQ(status.error().code, "unknown_pipeline");
  EXPECT_EQ(status.error().message, "dispatch of 'softmax': there is no pipeline 5");
  EXPECT_EQ(rig.writer.last_fault().position, position);
  EXPECT_EQ(rig.writer.last_fault().opcode, Opcode::dispatch);
  EXPECT_EQ(rig.writer.last_fault().tag, 42U);
  EXPECT_TRUE(rig.finish().ok());
}

struct Greek final : Operations {
  std::string name_of(std::uint32_t tag) const override { return tag == 42 ? "alpha" : ""; }
};

TEST(Writer, AnErrorBeginsWithItsOperationsName) {
  PumpRig rig;
  const Greek names;
  rig.writer.name_operations(names);
  ASSERT_TRUE(rig.writer.dispatch({.tag = 42, .pipeline = 5}).ok());
  ASSERT_TRUE(rig.writer.dispatch({.tag = 43, .pipeline = 6}).ok());
  EXPECT_EQ(rig.finish().error().message, "alpha: dispatch: there is no pipeline 5");
  // An error without a command is attributed to the newest dispatch, and this one has no name.
  rig.control[Word::state] = static_cast<std::uint32_t>(State::gone);
  EXPECT_TRUE(rig.finish().error().message.starts_with("The thread that owns the device"));
  ASSERT_TRUE(rig.writer.dispatch({.tag = 42, .pipeline = 5}).ok());
  EXPECT_TRUE(rig.finish().error().message.starts_with("alpha: The thread that owns the device"));
}

// A host that starts a new executor when it is asked to.
struct RevivingHost : PumpHost {
  void revive_executor() override {
    ++revivals;
    executor = spare;
  }
  RecordingExecutor* spare = nullptr;
  int revivals = 0;
};

TEST(Writer, AResetAsksForAnotherExecutorOnlyWhereOneIsGone) {
  ControlBlock control;
  RingMemory memory(1024);
  RevivingHost host;
  RecordingExecutor first(control, memory.base(), memory.bytes(), host);
  RecordingExecutor second(control, memory.base(), memory.bytes(), host);
  Writer writer(control, memory.ring(), memory.texts(), memory.base(), host);
  host.executor = &first;
  host.spare = &second;
  ASSERT_TRUE(writer.wait(writer.fence().value()).ok());
  ASSERT_TRUE(writer.reset().ok());
  EXPECT_EQ(host.revivals, 0);
  host.executor = nullptr;  // it no longer answers, and nobody reported that
  const std::uint64_t before = host.clock_ms;
  EXPECT_EQ(writer.wait(writer.fence().value()).error().code, "executor_gone");
  EXPECT_LE(host.clock_ms - before, kSilenceMs + 2 * kSliceMs);
  ASSERT_TRUE(writer.reset().ok());
  EXPECT_EQ(host.revivals, 1);
  EXPECT_TRUE(writer.wait(writer.fence().value()).ok());
  control[Word::state] = static_cast<std::uint32_t>(State::gone);  // its owner reported it
  host.spare = &first;
  ASSERT_TRUE(writer.reset().ok());
  EXPECT_EQ(host.revivals, 2);
}

TEST(Writer, AClosedControlBlockIsNoRingAnyMore) {
  PumpRig rig;
  ASSERT_TRUE(rig.finish().ok());
  EXPECT_EQ(rig.control[Word::magic], kMagic);
  ASSERT_TRUE(rig.writer.close().ok());
  EXPECT_EQ(rig.control[Word::magic], 0U);
}

// Takes the best of many short series, so that a busy machine does not decide the result.
TEST(Writer, ADispatchCostsLessThanAMicrosecond) {
  PumpRig rig(1 << 16);
  rig.executor.record = false;
  ASSERT_TRUE(rig.writer.create_buffer(1, 4096, "").ok());
  ASSERT_TRUE(
      rig.writer
          .create_pipeline(
              1,
              {.text = "w", .label = "l", .uniform_bytes = 16, .bindings = 3, .read_write_mask = 7})
          .ok());
  const std::array<Binding, 3> bindings{{{1, 0, 256}, {1, 256, 256}, {1, 512, 256}}};
  const std::array<std::uint32_t, 4> uniforms{1, 2, 3, 4};
  constexpr int kSeries = 40;
  constexpr int kDispatches = 500;
  double best_us = 1e9;
  for (int series = 0; series < kSeries; ++series) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kDispatches; ++i)
      ASSERT_TRUE(
          rig.writer.dispatch({.pipeline = 1, .bindings = bindings, .uniforms = uniforms}).ok());
    const std::chrono::duration<double, std::micro> spent =
        std::chrono::steady_clock::now() - begin;
    best_us = std::min(best_us, spent.count() / kDispatches);
    ASSERT_TRUE(rig.finish().ok());
  }
  EXPECT_EQ(rig.control[Word::dispatches], std::uint32_t{kSeries * kDispatches});
  EXPECT_LT(best_us, 1.0);
  RecordProperty("dispatch_us", std::to_string(best_us));
}

}  // namespace
}  // namespace arraycore::ring
