// See read_pool.h.
#include "storage/sql/read_pool.h"

#include <chrono>

namespace hyperflock::storage::sql {
namespace {

constexpr std::chrono::seconds kBorrowTimeout{10};

}  // namespace

ReadPool::Loan ReadPool::borrow() {
  std::unique_lock lock(mutex_);
  if (!freed_.wait_for(lock, kBorrowTimeout,
                       [this] { return !free_.empty() || opened_ < limit_; })) {
    throw DbError("every reading connection is in use");
  }
  if (!free_.empty()) {
    auto db = std::move(free_.back());
    free_.pop_back();
    return Loan(*this, std::move(db));
  }
  ++opened_;
  lock.unlock();
  try {
    return Loan(*this, open_());
  } catch (...) {
    lock.lock();
    --opened_;
    freed_.notify_one();
    throw;
  }
}

void ReadPool::close_idle() {
  std::vector<std::unique_ptr<Connection>> closed;
  const std::lock_guard lock(mutex_);
  opened_ -= free_.size();
  closed.swap(free_);
  freed_.notify_all();
}

void ReadPool::give_back(std::unique_ptr<Connection> db) {
  const std::lock_guard lock(mutex_);
  if (db->usable()) {
    free_.push_back(std::move(db));
  } else {
    --opened_;
  }
  freed_.notify_one();
}

}  // namespace hyperflock::storage::sql
