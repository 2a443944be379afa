// See alike.h. A traceback is the text that Python writes. In it the worker has made the paths of
// the researcher's files relative (worker-runtime/python/hyperflock_worker/failures.py):
//
//   Traceback (most recent call last):
//     File "train.py", line 7, in objective
//       return model(trial)
//     File "/lib/python3.14/site-packages/numpy/linalg.py", line 90, in solve
//   numpy.linalg.LinAlgError: Singular matrix
#include "dispatch/alike.h"

#include <algorithm>
#include <string_view>

#include "protocol/names.h"

namespace hyperflock::dispatch {
namespace {

constexpr std::string_view kFile = "File \"";

// Calls `each(line)` for each line of the text.
template <typename Each>
void each_line(std::string_view text, Each each) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    each(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// Removes the indentation, and the bars of an exception group.
std::string_view unindented(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" |");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

// Returns whether the path is relative and is not an invented name, such as `<string>`.
bool is_own_file(std::string_view path) {
  return !path.empty() && path.front() != '/' && path.front() != '<';
}

// Returns the part `"train.py", line 7` of a line of a traceback; empty if the line does not name a
// file of the researcher's code.
std::string_view place_in(std::string_view line) {
  line = unindented(line);
  if (!line.starts_with(kFile) || !is_own_file(line.substr(kFile.size()))) return {};
  const std::size_t number = line.find(", line ");
  if (number == std::string_view::npos) return {};
  return line.substr(kFile.size() - 1, line.find(',', number + 1) - (kFile.size() - 1));
}

// Returns the text before the first colon, which is the exception's type.
std::string_view type_in(std::string_view line) { return line.substr(0, line.find(':')); }

}  // namespace

std::string kind_of(const protocol::Failure& failure) {
  std::string kind(protocol::name_of(failure.cause));
  kind += ' ' + failure.code;
  if (failure.cause != protocol::Cause::user_error) return kind;
  std::string_view place;
  std::string_view type;
  bool in_frames = false;
  each_line(failure.traceback, [&](std::string_view line) {
    if (const std::string_view here = place_in(line); !here.empty()) place = here;
    const bool indented = line.starts_with(' ');
    // The exception follows the last frame. Further lines belong to its message.
    if (in_frames && !indented && !line.empty()) type = type_in(line);
    in_frames = indented && (in_frames || unindented(line).starts_with(kFile));
  });
  if (type.empty()) type = type_in(failure.message);
  kind += ' ';
  kind += type;
  kind += ' ';
  kind += place;
  return kind;
}

AlikeFailures::Count AlikeFailures::add(const protocol::Failure& failure,
                                        const std::string& device) {
  Kind one{.name = kind_of(failure), .device = device};
  const auto known = std::ranges::find(kinds_, one.name, &Kind::name);
  if (known != kinds_.end()) {
    one = std::move(*known);
    kinds_.erase(known);
  } else if (kinds_.size() == kMostKinds) {
    kinds_.erase(kinds_.begin());
  }
  ++one.count.failures;
  one.count.several_devices |= one.device != device;
  kinds_.push_back(std::move(one));
  return kinds_.back().count;
}

}  // namespace hyperflock::dispatch
