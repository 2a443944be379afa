// A pool of connections for reading, opened when they are first needed. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "storage/sql/connection.h"

namespace hyperflock::storage::sql {

class ReadPool {
 public:
  using Open = std::function<std::unique_ptr<Connection>()>;

  // Has at most `limit` connections. `open` may be called on several threads at the same time.
  ReadPool(Open open, std::size_t limit) : open_(std::move(open)), limit_(limit) {}

  // A borrowed connection; the destructor returns it.
  class Loan {
   public:
    Loan(ReadPool& pool, std::unique_ptr<Connection> db) : pool_(pool), db_(std::move(db)) {}
    ~Loan() { pool_.give_back(std::move(db_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Connection& operator*() const { return *db_; }

   private:
    ReadPool& pool_;
    std::unique_ptr<Connection> db_;
  };

  // If all connections are in use, waits a limited time and then throws DbError.
  Loan borrow();
  // Closes the connections that are not borrowed.
  void close_idle();

 private:
  void give_back(std::unique_ptr<Connection> db);

  const Open open_;
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Connection>> free_;  // under mutex_
  std::size_t opened_ = 0;                         // under mutex_
};

}  // namespace hyperflock::storage::sql
