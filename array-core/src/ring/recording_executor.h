// An executor without a device. It takes the same commands in the same steps as the browser's
// executor, keeps buffers as plain bytes, records the commands, and fails as a test configures it.
// Kernels do nothing unless `kernel` is set.
//
// It either runs on a thread of its own (run()) or is pumped on the issuer's thread (pump(),
// PumpHost). Only that one thread uses it; a test configures the faults before it starts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ring/control.h"
#include "ring/host.h"
#include "ring/state.h"

namespace arraycore::ring {

struct RecordedBuffer {
  std::string label;
  std::vector<std::byte> bytes;
};

struct RecordedPipeline {
  std::string label;
  std::string text;
  std::uint32_t uniform_bytes = 0;
  std::uint32_t bindings = 0;
  std::uint32_t read_write_mask = 0;
};

struct RecordedCommand {
  Opcode opcode = Opcode::pad;
  std::uint32_t position = 0;
  std::string label;                    // the newest label command's text
  std::vector<std::uint32_t> operands;  // after the first word
};

class RecordingExecutor {
 public:
  struct Faults {
    // The index, from 0, of the command that fails with `code`. Pads do not count.
    std::optional<std::uint32_t> fail_command;
    ErrorCode code = ErrorCode::validation;
    std::optional<std::uint32_t> lose_device_at;  // the device is lost before this command
    std::uint32_t failing_opens = 0;  // this many attempts to open the device find no adapter
    std::optional<std::uint32_t> vanish_at;  // run() ends before this command and reports nothing
    bool hold_fences = false;  // fences are never done, as if the device never finished
  };
  // The effect of a dispatch on the buffers, which are indexed by binding.
  using Kernel =
      std::function<void(const RecordedPipeline& pipeline, const std::uint32_t* grid,
                         const std::vector<std::byte*>& bindings, const std::uint32_t* uniforms)>;

  // Addresses in commands are offsets from `base`, the beginning of `memory_bytes` bytes.
  RecordingExecutor(ControlBlock& control, std::byte* base, std::uint64_t memory_bytes, Host& host);

  Faults faults;
  Kernel kernel;
  bool record = true;                    // false: count only
  Backend backend = Backend::recording;  // what it says that it is

  // Executes all commands. Returns true if it would then sleep, and false if the ring is closed.
  bool pump();
  // Runs until the ring is closed, or the executor is stopped or vanishes.
  void run();
  void stop() { stopped_ = true; }

  void skip_to_for_test(std::uint32_t position) { drain_.position = position; }

  const std::vector<RecordedCommand>& commands() const { return commands_; }
  const std::map<std::uint32_t, RecordedBuffer>& buffers() const { return buffers_; }
  const std::map<std::uint32_t, RecordedPipeline>& pipelines() const { return pipelines_; }

 private:
  struct Raised {
    ErrorCode code = ErrorCode::none;
    std::string text;
  };

  void execute();
  std::optional<Raised> perform(Opcode opcode, const std::uint32_t* operands, std::uint32_t count);
  std::optional<Raised> dispatch(const std::uint32_t* operands, std::uint32_t count);
  void announce(News news, std::uint32_t fence, const Raised& raised, Opcode opcode,
                std::uint32_t position, std::uint32_t tag);
  bool open();
  void add_bytes(Word low, std::uint64_t bytes);
  std::byte* memory_at(std::uint32_t address, std::uint32_t bytes);
  std::byte* buffer_at(std::uint32_t id, std::uint32_t offset, std::uint32_t bytes,
                       std::optional<Raised>& raised);
  std::optional<std::string> text_at(std::uint32_t address, std::uint32_t bytes);

  ControlBlock& control_;
  SharedWords words_;
  std::byte* base_;
  std::uint64_t memory_bytes_;
  Host& host_;
  Drain drain_;
  bool opened_ = false;
  std::atomic<bool> stopped_{false};
  bool vanished_ = false;
  std::uint32_t taken_ = 0;  // commands, pads not counted
  std::string label_;
  std::byte* trace_ = nullptr;  // where the next dispatch writes its times
  std::uint32_t traces_ = 0;    // how many more dispatches write their times
  // The emulated device's clock, which advances by a microsecond with each traced dispatch.
  std::uint64_t clock_ns_ = 0;
  std::vector<RecordedCommand> commands_;
  std::map<std::uint32_t, RecordedBuffer> buffers_;
  std::map<std::uint32_t, RecordedPipeline> pipelines_;
};

// A host for a single thread: when the issuer would sleep, the executor works instead.
class PumpHost : public Host {
 public:
  RecordingExecutor* executor = nullptr;
  std::uint64_t clock_ms = 0;  // advances with each wait that ends by its time-out

  WaitResult wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::uint32_t timeout_ms) override {
    if (executor != nullptr) executor->pump();
    if (word.load() != expected) return WaitResult::woken;
    clock_ms += timeout_ms;
    return WaitResult::timed_out;
  }
  void wake(std::atomic<std::uint32_t>& /*word*/) override {}
  void post_wake_message() override {}
  std::uint64_t now_ms() override { return clock_ms; }
};

}  // namespace arraycore::ring
