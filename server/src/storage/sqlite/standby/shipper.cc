// See shipper.h.
#include "storage/sqlite/standby/shipper.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "storage/sqlite/db/long_read.h"

namespace hyperflock::storage::sqlite {
namespace {

// More than this is not collected while the standby cannot be written.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
// A standby that has no whole state yet is written in transactions of so many pages.
constexpr std::uint32_t kPiecePages = 4'096;
// SQLite locks bytes of this page, which has no content.
constexpr std::uint32_t kLockByte = 0x40000000;

Error failure(const SqliteError& error) {
  const bool is_full = (error.code() & 0xff) == SQLITE_FULL;
  return Error{is_full ? "backup_no_room" : "backup_failed",
               std::string("Cannot write the standby (") + error.what() + ")."};
}

std::uint32_t pages_of(Db& db) {
  return static_cast<std::uint32_t>(std::stoul(db.single("PRAGMA page_count")));
}

void write_page(Db& db, std::uint32_t page, const std::string& content) {
  db.run("INSERT INTO sqlite_dbpage (pgno, data) VALUES (?, ?)", page, Blob{content});
}

std::string page_of(Db& db, std::uint32_t page) {
  Query found = db.query("SELECT data FROM sqlite_dbpage WHERE pgno = ?", page);
  return found.next() ? std::string(found.text(0)) : std::string();
}

// Commits a transaction that has written pages. The first page comes last: until then SQLite knows
// the schema of before, and reads none of the pages that are written. Removes the pages behind the
// first `pages`.
void finish(Db& db, Transaction& transaction, const std::string& first, std::uint32_t pages) {
  if (pages_of(db) <= pages) {
    if (!first.empty()) write_page(db, 1, first);
    transaction.commit();
    return;
  }
  // The removal must be the last change. If the first page had another version of the schema by
  // then, SQLite would read the schema again, for which it needs the commit. So it has the old
  // version at first, by which nobody else can tell anything.
  constexpr std::size_t kVersionAt = 40;
  std::string with_old = first;
  with_old.replace(kVersionAt, 4, page_of(db, 1), kVersionAt, 4);
  write_page(db, 1, with_old);
  db.run("INSERT INTO sqlite_dbpage (pgno, data) VALUES (?, NULL)", pages + 1);
  transaction.commit();
  if (with_old == first) return;
  Transaction second(db, Transaction::Kind::write);
  write_page(db, 1, first);
  second.commit();
}

// No other process uses the standby, so it needs no shared memory. File systems of networks have
// none that SQLite could use.
std::unique_ptr<Db> open_standby(const std::string& path) {
  auto db = std::make_unique<Db>(path, Db::Mode::read_write);
  db->exec(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
      "PRAGMA wal_autocheckpoint = 8192; PRAGMA journal_size_limit = 67108864");
  return db;
}

}  // namespace

Shipper::Shipper(std::string path, StandbyTarget target)
    : path_(std::move(path)), target_(std::move(target)), log_(path_) {}

Shipper::~Shipper() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  target_.status->set_current(false);
}

void Shipper::start(std::int64_t log_frames) {
  take_snapshot(log_frames);
  thread_ = std::thread([this] { run(); });
}

void Shipper::begun() { begun_ = Clock::now(); }

// REQUIRES: no other thread has the lock, or this one.
void Shipper::take_snapshot(std::int64_t log_frames) {
  wants_snapshot_ = false;
  changed_ = {};
  changed_since_.reset();
  try {
    snapshot_ = std::make_unique<Db>(path_, Db::Mode::read_only);
    // The first read fixes the state.
    snapshot_->exec("BEGIN; SELECT count(*) FROM sqlite_schema");
  } catch (const SqliteError& error) {
    snapshot_.reset();
    wants_snapshot_ = true;  // with the next commit
    if (!std::exchange(is_behind_, true)) target_.behind(failure(error));
    return;
  }
  log_.skip_to(log_frames);
  collects_ = true;
}

void Shipper::committed(std::int64_t log_frames) {
  Lock lock(mutex_);
  if (!current_ && !behind_since_) behind_since_ = begun_;
  note_missing();
  if (wants_snapshot_) {
    take_snapshot(log_frames);
    lock.unlock();
    wake_.notify_one();
    return;
  }
  if (!collects_) return;
  if (!log_.read_to(log_frames, changed_)) {
    return fall_behind({"backup_failed", "The write-ahead log was changed by somebody else."});
  }
  if (changed_.pages.empty()) return;  // the transaction changed nothing
  if (!changed_since_) changed_since_ = begun_;
  if (changed_.bytes > kMostBytes)
    return fall_behind({"backup_failed", "The standby takes much less than what is committed."});
  note_missing();
  wake_.notify_one();
  const auto kept = [this] {
    const auto since = oldest();
    return !current_ || !since || Clock::now() - *since < kHold;
  };
  if (kept()) return;
  // `kept` also becomes true when another shipment begins, which is newer.
  if (!shipped_.wait_for(lock, kPatience, kept))
    fall_behind({"backup_failed", "The standby does not answer."});
}

std::optional<Shipper::Clock::time_point> Shipper::oldest() const {
  if (behind_since_) return behind_since_;
  return shipping_since_ ? shipping_since_ : changed_since_;
}

void Shipper::note_missing() { target_.status->set_missing_since(oldest()); }

// REQUIRES: the lock is held.
void Shipper::fall_behind(const Error& error) {
  collects_ = current_ = false;
  target_.status->set_current(false);
  changed_ = {};
  behind_since_ = oldest();
  changed_since_.reset();
  note_missing();
  shipped_.notify_all();
  wake_.notify_one();
  if (!std::exchange(is_behind_, true)) target_.behind(error);
}

void Shipper::run() {
  for (;;) {
    if (synchronize()) ship_until_behind();
    Lock lock(mutex_);
    standby_.reset();
    if (stopped_) return;
    wake_.wait_for(lock, target_.retry, [this] { return stopped_; });
    if (stopped_) return;
    snapshot_.reset();
    wants_snapshot_ = true;
    wake_.wait(lock, [this] { return stopped_ || snapshot_ != nullptr; });
    if (stopped_) return;
  }
}

bool Shipper::synchronize() {
  std::unique_ptr<Db> snapshot;
  {
    Lock lock(mutex_);
    snapshot = std::move(snapshot_);
  }
  if (!snapshot) return false;
  const LongRead reading;
  const auto attempt = [&]() -> Result<bool> {
    TRY(target_.prepare());
    try {
      standby_ = open_standby(target_.database);
      if (!compare(*snapshot, *standby_, target_.is_complete())) return false;
    } catch (const SqliteError& error) {
      return failure(error);
    }
    TRY(target_.complete());
    return true;
  };
  const auto done = attempt();
  snapshot.reset();
  Lock lock(mutex_);
  if (!done) {
    fall_behind(done.error());
    return false;
  }
  if (!*done || !collects_) return false;
  current_ = true;
  is_behind_ = false;
  behind_since_.reset();
  note_missing();
  target_.status->set_current(true);
  lock.unlock();
  target_.caught_up();
  return true;
}

// A standby that has a whole state keeps it until it has the next one.
bool Shipper::compare(Db& from, Db& to, bool is_complete) {
  const std::uint32_t count = pages_of(from);
  const auto page_bytes = static_cast<std::uint32_t>(std::stoul(from.single("PRAGMA page_size")));
  auto transaction = std::make_unique<Transaction>(to, Transaction::Kind::write);
  std::uint32_t written = 0;
  auto rested = Clock::now();
  for (std::uint32_t page = 2; page <= count; ++page) {
    if (page == kLockByte / page_bytes + 1) continue;
    const std::string content = page_of(from, page);
    if (page_of(to, page) != content) {
      write_page(to, page, content);
      ++written;
    }
    if (page % 256 == 0) {
      Lock lock(mutex_);
      const auto spent = Clock::now() - rested;
      if (wake_.wait_for(lock, spent, [this] { return stopped_ || !collects_; })) return false;
      rested = Clock::now();
    }
    if (!is_complete && written >= kPiecePages) {
      transaction->commit();
      transaction.reset();
      transaction = std::make_unique<Transaction>(to, Transaction::Kind::write);
      written = 0;
    }
  }
  finish(to, *transaction, page_of(from, 1), count);
  return true;
}

void Shipper::ship(const ChangedPages& changed) {
  Transaction transaction(*standby_, Transaction::Kind::write);
  for (const auto& [page, content] : changed.pages) {
    if (page != 1 && page <= changed.database_pages) write_page(*standby_, page, content);
  }
  const auto first = changed.pages.find(1);
  finish(*standby_, transaction, first == changed.pages.end() ? std::string() : first->second,
         changed.database_pages);
}

void Shipper::ship_until_behind() {
  Lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopped_ || !collects_ || changed_since_; });
    if (!collects_) return;
    if (!changed_since_) return;  // stopped, and everything is shipped
    wake_.wait_until(lock, *changed_since_ + kShipEvery, [this] { return stopped_ || !collects_; });
    if (!collects_) return;
    const ChangedPages shipped = std::exchange(changed_, {});
    shipping_since_ = std::exchange(changed_since_, std::nullopt);
    lock.unlock();
    std::optional<Error> error;
    try {
      ship(shipped);
    } catch (const SqliteError& caught) {
      error = failure(caught);
    }
    lock.lock();
    if (error) fall_behind(*error);
    shipping_since_.reset();
    note_missing();
    lock.unlock();
    shipped_.notify_all();
    lock.lock();
    if (error) return;
  }
}

}  // namespace hyperflock::storage::sqlite
