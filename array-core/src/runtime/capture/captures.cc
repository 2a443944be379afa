#include "runtime/capture/captures.h"

#include <string>
#include <utility>
#include <vector>

#include "runtime/launcher.h"

namespace arraycore::capture {

namespace {

Error nested() {
  return {ErrorKind::value, "capture_nested", "A step is being recorded: end that first."};
}

Error none() {
  return {ErrorKind::value, "capture_none", "Two steps are recorded before they are captured."};
}

Error unexplained(const Tape& tape, const Difference& differing) {
  const DType dtype = differing.dtype.value_or(DType::uint32);
  return {ErrorKind::value, "capture_values",
          tape.commands()[differing.command].operation->name + " is given " +
              ir::to_text(dtype, differing.before) + " as its argument " +
              std::to_string(differing.argument) + ", and in the second run of the step " +
              ir::to_text(dtype, differing.after) + ", and nothing says what comes next."};
}

}  // namespace

Status Captures::begin() {
  if (is_recording()) return nested();
  TRY_DONE(launcher_.flush());
  if (second_) second_->forget_before();
  first_ = std::move(second_);
  second_ = std::make_unique<Tape>(first_.get());
  compared_ = false;
  recorder_.tape = recorder_.newest = second_.get();
  return Done{};
}

Status Captures::end() {
  if (!is_recording()) return none();
  const Status flushed = launcher_.flush();
  recorder_.tape = nullptr;
  return flushed;
}

void Captures::abort() {
  recorder_.tape = recorder_.newest = nullptr;
  second_.reset();
  first_.reset();
  compared_ = false;
}

std::uint32_t Captures::position() const {
  return second_ ? static_cast<std::uint32_t>(second_->commands().size()) : 0;
}

bool Captures::is_refused() const { return second_ && second_->refusal(); }

Result<std::span<const Difference>> Captures::compare() {
  if (is_recording()) return nested();
  compared_ = false;
  if (is_refused()) {
    blame_ = second_->refusal()->command;
    return second_->refusal()->error;
  }
  if (!first_ || !second_) return none();
  comparison_ = capture::compare(*first_, *second_);
  compared_ = !comparison_.mismatch;
  if (comparison_.mismatch) {
    blame_ = comparison_.mismatch->command;
    return comparison_.mismatch->error;
  }
  return std::span<const Difference>(comparison_.differences);
}

Result<std::int32_t> Captures::build(std::span<const std::uint32_t> values) {
  if (is_recording()) return nested();
  if (!compared_ || values.size() != comparison_.differences.size()) return none();
  std::vector<Given> given;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Difference& differing = comparison_.differences[i];
    if (values[i] == kNoValue) {
      blame_ = differing.command;
      return unexplained(*second_, differing);
    }
    given.push_back({differing.command, differing.argument, values[i]});
  }
  TRY(auto& made, Capture::make(backends_, launcher_, counters_, *second_, given));
  abort();
  // Numbers are never reused, not even after ac_close, so an old number is never valid.
  static std::int32_t newest = 0;
  captures_.emplace(++newest, std::move(made));
  return newest;
}

Result<const Capture*> Captures::get(std::int32_t number) const {
  const auto found = captures_.find(number);
  if (found == captures_.end())
    return Error{ErrorKind::value, "capture_closed",
                 "This capture is gone: it was closed, or the library was reset."};
  return found->second.get();
}

std::int32_t Captures::origin(const Storage& storage) const {
  if (!storage.has_memory()) return 0;
  const std::size_t side = &storage.backend() == backends_[0] ? 0 : 1;
  if (second_ && second_->is_of_this_step(side, storage.id())) return 0;
  constexpr std::uint64_t kNumbers = 0x7FFF'FFFF;
  return static_cast<std::int32_t>(backends_[side]->serial(storage.id()) % kNumbers) + 1;
}

// Checks that the capture can be played now. Launches all waiting operations, because they may use
// the capture's arrays.
Status Captures::check_playable(std::int32_t number) {
  if (is_recording()) return nested();
  TRY_DONE(get(number));
  return launcher_.flush();
}

Status Captures::play(std::int32_t number, std::span<const std::uint64_t> values) {
  TRY_DONE(check_playable(number));
  const Span span(launcher_.profile(), "captured step");
  Capture& capture = *captures_.at(number);
  if (values.size() != capture.values())
    return Error{ErrorKind::value, "capture_value_count",
                 "Playing this step takes " + std::to_string(capture.values()) + " values, not " +
                     std::to_string(values.size()) + "."};
  if (capture.is_interrupted()) TRY_DONE(capture.resume());
  return capture.play(values);
}

Status Captures::resume(std::int32_t number) {
  TRY_DONE(check_playable(number));
  Capture& capture = *captures_.at(number);
  return capture.is_interrupted() ? capture.resume() : Status(Done{});
}

void Captures::clear() {
  abort();
  captures_.clear();
}

}  // namespace arraycore::capture
