#include "ring/recording_executor.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ring/names.h"

namespace arraycore::ring {
namespace {

constexpr std::uint32_t kLargestBuffer = 1U << 30;

std::string number(std::uint64_t value) { return std::to_string(value); }

// Returns the smallest number of operands that a command with this opcode can have.
std::uint32_t least_operands(Opcode opcode) {
  switch (opcode) {
    case Opcode::pad:
    case Opcode::timestamp_begin:
      return 0;
    case Opcode::destroy_buffer:
    case Opcode::destroy_pipeline:
    case Opcode::fence:
    case Opcode::timestamp_end:
      return 1;
    case Opcode::label:
    case Opcode::trace:
      return 2;
    case Opcode::upload_inline:
      return 3;
    case Opcode::create_buffer:
    case Opcode::upload:
    case Opcode::fill:
    case Opcode::read:
      return 4;
    case Opcode::copy:
      return 5;
    case Opcode::dispatch:
      return 6;
    case Opcode::create_pipeline:
      return 8;
  }
  return 0;
}

}  // namespace

RecordingExecutor::RecordingExecutor(ControlBlock& control, std::byte* base,
                                     std::uint64_t memory_bytes, Host& host)
    : control_(control), words_(control), base_(base), memory_bytes_(memory_bytes), host_(host) {}

// ---- the executor's loop ----------------------------------------------------------------------

bool RecordingExecutor::pump() {
  words_.add(Word::progress, 1);
  if (!opened_) {
    opened_ = true;
    drain_.lost = !open();
  }
  while (!vanished_) {
    switch (step(drain_, words_)) {
      case Act::execute:
        execute();
        break;
      case Act::reset:
        buffers_.clear();
        pipelines_.clear();
        label_.clear();
        control_[Word::buffers_live] = 0;
        drain_.was_reset(open());
        break;
      case Act::notify_issuer:
        host_.wake(control_[Word::signal]);
        break;
      case Act::wait:
        // With a single thread nothing sleeps: the next pump() checks again.
        drain_.after_wait();
        return true;
      case Act::finished:
        return false;
      default:
        break;
    }
  }
  return false;
}

void RecordingExecutor::run() {
  while (!stopped_ && pump()) {
    // pump() returned because the executor should sleep. It sleeps here.
    words_.add(Word::sleeps_taken, 1);
    host_.wait(control_[Word::sleeps], kSleepsOnWord, kHeartbeatMs);
  }
}

bool RecordingExecutor::open() {
  if (faults.failing_opens > 0) {
    --faults.failing_opens;
    announce(News::loss, 0, {ErrorCode::no_adapter, "No adapter."}, Opcode::pad, kNoPosition, 0);
    return false;
  }
  control_[Word::backend] = static_cast<std::uint32_t>(backend);
  control_[Word::max_buffer_bytes] = kLargestBuffer;
  control_[Word::max_binding_bytes] = kLargestBuffer;
  control_[Word::max_storage_buffers] = 8;
  control_[Word::max_workgroup_bytes] = 16384;
  control_[Word::max_invocations] = 128;
  control_[Word::max_workgroup_x] = 128;
  control_[Word::max_workgroup_y] = 128;
  control_[Word::max_workgroup_z] = 64;
  control_[Word::max_grid] = 65535;
  control_[Word::max_uniform_bytes] = kMaxUniformWords * 4;
  return true;
}

void RecordingExecutor::execute() {
  const std::uint32_t capacity = control_[Word::ring_words];
  const auto* const ring =
      reinterpret_cast<const std::uint32_t*>(base_ + control_[Word::ring_address]);
  const std::uint32_t position = drain_.position;
  const std::uint32_t* const command = ring + (position & (capacity - 1));
  const Opcode opcode = opcode_of(command[0]);
  const std::uint32_t words = words_of(command[0]);
  const std::uint32_t until_end = capacity - (position & (capacity - 1));
  const std::uint32_t published = drain_.written - position;
  if (words == 0 || words > until_end || words > published) {
    // The command's length is unknown, so nothing after it can be read.
    announce(News::error, 0,
             {ErrorCode::bad_command, "A command of " + number(words) + " words cannot be read."},
             opcode, position, 0);
    drain_.executed(published);
    return;
  }
  if (opcode != Opcode::pad && !drain_.lost) {
    if (faults.vanish_at == taken_) {
      vanished_ = true;
      return;
    }
    if (faults.lose_device_at == taken_) {
      faults.lose_device_at.reset();
      drain_.lost = true;
      announce(News::loss, 0, {ErrorCode::device_lost, "The device was lost."}, opcode, position,
               0);
    }
  }
  if (opcode != Opcode::pad && !drain_.lost) {
    const std::uint32_t operands = words - 1;
    words_.add(Word::commands, 1);
    if (record) commands_.push_back({opcode, position, label_, {command + 1, command + words}});
    std::optional<Raised> raised;
    if (faults.fail_command == taken_)
      raised = Raised{faults.code, "as planned"};
    else if (operands < least_operands(opcode))
      raised = Raised{ErrorCode::bad_command, "it has too few words"};
    else
      raised = perform(opcode, command + 1, operands);
    ++taken_;
    if (raised) {
      raised->text = std::string(name_of(opcode)) + (label_.empty() ? "" : " of '" + label_ + "'") +
                     ": " + raised->text;
      announce(News::error, 0, *raised, opcode, position,
               opcode == Opcode::dispatch ? command[1] : 0);
    }
    if (opcode == Opcode::fence && !faults.hold_fences)
      announce(News::fence, command[1], {}, opcode, position, 0);
  }
  drain_.executed(words);
}

void RecordingExecutor::announce(News news, std::uint32_t fence, const Raised& raised,
                                 Opcode opcode, std::uint32_t position, std::uint32_t tag) {
  Announcement announcement;
  announcement.start(news, fence);
  while (announcement.step != Announcement::Step::finished) {
    switch (step(announcement, words_)) {
      case Act::write_error: {
        control_[Word::error_code] = static_cast<std::uint32_t>(raised.code);
        control_[Word::error_position] = position;
        control_[Word::error_opcode] = static_cast<std::uint32_t>(opcode);
        control_[Word::error_tag] = tag;
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::size_t>(raised.text.size(), kErrorTextBytes));
        control_[Word::error_text_bytes] = bytes;
        for (std::uint32_t i = 0; i < bytes; i += 4) {
          std::uint32_t word = 0;
          std::memcpy(&word, raised.text.data() + i, std::min(4U, bytes - i));
          control_.words[at(Word::error_text) + i / 4] = word;
        }
        break;
      }
      case Act::notify_issuer:
        host_.wake(control_[Word::signal]);
        break;
      default:
        break;
    }
  }
}

// ---- execution of commands --------------------------------------------------------------------

std::byte* RecordingExecutor::memory_at(std::uint32_t address, std::uint32_t bytes) {
  return std::uint64_t{address} + bytes <= memory_bytes_ ? base_ + address : nullptr;
}

std::byte* RecordingExecutor::buffer_at(std::uint32_t id, std::uint32_t offset, std::uint32_t bytes,
                                        std::optional<Raised>& raised) {
  const auto found = buffers_.find(id);
  if (found == buffers_.end()) {
    raised = Raised{ErrorCode::unknown_buffer, "there is no buffer " + number(id)};
    return nullptr;
  }
  if (std::uint64_t{offset} + bytes > found->second.bytes.size() || offset % 4 != 0) {
    raised = Raised{ErrorCode::bad_range, "bytes " + number(offset) + " to " +
                                              number(std::uint64_t{offset} + bytes) + " of '" +
                                              found->second.label + "'"};
    return nullptr;
  }
  return found->second.bytes.data() + offset;
}

std::optional<std::string> RecordingExecutor::text_at(std::uint32_t address, std::uint32_t bytes) {
  const std::byte* const from = memory_at(address, bytes);
  if (from == nullptr) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(from), bytes);
}

void RecordingExecutor::add_bytes(Word low, std::uint64_t bytes) {
  auto& low_word = control_[low];
  auto& high_word = control_.words[at(low) + 1];
  const std::uint64_t sum = (std::uint64_t{high_word} << 32 | low_word) + bytes;
  low_word = static_cast<std::uint32_t>(sum);
  high_word = static_cast<std::uint32_t>(sum >> 32);
}

std::optional<RecordingExecutor::Raised> RecordingExecutor::perform(Opcode opcode,
                                                                    const std::uint32_t* a,
                                                                    std::uint32_t count) {
  std::optional<Raised> raised;
  Raised outside{ErrorCode::bad_address, "the address lies outside the memory"};
  switch (opcode) {
    case Opcode::create_buffer: {
      const auto label = text_at(a[2], a[3]);
      if (!label) return outside;
      if (a[1] == 0 || a[1] % 4 != 0 || a[1] > kLargestBuffer)
        return Raised{ErrorCode::over_limit, "'" + *label + "' of " + number(a[1]) + " bytes"};
      buffers_[a[0]] = {*label, std::vector<std::byte>(a[1])};
      words_.store(Word::buffers_live, static_cast<std::uint32_t>(buffers_.size()));
      return std::nullopt;
    }
    case Opcode::destroy_buffer:
      if (buffers_.erase(a[0]) == 0)
        return Raised{ErrorCode::unknown_buffer, "there is no buffer " + number(a[0])};
      words_.store(Word::buffers_live, static_cast<std::uint32_t>(buffers_.size()));
      return std::nullopt;
    case Opcode::upload:
    case Opcode::upload_inline: {
      const bool in_ring = opcode == Opcode::upload_inline;
      const std::uint32_t bytes = in_ring ? a[2] : a[3];
      if (in_ring && (std::uint64_t{bytes} + 3) / 4 > count - 3)
        return Raised{ErrorCode::bad_command, "it is shorter than its bytes"};
      const std::byte* const from =
          in_ring ? reinterpret_cast<const std::byte*>(a + 3) : memory_at(a[2], bytes);
      if (from == nullptr) return outside;
      const std::uint32_t whole = (bytes + 3) / 4 * 4;
      std::byte* const to = buffer_at(a[0], a[1], whole, raised);
      if (to == nullptr) return raised;
      std::memset(to, 0, whole);
      std::memcpy(to, from, bytes);
      add_bytes(Word::bytes_up, bytes);
      return std::nullopt;
    }
    case Opcode::copy: {
      const std::byte* const from = buffer_at(a[0], a[1], a[4], raised);
      if (from == nullptr) return raised;
      std::byte* const to = buffer_at(a[2], a[3], a[4], raised);
      if (to == nullptr) return raised;
      if (a[0] == a[2] || a[4] % 4 != 0)
        return Raised{ErrorCode::bad_range, "a copy is between two buffers, in whole words"};
      std::memcpy(to, from, a[4]);
      return std::nullopt;
    }
    case Opcode::fill: {
      std::byte* const to = buffer_at(a[0], a[1], a[2], raised);
      if (to == nullptr) return raised;
      if (a[2] % 4 != 0) return Raised{ErrorCode::bad_range, "a fill is in whole words"};
      for (std::uint32_t i = 0; i < a[2]; i += 4) std::memcpy(to + i, &a[3], 4);
      return std::nullopt;
    }
    case Opcode::create_pipeline: {
      const auto text = text_at(a[1], a[2]);
      const auto label = text_at(a[3], a[4]);
      if (!text || !label) return outside;
      if (a[6] > kMaxBindings)
        return Raised{ErrorCode::over_limit, "'" + *label + "' has " + number(a[6]) + " bindings"};
      pipelines_[a[0]] = {*label, *text, a[5], a[6], a[7]};
      words_.add(Word::pipelines_created, 1);
      return std::nullopt;
    }
    case Opcode::destroy_pipeline:
      if (pipelines_.erase(a[0]) == 0)
        return Raised{ErrorCode::unknown_pipeline, "there is no pipeline " + number(a[0])};
      return std::nullopt;
    case Opcode::dispatch:
      return dispatch(a, count);
    case Opcode::read: {
      const std::byte* const from = buffer_at(a[0], a[1], a[3], raised);
      if (from == nullptr) return raised;
      std::byte* const to = memory_at(a[2], a[3]);
      if (to == nullptr) return outside;
      std::memcpy(to, from, a[3]);
      add_bytes(Word::bytes_down, a[3]);
      return std::nullopt;
    }
    case Opcode::timestamp_end: {
      std::byte* const to = memory_at(a[0], 16);
      if (to == nullptr) return outside;
      std::memset(to, 0, 16);  // zeros, because this device has no clock
      return std::nullopt;
    }
    case Opcode::trace: {
      std::byte* const to = memory_at(a[0], a[1] * kTraceWords * 4);
      if (to == nullptr) return outside;
      trace_ = to;
      traces_ = a[1];
      return std::nullopt;
    }
    case Opcode::label: {
      const auto text = text_at(a[0], a[1]);
      if (!text) return outside;
      label_ = *text;
      return std::nullopt;
    }
    case Opcode::pad:
    case Opcode::fence:
    case Opcode::timestamp_begin:
      return std::nullopt;
  }
  return Raised{ErrorCode::bad_command,
                "opcode " + number(static_cast<std::uint32_t>(opcode)) + " is unknown"};
}

// Checks a dispatch for everything that makes a browser's device refuse the whole batch.
std::optional<RecordingExecutor::Raised> RecordingExecutor::dispatch(const std::uint32_t* a,
                                                                     std::uint32_t count) {
  const auto found = pipelines_.find(a[1]);
  if (found == pipelines_.end())
    return Raised{ErrorCode::unknown_pipeline, "there is no pipeline " + number(a[1])};
  const RecordedPipeline& pipeline = found->second;
  const std::uint32_t bindings = a[5] & 0xFFFF;
  const std::uint32_t uniforms = a[5] >> 16;
  const std::string of = "'" + pipeline.label + "' ";
  if (count < 6 + 3 * bindings + uniforms)
    return Raised{ErrorCode::bad_command, of + "is shorter than its bindings and uniforms"};
  if (bindings != pipeline.bindings || uniforms * 4 > pipeline.uniform_bytes)
    return Raised{ErrorCode::bad_binding, of + "takes " + number(pipeline.bindings) +
                                              " bindings and " + number(pipeline.uniform_bytes) +
                                              " uniform bytes"};
  const std::uint32_t max_grid = control_[Word::max_grid];
  if (a[2] > max_grid || a[3] > max_grid || a[4] > max_grid)
    return Raised{ErrorCode::over_limit, of + "has too large a grid"};
  std::vector<std::byte*> places;
  std::optional<Raised> raised;
  struct Bound {
    std::uint32_t id, offset, bytes;
    bool writes;
  };
  std::vector<Bound> bound;
  const std::uint32_t* words = a + 6;
  for (std::uint32_t i = 0; i < bindings; ++i, words += 3) {
    const Bound one{words[0], words[1], words[2], (pipeline.read_write_mask >> i & 1) != 0};
    std::byte* const place = buffer_at(one.id, one.offset, one.bytes, raised);
    if (place == nullptr) return raised;
    if (one.offset % kBindingAlignment != 0 || one.bytes == 0 || one.bytes % 4 != 0)
      return Raised{ErrorCode::bad_binding, of + "has an unaligned or empty binding"};
    for (const Bound& other : bound) {
      if (one.id != other.id) continue;
      const bool disjoint =
          one.offset + one.bytes <= other.offset || other.offset + other.bytes <= one.offset;
      if (one.writes != other.writes || (one.writes && !disjoint))
        return Raised{ErrorCode::bad_binding, of + "binds one buffer twice, to be written"};
    }
    bound.push_back(one);
    places.push_back(place);
  }
  words_.add(Word::dispatches, 1);
  if (kernel) kernel(pipeline, a + 2, places, words);
  if (traces_ != 0) {
    constexpr std::uint64_t kMicrosecond = 1000;
    const std::array<std::uint32_t, 2> command{drain_.position, a[0]};
    const std::array<std::uint64_t, 2> times{clock_ns_, clock_ns_ += kMicrosecond};
    std::memcpy(trace_, command.data(), sizeof command);
    std::memcpy(trace_ + sizeof command, times.data(), sizeof times);
    trace_ += sizeof command + sizeof times;
    --traces_;
  }
  return std::nullopt;
}

}  // namespace arraycore::ring
