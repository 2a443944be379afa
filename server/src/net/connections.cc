#include "net/connections.h"

#include <chrono>

namespace hyperflock::net {

ConnectionSlot::ConnectionSlot(ConnectionSlot&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      id_(other.id_),
      address_(std::move(other.address_)) {}

ConnectionSlot& ConnectionSlot::operator=(ConnectionSlot&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(id_, other.id_);
  std::swap(address_, other.address_);
  return *this;
}

ConnectionSlot::~ConnectionSlot() {
  if (owner_ != nullptr) owner_->release(id_, address_);
}

void ConnectionSlot::attach(const std::shared_ptr<Closable>& connection) {
  if (owner_ != nullptr) owner_->attach(id_, connection);
}

std::optional<ConnectionSlot> Connections::admit(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (shut_code_ || open_.size() >= total_) return std::nullopt;
  std::size_t& count = by_address_[address];
  if (count >= per_address_) return std::nullopt;
  ++count;
  const std::uint64_t id = ++last_id_;
  open_.emplace(id, nullptr);
  metrics_.connection_opened();
  return ConnectionSlot(this, id, address);
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

void Connections::release(std::uint64_t id, const std::string& address) {
  metrics_.connection_closed();
  std::shared_ptr<Closable> last;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  if (const auto found = open_.find(id); found != open_.end()) {
    last = std::move(found->second);
    open_.erase(found);
  }
  const auto count = by_address_.find(address);
  if (count != by_address_.end() && --count->second == 0) by_address_.erase(count);
  if (open_.empty()) emptied_.notify_all();
}

}  // namespace hyperflock::net
