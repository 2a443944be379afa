// A device's session on /ws/worker. It begins with a hello. Later messages go to the hub. The state
// of the session belongs to the channel's strand.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "auth/identity_cache.h"
#include "http/core/admission.h"
#include "hub/device_budget.h"
#include "hub/hub.h"
#include "net/ws_channel.h"

namespace hyperflock::net {

using hub::Hub;
using hub::OutputBook;
using hub::ReaderPool;

// The objects that all sessions share, those of devices and those of researchers. They outlive the
// sessions.
struct SessionContext {
  Hub& hub;
  storage::Storage& storage;
  ReaderPool& readers;
  const OutputBook& outputs;
  auth::IdentityCache& identities;
  http::Admission& admission;
  hub::MessageBudget& messages;  // of devices
  telemetry::Metrics& metrics;
  ChannelLimits limits;
  std::string server_version;
  Millis hello_ms = 5'000;
  Millis heartbeat_ms = 10'000;
  std::size_t max_workers = 10'000;
  std::size_t messages_per_s = 2'000;  // of a device; what comes faster is read later
  Millis watch_gap_ms = 20;            // between two updates of one connection
};

// Returns the function that takes over the connections of /ws/worker.
std::function<void(std::shared_ptr<Upgrade>)> worker_sessions(const SessionContext& context);

}  // namespace hyperflock::net
