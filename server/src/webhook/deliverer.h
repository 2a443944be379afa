// Delivers the events that wait in storage's outbox, each at least once (R62). It has threads of
// its own, so a slow host delays no other part of the server. Every member may be called from any
// thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "hub/hub.h"
#include "storage/storage.h"
#include "telemetry/tracer.h"
#include "webhook/sender.h"

namespace hyperflock::webhook {

struct DelivererSettings {
  // The origin at which researchers open the console; empty: unknown.
  std::string console{};
  // Posts to a webhook, and returns the status of the answer. Runs on several threads at once, and
  // may block.
  std::function<Result<int>(const Post&)> send;
  storage::WallClock clock;  // of due times
  // The clock for the times in signatures, which receivers compare with their own clocks. If it is
  // not set, `clock` is used.
  storage::WallClock signing_clock{};
  // Stores the outcome of an attempt to deliver, and calls `done` afterwards.
  std::function<void(storage::NoteDelivery, hub::Committed done)> note;
  telemetry::Tracer* tracer = nullptr;  // null: no traces
};

class Deliverer {
 public:
  // The storage outlives this object.
  Deliverer(storage::Storage& storage, DelivererSettings settings);
  // Calls stop().
  ~Deliverer();
  Deliverer(const Deliverer&) = delete;
  Deliverer& operator=(const Deliverer&) = delete;

  // Begins to deliver.
  void start();
  // Looks at the outbox now.
  void wake();
  // Begins no further delivery and waits a short time for those that run. What is not delivered
  // then is sent again after the next start. `note` is not called any more.
  void stop();

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace hyperflock::webhook
