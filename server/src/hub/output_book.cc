// See output_book.h.
#include "hub/output_book.h"

#include <utility>

namespace hyperflock::hub {
namespace {

// The memory that a line uses in addition to its text, in bytes.
constexpr std::size_t kLineBytes = 64;

}  // namespace

void OutputBook::add(TrialKey trial, AttemptId attempt, std::vector<std::string> lines,
                     std::int64_t dropped) {
  const std::lock_guard lock(mutex_);
  Pages& pages = trials_[trial];
  by_use_.erase(pages.used);
  pages.used = ++uses_;
  by_use_.emplace(pages.used, trial);
  if (dropped > 0) append(pages, attempt, "[" + std::to_string(dropped) + " lines left out]");
  for (std::string& line : lines) append(pages, attempt, std::move(line));
  trim();
}

void OutputBook::append(Pages& pages, AttemptId attempt, std::string text) {
  const std::size_t bytes = text.size() + kLineBytes;
  pages.lines.push_back({++pages.last, attempt, std::move(text)});
  pages.bytes += bytes;
  bytes_ += bytes;
  while (pages.lines.size() > kLinesPerTrial || pages.bytes > kBytesPerTrial) {
    const std::size_t freed = pages.lines.front().text.size() + kLineBytes;
    pages.lines.pop_front();
    pages.bytes -= freed;
    bytes_ -= freed;
  }
}

// Removes the lines of trials that have printed nothing for the longest time.
void OutputBook::trim() {
  while (bytes_ > kBytes) {
    const auto oldest = by_use_.begin();
    const auto pages = trials_.find(oldest->second);
    bytes_ -= pages->second.bytes;
    trials_.erase(pages);
    by_use_.erase(oldest);
  }
}

void OutputBook::forget(StudyId study) {
  const std::lock_guard lock(mutex_);
  for (auto pages = trials_.lower_bound({study, TrialNumber{0}});
       pages != trials_.end() && pages->first.study == study;) {
    bytes_ -= pages->second.bytes;
    by_use_.erase(pages->second.used);
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
