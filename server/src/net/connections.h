// The registry of the open connections of one origin. It counts them, in total and for each client,
// and can end each of them. Any thread.
//
// If all places are taken, a new connection displaces the oldest one whose peer has shown no
// credential yet. So a client that holds many connections open cannot keep out clients with a
// credential.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "telemetry/metrics.h"

namespace hyperflock::net {

// A connection in the registry. Members may be called on any thread and return at once.
class Closable {
 public:
  virtual ~Closable() = default;
  // Ends the connection: a WebSocket with this close code, HTTP after the current answer.
  virtual void shut(int code) = 0;
  // Ends the connection, because a new one needs its place: a WebSocket with code 1013, an HTTP
  // connection at once, even while it sends an answer.
  virtual void displace() = 0;
  // Called about once a second. Ends the connection if its peer sends or receives too slowly.
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

  // Sets the object that serves the connection now: first an HTTP connection, then perhaps a
  // WebSocket. The registry keeps a reference to the object.
  void attach(const std::shared_ptr<Closable>& connection);
  // Counts the connection for this client (see client_network()) and no longer for the previous
  // one. Error: `too_many_connections`; the connection then counts for no client.
  Status claim(const std::string& client);
  void unclaim();
  // The peer has shown a credential that is valid: no other connection displaces this one.
  void prove();

 private:
  friend class Connections;
  ConnectionSlot(Connections* owner, std::uint64_t id, std::string client)
      : owner_(owner), id_(id), client_(std::move(client)) {}

  Connections* owner_ = nullptr;
  std::uint64_t id_ = 0;
  std::string client_;  // empty: it counts for nobody
  bool proven_ = false;
};

class Connections {
 public:
  // `origin` is the value of the label of the metrics.
  Connections(std::size_t per_client, std::size_t total, telemetry::Metrics& metrics,
              std::string_view origin = {})
      : per_client_(per_client), total_(total), metrics_(metrics), origin_(origin) {}

  // More connections than `total` may be open for a moment, while displaced ones end.
  static constexpr std::size_t kDisplacedAtOnce = 64;

  // Takes a place for a connection of `client`. If `client` is empty, claim() names the client
  // later. Errors: `too_many_connections` (of this client), `full`.
  Result<ConnectionSlot> admit(const std::string& client);

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
  Status claim(const std::string& before, const std::string& client);
  void prove(std::uint64_t id);
  void release(std::uint64_t id, const std::string& client);

  // REQUIRES: mutex_ is held.
  Status count(const std::string& client);
  void uncount(const std::string& client);
  std::shared_ptr<Closable> oldest_unproven();

  const std::size_t per_client_;
  const std::size_t total_;
  telemetry::Metrics& metrics_;
  const std::string_view origin_;
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::uint64_t last_id_ = 0;
  std::optional<int> shut_code_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Closable>> open_;  // null: not attached yet
  std::set<std::uint64_t> unproven_;                                   // the oldest first
  std::unordered_map<std::string, std::size_t> by_client_;
};

}  // namespace hyperflock::net
