// Waits for a commit: for uploads, whose threads may block. Any such thread; never the owner's
// strand, which answers.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "base/result.h"
#include "hub/hub.h"

namespace hyperflock::hub {

// What `begin` is told through the callback that it is given, or `late` when that has not come
// within `patience`; it may come later all the same.
template <typename Begin>
Result<storage::Outcome> await_commit(std::chrono::seconds patience, Error late, Begin begin) {
  // Shared with the callback, which may come after this thread gave up waiting.
  const auto told = std::make_shared<std::promise<Result<storage::Outcome>>>();
  std::future<Result<storage::Outcome>> outcome = told->get_future();
  begin([told](Result<storage::Outcome> got) { told->set_value(std::move(got)); });
  if (outcome.wait_for(patience) != std::future_status::ready) return late;
  return outcome.get();
}

}  // namespace hyperflock::hub
