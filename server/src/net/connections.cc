#include "net/connections.h"

#include <algorithm>
#include <chrono>

namespace hyperflock::net {

ConnectionSlot::ConnectionSlot(ConnectionSlot&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      id_(other.id_),
      client_(std::move(other.client_)),
      proven_(other.proven_) {}

ConnectionSlot& ConnectionSlot::operator=(ConnectionSlot&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(id_, other.id_);
  std::swap(client_, other.client_);
  std::swap(proven_, other.proven_);
  return *this;
}

ConnectionSlot::~ConnectionSlot() {
  if (owner_ != nullptr) owner_->release(id_, client_);
}

void ConnectionSlot::attach(const std::shared_ptr<Closable>& connection) {
  if (owner_ != nullptr) owner_->attach(id_, connection);
}

Status ConnectionSlot::claim(const std::string& client) {
  if (owner_ == nullptr || client == client_) return {};
  Status claimed = owner_->claim(client_, client);
  client_ = claimed ? client : std::string();
  return claimed;
}

void ConnectionSlot::unclaim() { (void)claim({}); }

void ConnectionSlot::prove() {
  if (owner_ != nullptr && !std::exchange(proven_, true)) owner_->prove(id_);
}

Result<ConnectionSlot> Connections::admit(const std::string& client) {
  const Error full{"full", "Too many connections are open; try again shortly."};
  std::shared_ptr<Closable> displaced;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (shut_code_) {
      metrics_.count(telemetry::Counter::connections_refused, "stopping");
      return full;
    }
    // The client's own limit is checked first, so that a client that has reached it displaces no
    // connection.
    TRY(count(client));
    if (open_.size() >= total_) {
      if (open_.size() < total_ + std::min(total_, kDisplacedAtOnce)) displaced = oldest_unproven();
      if (!displaced) {
        uncount(client);
        metrics_.count(telemetry::Counter::connections_refused, full.code);
        return full;
      }
    }
    id = ++last_id_;
    open_.emplace(id, nullptr);
    unproven_.insert(id);
  }
  if (displaced) displaced->displace();
  metrics_.change(telemetry::Gauge::connections, 1, origin_);
  return ConnectionSlot(this, id, client);
}

std::shared_ptr<Closable> Connections::oldest_unproven() {
  for (auto id = unproven_.begin(); id != unproven_.end(); ++id) {
    const auto found = open_.find(*id);
    if (found == open_.end() || !found->second) continue;  // it is just beginning
    unproven_.erase(id);
    return found->second;
  }
  return nullptr;
}

Status Connections::count(const std::string& client) {
  if (client.empty()) return {};
  std::size_t& open = by_client_[client];
  if (open >= per_client_) {
    metrics_.count(telemetry::Counter::connections_refused, "too_many_connections");
    return Error{"too_many_connections",
                 "Your address has as many connections open as it may have; try again shortly."};
  }
  ++open;
  return {};
}

void Connections::uncount(const std::string& client) {
  const auto open = by_client_.find(client);
  if (open != by_client_.end() && --open->second == 0) by_client_.erase(open);
}

Status Connections::claim(const std::string& before, const std::string& client) {
  const std::lock_guard lock(mutex_);
  uncount(before);
  return count(client);
}

void Connections::prove(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  unproven_.erase(id);
}

std::vector<std::shared_ptr<Closable>> Connections::alive() const {
  std::vector<std::shared_ptr<Closable>> found;
  const std::lock_guard lock(mutex_);
  found.reserve(open_.size());
  for (const auto& [id, connection] : open_) {
    if (connection) found.push_back(connection);
  }
  return found;
}

void Connections::shut_all(int code) {
  {
    const std::lock_guard lock(mutex_);
    shut_code_ = code;
  }
  shut_present(code);
}

void Connections::shut_present(int code) {
  for (const auto& connection : alive()) connection->shut(code);
}

void Connections::check_progress(Instant now) {
  for (const auto& connection : alive()) connection->check_progress(now);
}

bool Connections::wait_empty(Millis limit_ms) {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, std::chrono::milliseconds(limit_ms),
                           [this] { return open_.empty(); });
}

void Connections::clear() {
  std::unordered_map<std::uint64_t, std::shared_ptr<Closable>> rest;
  const std::lock_guard lock(mutex_);
  rest.swap(open_);
}

std::size_t Connections::size() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

void Connections::attach(std::uint64_t id, const std::shared_ptr<Closable>& connection) {
  std::optional<int> code;
  std::shared_ptr<Closable> before;  // destroyed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(open_[id], connection);
    code = shut_code_;
  }
  if (code) connection->shut(*code);
}

void Connections::release(std::uint64_t id, const std::string& client) {
  metrics_.change(telemetry::Gauge::connections, -1, origin_);
  std::shared_ptr<Closable> last;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  if (const auto found = open_.find(id); found != open_.end()) {
    last = std::move(found->second);
    open_.erase(found);
  }
  unproven_.erase(id);
  uncount(client);
  if (open_.empty()) emptied_.notify_all();
}

}  // namespace hyperflock::net
