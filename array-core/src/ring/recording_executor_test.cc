// Tests the recording executor: what commands do to its buffers, what it refuses, and the faults
// that a test configures.
#include "ring/recording_executor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "ring/names.h"
#include "ring/rig.h"

namespace arraycore::ring {
namespace {

std::uint32_t word_at(const PumpRig& rig, std::uint32_t id, std::size_t index) {
  std::uint32_t word = 0;
  std::memcpy(&word, rig.executor.buffers().at(id).bytes.data() + 4 * index, 4);
  return word;
}

TEST(RecordingExecutor, MovesBytesAsADeviceDoes) {
  PumpRig rig;
  const Address data = rig.memory.data();
  for (std::uint32_t i = 0; i < 16; ++i) std::memcpy(rig.memory.at(data + 4 * i), &i, 4);
  ASSERT_TRUE(rig.writer.create_buffer(1, 64, "one").ok());
  ASSERT_TRUE(rig.writer.create_buffer(2, 64, "two").ok());
  ASSERT_TRUE(rig.writer.fill(1, 0, 64, 0xFFFFFFFF).ok());
  ASSERT_TRUE(rig.writer.upload(1, 4, data, 7).ok());  // words 0, 1 and the low bytes of 1
  ASSERT_TRUE(rig.writer.copy(1, 4, 2, 0, 8).ok());
  ASSERT_TRUE(rig.writer.read(2, 0, data + 128, 7).ok());
  ASSERT_TRUE(rig.finish().ok());
  EXPECT_EQ(word_at(rig, 1, 0), 0xFFFFFFFF);
  EXPECT_EQ(word_at(rig, 1, 1), 0U);
  EXPECT_EQ(word_at(rig, 1, 2), 1U);
  EXPECT_EQ(word_at(rig, 1, 3), 0xFFFFFFFF);
  EXPECT_EQ(std::memcmp(rig.memory.at(data), rig.memory.at(data + 128), 7), 0);
  EXPECT_EQ(rig.control[Word::bytes_up], 7U);
  EXPECT_EQ(rig.control[Word::bytes_down], 7U);
  EXPECT_EQ(rig.control[Word::buffers_live], 2U);
}

TEST(RecordingExecutor, RunsAKernelOfTheTest) {
  PumpRig rig;
  rig.executor.kernel = [](const RecordedPipeline& pipeline, const std::uint32_t* grid,
                           const std::vector<std::byte*>& bindings, const std::uint32_t* uniforms) {
    EXPECT_EQ(pipeline.label, "scale");
    EXPECT_EQ(grid[0], 3U);
    const std::uint32_t value = uniforms[0] * 2;
    std::memcpy(bindings[0], &value, 4);
  };
  ASSERT_TRUE(rig.writer.create_buffer(1, 256, "").ok());
  ASSERT_TRUE(rig.writer
                  .create_pipeline(1, {.text = "w",
                                       .label = "scale",
                                       .uniform_bytes = 4,
                                       .bindings = 1,
                                       .read_write_mask = 1})
                  .ok());
  const std::array<Binding, 1> bindings{{{1, 0, 256}}};
  const std::array<std::uint32_t, 1> uniforms{21};
  ASSERT_TRUE(
      rig.writer.dispatch({.pipeline = 1, .x = 3, .bindings = bindings, .uniforms = uniforms})
          .ok());
  ASSERT_TRUE(rig.finish().ok());
  EXPECT_EQ(word_at(rig, 1, 0), 42U);
  EXPECT_EQ(rig.control[Word::dispatches], 1U);
  ASSERT_EQ(rig.executor.commands().size(), 4U);
  EXPECT_EQ(rig.executor.commands()[2].opcode, Opcode::dispatch);
}

struct WrongBindings {
  std::vector<Binding> bindings;
  std::string_view code;
};

TEST(RecordingExecutor, RefusesWhatADeviceWouldRefuse) {
  const std::vector<WrongBindings> wrong{
      {{{1, 0, 16}}, "bad_binding"},                // too few
      {{{1, 0, 16}, {2, 4, 16}}, "bad_binding"},    // unaligned
      {{{1, 0, 16}, {2, 0, 0}}, "bad_binding"},     // empty
      {{{1, 0, 16}, {1, 256, 16}}, "bad_binding"},  // read and written, disjoint
      {{{1, 0, 16}, {2, 256, 512}}, "bad_range"},
      {{{1, 0, 16}, {9, 0, 16}}, "unknown_buffer"},
  };
  for (const WrongBindings& one : wrong) {
    PumpRig rig;
    ASSERT_TRUE(rig.writer.create_buffer(1, 512, "one").ok());
    ASSERT_TRUE(rig.writer.create_buffer(2, 512, "two").ok());
    ASSERT_TRUE(rig.writer.create_pipeline(1, {.bindings = 2, .read_write_mask = 2}).ok());
    ASSERT_TRUE(rig.writer.dispatch({.pipeline = 1, .bindings = one.bindings}).ok());
    const Status status = rig.finish();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, one.code) << status.error().message;
    EXPECT_EQ(rig.control[Word::dispatches], 0U);
    EXPECT_TRUE(rig.finish().ok());
  }
}

TEST(RecordingExecutor, RefusesAddressesOutsideTheMemory) {
  PumpRig rig;
  ASSERT_TRUE(rig.writer.create_buffer(1, 16, "").ok());
  ASSERT_TRUE(rig.writer.upload(1, 0, 0xFFFFFFF0, 16).ok());
  EXPECT_EQ(rig.finish().error().code, "bad_address");
  ASSERT_TRUE(rig.writer.read(1, 0, 0xFFFFFFF0, 16).ok());
  EXPECT_EQ(rig.finish().error().code, "bad_address");
}

TEST(RecordingExecutor, FailsTheCommandThatATestNames) {
  PumpRig rig;
  rig.executor.faults.fail_command = 1;
  rig.executor.faults.code = ErrorCode::out_of_memory;
  ASSERT_TRUE(rig.writer.create_buffer(1, 16, "").ok());
  ASSERT_TRUE(rig.writer.create_buffer(2, 16, "").ok());
  const Status status = rig.finish();
  EXPECT_EQ(status.error().kind, ErrorKind::memory);
  EXPECT_EQ(rig.writer.last_fault().opcode, Opcode::create_buffer);
  EXPECT_EQ(rig.executor.buffers().size(), 1U);
}

TEST(RecordingExecutor, SurvivesWordsThatAreNoCommand) {
  PumpRig rig(64);
  ASSERT_TRUE(rig.writer.create_buffer(1, 16, "").ok());
  ASSERT_TRUE(rig.writer.fill(1, 0, 16, 7).ok());
  rig.memory.ring()[5] = 0;  // now the fill has no length
  rig.writer.flush();
  rig.executor.pump();
  EXPECT_EQ(rig.finish().error().code, "bad_command");
  ASSERT_TRUE(rig.writer.fill(1, 0, 16, 8).ok());
  ASSERT_TRUE(rig.finish().ok());
  EXPECT_EQ(word_at(rig, 1, 0), 8U);
}

TEST(Names, EveryCodeAndOpcodeHasItsOwn) {
  for (std::uint32_t code = 0; code <= 14; ++code)
    EXPECT_NE(name_of(static_cast<ErrorCode>(code)), "unknown_error") << code;
  for (std::uint32_t opcode = 0; opcode <= 14; ++opcode)
    EXPECT_NE(name_of(static_cast<Opcode>(opcode)), "unknown_command") << opcode;
  EXPECT_EQ(name_of(static_cast<Opcode>(200)), "unknown_command");
}

}  // namespace
}  // namespace arraycore::ring
