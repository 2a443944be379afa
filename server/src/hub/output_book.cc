// See output_book.h.
#include "hub/output_book.h"

#include <utility>

namespace hyperflock::hub {
namespace {

// The memory that a line uses in addition to its text, in bytes.
constexpr std::size_t kLineBytes = 64;

}  // namespace

void OutputBook::add(TrialKey trial, AttemptId attempt, const std::string& device,
                     std::vector<std::string> lines, std::int64_t dropped) {
  const std::lock_guard lock(mutex_);
  Pages& pages = trials_[trial];
  uncount(pages);
  pages.used = ++uses_;
  pages.device = device;
  if (dropped > 0) append(pages, attempt, "[" + std::to_string(dropped) + " lines left out]");
  for (std::string& line : lines) append(pages, attempt, std::move(line));
  count(trial, pages);
  trim();
}

void OutputBook::append(Pages& pages, AttemptId attempt, std::string text) {
  pages.bytes += text.size() + kLineBytes;
  pages.lines.push_back({++pages.last, attempt, std::move(text)});
  while (pages.lines.size() > kLinesPerTrial || pages.bytes > kBytesPerTrial) drop_oldest(pages);
}

void OutputBook::drop_oldest(Pages& pages) {
  pages.bytes -= pages.lines.front().text.size() + kLineBytes;
  pages.lines.pop_front();
}

void OutputBook::count(TrialKey trial, const Pages& pages) {
  Device& device = devices_[pages.device];
  device.by_use.emplace(pages.used, trial);
  resize(pages.device, device.bytes, device.bytes + pages.bytes);
}

void OutputBook::uncount(const Pages& pages) {
  const auto found = devices_.find(pages.device);
  if (found == devices_.end()) return;
  Device& device = found->second;
  if (device.by_use.erase(pages.used) == 0) return;
  resize(pages.device, device.bytes, device.bytes - pages.bytes);
  if (!device.by_use.empty()) return;
  by_bytes_.erase({device.bytes, pages.device});
  devices_.erase(found);
}

void OutputBook::resize(const std::string& device, std::size_t before, std::size_t after) {
  by_bytes_.erase({before, device});
  by_bytes_.emplace(after, device);
  devices_.at(device).bytes = after;
  bytes_ = bytes_ - before + after;
}

void OutputBook::trim() {
  while (bytes_ > kBytes) {
    const std::string device = by_bytes_.rbegin()->second;
    const TrialKey trial = devices_.at(device).by_use.begin()->second;
    const auto pages = trials_.find(trial);
    const bool is_only = devices_.at(device).by_use.size() == 1;
    uncount(pages->second);
    if (!is_only) {
      trials_.erase(pages);
      continue;
    }
    // Only one line is dropped at a time, because another device may have the most lines
    // afterwards.
    drop_oldest(pages->second);
    count(trial, pages->second);
  }
}

void OutputBook::forget(StudyId study) {
  const std::lock_guard lock(mutex_);
  for (auto pages = trials_.lower_bound({study, TrialNumber{0}});
       pages != trials_.end() && pages->first.study == study;) {
    uncount(pages->second);
    pages = trials_.erase(pages);
  }
}

protocol::TrialLog OutputBook::read(TrialKey trial, std::int64_t after, std::size_t limit) const {
  protocol::TrialLog log{.study = trial.study, .trial = trial.number, .lines = {}, .cursor = 0};
  const std::lock_guard lock(mutex_);
  const auto pages = trials_.find(trial);
  if (pages == trials_.end()) return log;
  log.cursor = pages->second.last;
  if (after > log.cursor) after = 0;
  for (const protocol::LogLine& line : pages->second.lines) {
    if (line.line <= after) continue;
    if (log.lines.size() == limit) break;
    log.lines.push_back(line);
    log.cursor = line.line;
  }
  return log;
}

}  // namespace hyperflock::hub
