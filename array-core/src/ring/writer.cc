#include "ring/writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "ring/names.h"

namespace arraycore::ring {
namespace {

// Returns whether a command can be issued again unchanged. Such a command uses no memory that is
// reused, and creates or destroys no object.
bool is_repeatable(Opcode opcode) {
  return opcode == Opcode::dispatch || opcode == Opcode::copy || opcode == Opcode::fill ||
         opcode == Opcode::upload_inline;
}

std::uint32_t size32(std::string_view text) { return static_cast<std::uint32_t>(text.size()); }

}  // namespace

Writer::Writer(ControlBlock& control, std::span<std::uint32_t> ring, std::span<std::byte> texts,
               const std::byte* base, Host& host, Options options)
    : control_(control),
      words_(control),
      ring_(ring.data()),
      capacity_(static_cast<std::uint32_t>(std::bit_floor(ring.size()))),
      texts_(texts),
      base_(base),
      host_(host),
      options_(options) {
  machine_.capacity = capacity_;
  control_[Word::ring_address] = address_of(ring_);
  control_[Word::ring_words] = capacity_;
  control_[Word::silence_ms] = kStartSilenceMs;
  control_[Word::magic] = kMagic;
}

Address Writer::address_of(const void* pointer) const {
  return static_cast<Address>(reinterpret_cast<std::uintptr_t>(pointer) -
                              reinterpret_cast<std::uintptr_t>(base_));
}

// ---- functions that append commands -----------------------------------------------------------

// Makes room for a command of `words` words and writes its header. Returns nullptr if there is no
// room; `refused_` then has the reason.
std::uint32_t* Writer::begin(Opcode opcode, std::uint32_t words) {
  const std::uint32_t mask = capacity_ - 1;
  const std::uint32_t until_end = capacity_ - (machine_.head & mask);
  const std::uint32_t padding = words > until_end ? until_end : 0;
  const std::uint32_t needed = words + padding;
  if (machine_.head - consumed_ + needed > capacity_) {
    consumed_ = words_.load(Word::consumed);
    if (machine_.head - consumed_ + needed > capacity_) {
      refused_ = run(Goal::room, needed, options_.wait_timeout_ms);
      if (refused_ != Outcome::done) return nullptr;
      consumed_ = words_.load(Word::consumed);
    }
  }
  if (padding != 0) {
    ring_[machine_.head & mask] = header(Opcode::pad, padding);
    machine_.head += padding;
  }
  std::uint32_t* const command = ring_ + (machine_.head & mask);
  command[0] = header(opcode, words);
  return command;
}

Status Writer::commit(std::uint32_t words) {
  if (tap_ != nullptr) {
    const std::uint32_t* const command = ring_ + (machine_.head & (capacity_ - 1));
    if (is_repeatable(opcode_of(command[0]))) tap_->insert(tap_->end(), command, command + words);
  }
  machine_.head += words;
  if (++unpublished_ >= options_.publish_every) flush();
  return Done{};
}

Status Writer::append(Opcode opcode, std::initializer_list<std::uint32_t> operands) {
  const auto words = static_cast<std::uint32_t>(operands.size()) + 1;
  std::uint32_t* command = begin(opcode, words);
  if (command == nullptr) return failure(refused_);
  for (const std::uint32_t operand : operands) *++command = operand;
  return commit(words);
}

Status Writer::create_buffer(BufferId id, std::uint32_t bytes, std::string_view label_text) {
  TRY_DONE(reserve_texts(label_text.size()));
  return append(Opcode::create_buffer, {id, bytes, keep_text(label_text), size32(label_text)});
}

Status Writer::destroy_buffer(BufferId id) { return append(Opcode::destroy_buffer, {id}); }

Status Writer::upload(BufferId id, std::uint32_t offset, Address from, std::uint32_t bytes) {
  return append(Opcode::upload, {id, offset, from, bytes});
}

Status Writer::upload_inline(BufferId id, std::uint32_t offset, std::span<const std::byte> bytes) {
  if (bytes.size() > max_inline_bytes())
    return Error{ErrorKind::value, "inline_too_large",
                 "An inline upload has at most " + std::to_string(max_inline_bytes()) + " bytes."};
  const auto payload = static_cast<std::uint32_t>((bytes.size() + 3) / 4);
  std::uint32_t* const command = begin(Opcode::upload_inline, 4 + payload);
  if (command == nullptr) return failure(refused_);
  command[1] = id;
  command[2] = offset;
  command[3] = static_cast<std::uint32_t>(bytes.size());
  if (payload != 0) {
    command[3 + payload] = 0;
    std::memcpy(command + 4, bytes.data(), bytes.size());
  }
  return commit(4 + payload);
}

Status Writer::copy(BufferId source, std::uint32_t source_offset, BufferId target,
                    std::uint32_t target_offset, std::uint32_t bytes) {
  return append(Opcode::copy, {source, source_offset, target, target_offset, bytes});
}

Status Writer::fill(BufferId id, std::uint32_t offset, std::uint32_t bytes, std::uint32_t value) {
  return append(Opcode::fill, {id, offset, bytes, value});
}

Status Writer::create_pipeline(PipelineId id, const PipelineText& text) {
  if (text.bindings > kMaxBindings)
    return Error{ErrorKind::value, "too_many_bindings",
                 "A pipeline has at most " + std::to_string(kMaxBindings) + " bindings."};
  TRY_DONE(reserve_texts(text.text.size() + text.label.size()));
  const Address source = keep_text(text.text);
  const Address name = keep_text(text.label);
  return append(Opcode::create_pipeline, {id, source, size32(text.text), name, size32(text.label),
                                          text.uniform_bytes, text.bindings, text.read_write_mask});
}

Status Writer::destroy_pipeline(PipelineId id) { return append(Opcode::destroy_pipeline, {id}); }

Status Writer::dispatch(const Dispatch& dispatch) {
  if (dispatch.bindings.size() > kMaxBindings || dispatch.uniforms.size() > kMaxUniformWords)
    return Error{ErrorKind::value, "dispatch_too_large",
                 "A dispatch has at most " + std::to_string(kMaxBindings) + " bindings and " +
                     std::to_string(kMaxUniformWords) + " uniform words."};
  const auto bindings = static_cast<std::uint32_t>(dispatch.bindings.size());
  const auto uniforms = static_cast<std::uint32_t>(dispatch.uniforms.size());
  const std::uint32_t words = 7 + 3 * bindings + uniforms;
  if (words > capacity_ / 2)
    return Error{ErrorKind::value, "dispatch_too_large",
                 "A dispatch has at most half as many words as the ring."};
  std::uint32_t* command = begin(Opcode::dispatch, words);
  if (command == nullptr) return failure(refused_);
  command[1] = dispatch.tag;
  command[2] = dispatch.pipeline;
  command[3] = dispatch.x;
  command[4] = dispatch.y;
  command[5] = dispatch.z;
  command[6] = bindings | uniforms << 16;
  command += 7;
  for (const Binding& binding : dispatch.bindings) {
    *command++ = binding.buffer;
    *command++ = binding.offset;
    *command++ = binding.bytes;
  }
  for (const std::uint32_t word : dispatch.uniforms) *command++ = word;
  newest_tag_ = dispatch.tag;
  return commit(words);
}

Status Writer::read(BufferId id, std::uint32_t offset, Address to, std::uint32_t bytes) {
  return append(Opcode::read, {id, offset, to, bytes});
}

// Appends whole commands in pieces, each up to the ring's end at most, and publishes each piece at
// once. So the executor begins with the first piece while the others are copied.
Status Writer::append_block(std::span<const std::uint32_t> commands, std::size_t& from) {
  while (from < commands.size()) {
    const std::uint32_t until_end = capacity_ - (machine_.head & (capacity_ - 1));
    const std::uint32_t most = std::min(until_end, capacity_ / 2);
    std::uint32_t words = words_of(commands[from]);
    std::uint32_t count = 1;
    std::size_t last = from;
    while (from + words < commands.size() && count < options_.publish_every) {
      const std::uint32_t next = words_of(commands[from + words]);
      if (words + next > most) break;
      last = from + words;
      words += next;
      ++count;
    }
    std::uint32_t* const place = begin(opcode_of(commands[from]), words);
    if (place == nullptr) return failure(refused_);
    std::copy_n(commands.data() + from, words, place);
    if (opcode_of(commands[last]) == Opcode::dispatch) newest_tag_ = commands[last + 1];
    machine_.head += words;
    from += words;
    unpublished_ += count;
    if (unpublished_ >= options_.publish_every) flush();
  }
  return Done{};
}

Status Writer::timestamp_begin() { return append(Opcode::timestamp_begin, {}); }

Status Writer::timestamp_end(Address to) { return append(Opcode::timestamp_end, {to}); }

Status Writer::trace(Address to, std::uint32_t number) {
  return append(Opcode::trace, {to, number});
}

Status Writer::label(std::string_view text) {
  TRY_DONE(reserve_texts(text.size()));
  return append(Opcode::label, {keep_text(text), size32(text)});
}

// Makes room in the space for texts, which is used from front to back. If it is full, this waits
// until the executor has taken every command, and begins at the front again. Texts are rare.
Status Writer::reserve_texts(std::size_t bytes) {
  if (bytes > texts_.size())
    return Error{
        ErrorKind::value, "text_too_large",
        "A shader and its label have at most " + std::to_string(texts_.size()) + " bytes."};
  if (texts_used_ + bytes <= texts_.size()) return Done{};
  const Outcome outcome = run(Goal::room, capacity_, options_.wait_timeout_ms);
  if (outcome != Outcome::done) return failure(outcome);
  texts_used_ = 0;
  return Done{};
}

// Copies a text to the space for texts. REQUIRES: reserve_texts() has made room for it.
Address Writer::keep_text(std::string_view text) {
  std::byte* const place = texts_.data() + texts_used_;
  if (!text.empty()) std::memcpy(place, text.data(), text.size());
  texts_used_ += text.size();
  return address_of(place);
}

// ---- functions that wait ----------------------------------------------------------------------

Result<std::uint32_t> Writer::fence() {
  const std::uint32_t number = fences_ + 1;
  TRY_DONE(append(Opcode::fence, {number}));
  fences_ = number;
  return number;
}

Status Writer::wait(std::uint32_t fence) { return wait(fence, options_.wait_timeout_ms); }

Status Writer::wait(std::uint32_t fence, std::uint32_t timeout_ms) {
  const Outcome outcome = run(Goal::fence, fence, timeout_ms);
  if (outcome != Outcome::done) return failure(outcome);
  return Done{};
}

void Writer::flush() { run(Goal::flush, 0, 0); }

Status Writer::reset() {
  if (gone_ || words_.load(Word::state) == static_cast<std::uint32_t>(State::gone))
    host_.revive_executor();
  gone_ = false;
  const Outcome outcome = run(Goal::reset, ++resets_, options_.reset_timeout_ms);
  if (outcome != Outcome::done) return failure(outcome);
  texts_used_ = 0;
  newest_tag_ = 0;
  return Done{};
}

Status Writer::close() {
  const Outcome outcome = run(Goal::close, 0, options_.reset_timeout_ms);
  control_[Word::magic] = 0;  // others may use the memory from now on
  if (outcome != Outcome::done) return failure(outcome);
  return Done{};
}

bool Writer::is_consumed(std::uint32_t position) {
  if (static_cast<std::int32_t>(consumed_ - position) >= 0) return true;
  consumed_ = words_.load(Word::consumed);
  return static_cast<std::int32_t>(consumed_ - position) >= 0;
}

Outcome Writer::run(Goal goal, std::uint32_t target, std::uint32_t timeout_ms) {
  unpublished_ = 0;
  machine_.start(goal, target, timeout_ms);
  while (machine_.step != Issuer::Step::finished) {
    switch (step(machine_, words_)) {
      case Act::notify_executor:
        host_.wake(control_[Word::sleeps]);
        break;
      case Act::message_executor:
        host_.post_wake_message();
        break;
      case Act::wait: {
        const std::uint64_t before = host_.now_ms();
        const WaitResult result =
            host_.wait(control_[Word::signal], machine_.seen_signal, machine_.slice_ms());
        machine_.after_wait(static_cast<std::uint32_t>(host_.now_ms() - before),
                            result == WaitResult::interrupted);
        break;
      }
      default:
        break;
    }
  }
  return machine_.outcome;
}

// ---- reports of errors ------------------------------------------------------------------------

Error Writer::failure(Outcome outcome) {
  if (outcome == Outcome::executor_gone) gone_ = true;
  fault_ = {};
  Error error = reason(outcome);
  if (operations_ == nullptr) return error;
  // The error of a command names the command's operation. Any other failure names the newest
  // operation.
  const std::uint32_t tag = outcome == Outcome::error ? fault_.tag : newest_tag_;
  const std::string operation = tag != 0 ? operations_->name_of(tag) : std::string();
  if (!operation.empty()) error.message = operation + ": " + error.message;
  return error;
}

Error Writer::reason(Outcome outcome) {
  switch (outcome) {
    case Outcome::error:
      return take_error();
    case Outcome::device_lost:
      if (words_.load(Word::error_full) != 0) {
        Error error = take_error();
        error.kind = ErrorKind::device_lost;
        return error;
      }
      return {ErrorKind::device_lost, "device_lost",
              "The device was lost and its arrays with it; call arraycore.reset()."};
    case Outcome::interrupted:
      return {ErrorKind::interrupted, "interrupted", "Interrupted while waiting for the device."};
    case Outcome::revoked:
      return {ErrorKind::interrupted, "revoked", "The device was taken back from this program."};
    case Outcome::executor_gone:
      return {ErrorKind::device_lost, "executor_gone",
              "The thread that owns the device has stopped answering; call arraycore.reset()."};
    case Outcome::timed_out:
      return {ErrorKind::timed_out, "device_timeout",
              "The device did not finish in time; call arraycore.reset() to drop its work."};
    case Outcome::closed:
      return {ErrorKind::device_lost, "device_closed", "The device is closed; open it again."};
    case Outcome::done:
    case Outcome::pending:
      break;
  }
  return {ErrorKind::internal, "bad_outcome", "A wait ended without a reason."};
}

// Takes the error out of the slot, so that it is reported once. REQUIRES: error_full is set.
Error Writer::take_error() {
  fault_.code = static_cast<ErrorCode>(words_.load(Word::error_code));
  fault_.position = words_.load(Word::error_position);
  fault_.opcode = static_cast<Opcode>(words_.load(Word::error_opcode));
  fault_.tag = words_.load(Word::error_tag);
  std::uint32_t bytes = words_.load(Word::error_text_bytes);
  if (bytes > kErrorTextBytes) bytes = kErrorTextBytes;
  std::string text(bytes, '\0');
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const std::uint32_t word =
        control_.words[at(Word::error_text) + i / 4].load(std::memory_order_relaxed);
    text[i] = static_cast<char>(word >> (8 * (i % 4)) & 0xFF);
  }
  words_.store(Word::error_full, 0);
  return {kind_of(fault_.code), std::string(name_of(fault_.code)), std::move(text)};
}

}  // namespace arraycore::ring
