// A server's right to write. The row of `shards` names the server that has it, and its epoch, which
// grows whenever a server takes the shard. Each batch locks the row and checks the epoch, so a
// server that lost the shard changes nothing any more, however slow its last batch was. The row
// also has the newest batch that was committed, so that it can be found out whether a commit whose
// answer was lost took place.
//
// There is one shard, '': the whole database. A server that waits for it looks at the row
// (open.h: ShardWatch), and may take it when its time is over. All times are of the database's
// clock.
//
// The server that has the shard keeps a connection whose name (application_name) has the database's
// name, `files`, and the epoch. When its process dies, the connection ends at once. So servers that
// wait need not wait for the row's time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "storage/postgres/client.h"
#include "storage/postgres/open.h"

namespace hyperflock::storage::postgres {

struct ShardSettings {
  ClientSettings client;
  std::string server;
  int lease_ms = 30'000;
  int patience_ms = 15'000;
  ShardPeer peer{};
  // Is called once, on a thread of the shard or of the writer, when another server has taken it.
  std::function<void()> lost{};
};

class Shard {
 public:
  // Returns an error if another server has the shard. If its time is over, ends the transactions
  // that hold its row: their server was stopped or cut off in the middle of a batch. The tables may
  // be missing, or older than this server. Throws PgError. Error: `shard_held`.
  static Status check_free(Client& db, const std::string& server);
  // Takes the shard, if no other server has it, and keeps it with a thread until the destructor
  // gives it back. As check_free(), it ends old transactions. Throws PgError. Error: `shard_held`.
  static Result<std::unique_ptr<Shard>> take(Client& db, ShardSettings settings);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  // Locks and checks the shard in the writer's transaction, and notes a new batch. A failure is
  // thrown by the next statement whose result is read. Writer thread only.
  void hold(Client& db);

  // Finds out on a new connection whether the newest batch was committed. Waits until its
  // transaction has ended. Throws FateUnknown. Writer thread only.
  bool was_committed(Client& db);

  // Returns an error if it is not known whether a batch was committed, and tries to find out that
  // its transaction has ended. Any thread.
  Status settled();

  // Returns whether the error is that of a shard that another server has taken.
  static bool is_lost(const PgError& error) { return error.state() == "HF001"; }
  // Calls ShardSettings::lost, the first time only. Any thread.
  void note_lost();

  std::int64_t epoch() const { return epoch_; }
  // Names the database; see the migration.
  const std::string& files() const { return files_; }

 private:
  Shard(ShardSettings settings, std::int64_t epoch, std::string files);

  void renew();
  // Makes a connection with the name, unless one still stands. Returns whether one stands now.
  bool connect(std::unique_ptr<Client>& db) const;
  // Returns the newest committed batch, after all transactions that hold the shard have ended.
  std::string newest_batch(Client& db);

  const ShardSettings settings_;
  const std::int64_t epoch_;
  const std::string files_;
  std::int64_t number_ = 0;  // of the newest batch
  std::string batch_;        // its name
  std::atomic<bool> unsettled_{false};
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
  std::condition_variable stops_;
  bool stopping_ = false;  // under mutex_
  std::thread renewer_;
};

}  // namespace hyperflock::storage::postgres
