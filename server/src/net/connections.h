// The registry of open connections. It counts them, in total and for each address, and can end each
// of them. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "telemetry/metrics.h"

namespace hyperflock::net {

// A connection in the registry. Members may be called on any thread and return at once.
class Closable {
 public:
  virtual ~Closable() = default;
  // Ends the connection: a WebSocket with this close code, HTTP after the current answer.
  virtual void shut(int code) = 0;
  // Called about once a second. Ends the connection if its peer takes no more data.
  virtual void check_progress(Instant now) = 0;
};

class Connections;

// A place among the open connections. The destructor frees the place.
class ConnectionSlot {
 public:
  ConnectionSlot() = default;
  ConnectionSlot(ConnectionSlot&& other) noexcept;
  ConnectionSlot& operator=(ConnectionSlot&& other) noexcept;
  ~ConnectionSlot();

  // Sets the object that serves the connection now (HTTP first, perhaps a WebSocket later). The
  // slot keeps it alive.
  void attach(const std::shared_ptr<Closable>& connection);
  const std::string& address() const { return address_; }

 private:
  friend class Connections;
  ConnectionSlot(Connections* owner, std::uint64_t id, std::string address)
      : owner_(owner), id_(id), address_(std::move(address)) {}

  Connections* owner_ = nullptr;
  std::uint64_t id_ = 0;
  std::string address_;
};

class Connections {
 public:
  Connections(std::size_t per_address, std::size_t total, telemetry::Metrics& metrics)
      : per_address_(per_address), total_(total), metrics_(metrics) {}

  // Returns nullopt if the address or the server has as many connections as allowed.
  std::optional<ConnectionSlot> admit(const std::string& address);

  // Ends all connections with this code, and from now on every new one.
  void shut_all(int code);
  // Ends the connections that are open now.
  void shut_present(int code);
  void check_progress(Instant now);

  // Waits until every connection has ended. Returns false after `limit_ms`.
  bool wait_empty(Millis limit_ms);
  // Forgets the connections that are still open. REQUIRES: no connection runs any more.
  void clear();
  std::size_t size() const;

 private:
  friend class ConnectionSlot;
  std::vector<std::shared_ptr<Closable>> alive() const;
  void attach(std::uint64_t id, const std::shared_ptr<Closable>& connection);
  void release(std::uint64_t id, const std::string& address);

  const std::size_t per_address_;
  const std::size_t total_;
  telemetry::Metrics& metrics_;
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::uint64_t last_id_ = 0;
  std::optional<int> shut_code_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Closable>> open_;  // null: not attached yet
  std::unordered_map<std::string, std::size_t> by_address_;
};

}  // namespace hyperflock::net
