// Waits for a commit on a thread that may block. Do not use it on the hub's strand, which calls the
// callback.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "base/result.h"
#include "hub/hub.h"

namespace hyperflock::hub {

// Calls `begin` with a callback and waits for its call. Returns the callback's argument, or `late`
// if it was not called within `patience`. In that case the callback may still be called later.
template <typename Begin>
Result<storage::Outcome> await_commit(std::chrono::seconds patience, Error late, Begin begin) {
  // The callback shares this object, because it may run after this thread has stopped waiting.
  const auto told = std::make_shared<std::promise<Result<storage::Outcome>>>();
  std::future<Result<storage::Outcome>> outcome = told->get_future();
  begin([told](Result<storage::Outcome> got) { told->set_value(std::move(got)); });
  if (outcome.wait_for(patience) != std::future_status::ready) return late;
  return outcome.get();
}

}  // namespace hyperflock::hub
