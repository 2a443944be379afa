#include "runtime/profile.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace arraycore {

namespace {

std::int64_t clock_ns() {
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::steady_clock;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::int64_t Profile::now_ns() const { return clock_ns() - began_ns_; }

Status Profile::begin() {
  if (device_ != nullptr) {
    TRY_DONE(device_->begin_trace());
    position_ = device_->position();
  }
  began_ns_ = clock_ns();
  return Done{};
}

Status Profile::end() {
  const std::int64_t duration_ns = now_ns();
  Status ended = Done{};
  if (device_ != nullptr) {
    ended = collect();
    const Status stopped = device_->end_trace();
    if (ended) ended = stopped;
  }
  write_text(duration_ns);
  return ended;
}

std::uint32_t Profile::row(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(rows_.size());
  rows_.push_back({std::string(name)});
  by_name_.emplace(name, number);
  return number;
}

void Profile::note(std::uint32_t row, std::int64_t begin_ns, std::uint32_t position) {
  const std::int64_t duration_ns = now_ns() - begin_ns;
  rows_[row].cpu_ns += duration_ns;
  std::int64_t number = -1;
  if (spans_.size() < kMaxEvents) {
    number = static_cast<std::int64_t>(spans_.size());
    spans_.push_back({row, begin_ns, duration_ns});
  } else {
    ++left_out_;
  }
  if (device_ == nullptr) return;
  const std::uint32_t end = device_->position();
  if (end != position) issued_.push_back({position, end, row, number});
  // The device's memory for times is almost full, so the times are collected now. An error of the
  // device is ignored here, because end() gets the same error.
  if (device_->trace_is_full(position_)) static_cast<void>(collect());
}

// Collects the device's times. A kernel belongs to the row of the span that issued it. If no span
// issued it (recorded commands are played), it gets a row with the kernel's own name.
Status Profile::collect() {
  auto told = device_->take_trace();
  if (!told) {
    issued_.clear();
    return told.error();
  }
  lost_ += told->lost;
  const auto from = position_;
  const auto since = [&](std::uint32_t position) { return position - from; };  // modulo 2^32
  for (const DeviceSpan& kernel : told->spans) {
    const auto after = std::upper_bound(
        issued_.begin(), issued_.end(), since(kernel.position),
        [&](std::uint32_t at, const Issued& each) { return at < since(each.begin); });
    const Issued* by = after == issued_.begin() ? nullptr : &*std::prev(after);
    if (by != nullptr && since(kernel.position) >= since(by->end)) by = nullptr;
    const std::uint32_t number = by != nullptr ? by->row : row(device_->kernel_name(kernel.tag));
    const auto duration = static_cast<std::int64_t>(kernel.end_ns - kernel.begin_ns);
    ++rows_[number].dispatches;
    if (by == nullptr) ++rows_[number].calls;
    rows_[number].device_ns += duration;
    if (kernels_.size() < kMaxEvents)
      kernels_.push_back({number, static_cast<std::int64_t>(kernel.begin_ns), duration,
                          by != nullptr ? by->span : -1});
    else
      ++left_out_;
  }
  issued_.clear();
  position_ = device_->position();
  return Done{};
}

void Profile::write_text(std::int64_t duration_ns) {
  const auto line = [&](const char* kind, std::initializer_list<std::int64_t> numbers) {
    text_ += kind;
    for (const std::int64_t number : numbers) text_ += "\t" + std::to_string(number);
  };
  text_.clear();
  line("profile", {duration_ns, left_out_, lost_});
  for (const Row& row : rows_) {
    line("\nrow",
         {row.calls, row.dispatches, row.bytes_up, row.bytes_down, row.cpu_ns, row.device_ns});
    text_ += "\t" + row.name;
  }
  for (const Event& span : spans_) line("\nspan", {span.row, span.begin_ns, span.duration_ns});
  const std::int64_t first =
      kernels_.empty() ? 0 : std::ranges::min(kernels_, {}, &Event::begin_ns).begin_ns;
  for (const Event& kernel : kernels_)
    line("\nkernel", {kernel.row, kernel.begin_ns - first, kernel.duration_ns, kernel.issued});
}

void Span::begin(std::string_view name) {
  row_ = profile_->row(name);
  ++profile_->rows_[row_].calls;
  if (profile_->device_ != nullptr) position_ = profile_->device_->position();
  begin_ns_ = profile_->now_ns();
}

}  // namespace arraycore
