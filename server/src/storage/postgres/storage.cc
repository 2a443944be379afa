// See storage.h.
#include "storage/postgres/storage.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "storage/postgres/schema.h"
#include "storage/sqlite/contribution/contribution.h"
#include "storage/sqlite/contribution/passphrase.h"
#include "storage/sqlite/readers.h"

namespace hyperflock::storage {
namespace {

using postgres::Client;
using postgres::ConnectionLost;
using postgres::FateUnknown;
using postgres::PgError;
using postgres::Shard;

constexpr std::chrono::milliseconds kRetry{200};

Error unavailable(const std::string& why, const std::string& what_to_do) {
  return Error{"storage_unavailable", "The database did not answer (" + why + "): " + what_to_do};
}

// Returns the error of a call whose statements failed.
Error error_of(const sql::DbError& error) {
  const auto* failed = dynamic_cast<const PgError*>(&error);
  const std::string state = failed == nullptr ? std::string() : failed->state();
  if (state == "53100") {  // disk_full
    return Error{kStorageFull, std::string("The database did not answer (") + error.what() +
                                   "): free disk space, the server then goes on by itself."};
  }
  if (failed != nullptr && Shard::is_lost(*failed)) {
    return Error{
        "storage_unavailable",
        "Another hyperflock-server has taken this database over, so this one stores nothing"
        " any more: stop it."};
  }
  if (dynamic_cast<const ConnectionLost*>(&error) != nullptr)
    return unavailable(error.what(), "start it, the server then goes on by itself.");
  return unavailable(state.empty() ? error.what() : state + ": " + error.what(),
                     "look at its log, the server goes on by itself.");
}

}  // namespace

bool has_postgres() { return true; }

std::string postgres_url_fault(const std::string& url) {
  const auto parts = postgres::parts_of(url);
  // libpq's own message could show a part of a password.
  if (!parts) {
    return "Give a URL such as postgres://USER@HOST:PORT/DATABASE, with %XX for special "
           "characters.";
  }
  if (parts->has_password)
    return "Give a URL without a password, and the password in --database-password-file.";
  return {};
}

Result<std::unique_ptr<PostgresStorage>> PostgresStorage::open(PostgresSettings settings,
                                                               WallClock clock) {
  const auto parts = postgres::parts_of(settings.url);
  const std::string place = parts ? parts->place : "an invalid URL";
  postgres::ClientSettings client{settings.url, settings.password, "hyperflock writer"};
  try {
    auto db = std::make_unique<Client>(client);
    // An older server that runs must not find its tables changed.
    TRY(Shard::check_free(*db, settings.server));
    TRY(postgres::migrate(*db, place));
    client.name = "hyperflock shard";
    TRY(auto shard, Shard::take(*db, {client, settings.server, settings.lease_ms,
                                      settings.patience_ms, settings.peer, settings.lost}));
    return std::unique_ptr<PostgresStorage>(new PostgresStorage(
        std::move(settings), place, std::move(clock), std::move(db), std::move(shard)));
  } catch (const ConnectionLost& lost) {
    return unreachable(lost, place);
  } catch (const PgError& error) {
    return Error{"storage_open", "Cannot use the database (" + place + "): " + error.what() +
                                     ". Check that the user may create tables in it."};
  }
}

PostgresStorage::PostgresStorage(PostgresSettings settings, std::string place, WallClock clock,
                                 std::unique_ptr<Client> db, std::unique_ptr<Shard> shard)
    : settings_(std::move(settings)),
      place_(std::move(place)),
      db_(std::move(db)),
      shard_(std::move(shard)),
      rows_(*db_, [this] { shard_->hold(*db_); }),
      writer_(*db_, rows_, std::move(clock)),
      readers_(
          [client = postgres::ClientSettings{settings_.url, settings_.password, "hyperflock reader",
                                             settings_.read_timeout_ms}] {
            return std::make_unique<Client>(client);
          },
          settings_.readers) {
  db_->was_committed = [this] { return shard_->was_committed(*db_); };
}

Result<std::vector<Outcome>> PostgresStorage::apply(std::span<const Transition> batch) {
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.patience_ms);
  for (;;) {
    try {
      if (!db_->usable()) db_->reconnect();
      return writer_.apply(batch);
    } catch (const FateUnknown& unknown) {
      return error_of(unknown);
    } catch (const ConnectionLost& lost) {
      // The batch was not committed, so it may be tried again.
      if (std::chrono::steady_clock::now() >= give_up) return error_of(lost);
      std::this_thread::sleep_for(kRetry);
    } catch (const sql::DbError& error) {
      const auto* refused = dynamic_cast<const PgError*>(&error);
      if (refused != nullptr && Shard::is_lost(*refused)) shard_->note_lost();
      return error_of(error);
    }
  }
}

template <typename Reader>
auto PostgresStorage::read(Reader reader)
    -> Result<decltype(reader(std::declval<sql::Connection&>()))> {
  for (bool again = false;; again = true) {
    try {
      const auto loan = readers_.borrow();
      return reader(*loan);
    } catch (const ConnectionLost& lost) {
      if (again) return error_of(lost);
      readers_.close_idle();  // they were lost, too
    } catch (const sql::DbError& error) {
      return error_of(error);
    }
  }
}

Result<Snapshot> PostgresStorage::load() {
  // After a batch whose fate is unknown, the state is read only when that batch has ended.
  TRY(shard_->settled());
  return read([](sql::Connection& db) { return sqlite::load(db); });
}

Result<Identities> PostgresStorage::identities() {
  return read([&](sql::Connection& db) { return sqlite::identities(db); });
}
Result<StudyPage> PostgresStorage::studies(const StudyQuery& query) {
  return read([&](sql::Connection& db) { return sqlite::studies(db, query); });
}
Result<std::vector<std::string>> PostgresStorage::running_runtimes() {
  return read([&](sql::Connection& db) { return sqlite::running_runtimes(db); });
}
Result<ProjectTotals> PostgresStorage::project_totals(const std::string& project) {
  return read([&](sql::Connection& db) { return sqlite::project_totals(db, project); });
}
Result<std::vector<protocol::StudySpec>> PostgresStorage::open_specs(const std::string& project,
                                                                     std::int64_t limit) {
  return read([&](sql::Connection& db) { return sqlite::open_specs(db, project, limit); });
}
Result<std::optional<StudyRow>> PostgresStorage::study(StudyId id) {
  return read([&](sql::Connection& db) { return sqlite::study(db, id); });
}
Result<std::optional<protocol::StudySpec>> PostgresStorage::spec(StudyId id, std::int64_t code) {
  return read([&](sql::Connection& db) { return sqlite::spec(db, id, code); });
}
Result<std::vector<TrialDetail>> PostgresStorage::finished_trials(StudyId id, std::int64_t after,
                                                                  std::int64_t limit) {
  return read([&](sql::Connection& db) { return sqlite::finished_trials(db, id, after, limit); });
}
Result<std::vector<TrialDetail>> PostgresStorage::unfinished_trials(StudyId id, std::int64_t from,
                                                                    std::int64_t limit) {
  return read([&](sql::Connection& db) { return sqlite::unfinished_trials(db, id, from, limit); });
}
Result<std::vector<TrialDetail>> PostgresStorage::best_trials(StudyId id, std::int64_t from,
                                                              std::int64_t limit) {
  return read([&](sql::Connection& db) { return sqlite::best_trials(db, id, from, limit); });
}
Result<std::optional<TrialDetail>> PostgresStorage::trial(TrialKey key) {
  return read([&](sql::Connection& db) { return sqlite::trial(db, key); });
}
Result<std::vector<protocol::Point>> PostgresStorage::curve(const AttemptRow& attempt) {
  return read([&](sql::Connection& db) { return sqlite::curve(db, attempt); });
}
Result<std::vector<NamedSeries>> PostgresStorage::series(const AttemptRow& attempt,
                                                         std::optional<std::int64_t> only) {
  return read([&](sql::Connection& db) { return sqlite::series(db, attempt, only); });
}
Result<std::vector<SeriesName>> PostgresStorage::series_names(StudyId study, std::int64_t after,
                                                              std::int64_t limit) {
  return read([&](sql::Connection& db) { return sqlite::series_names(db, study, after, limit); });
}
Result<std::optional<AttemptRow>> PostgresStorage::attempt(AttemptId id) {
  return read([&](sql::Connection& db) { return sqlite::attempt(db, id); });
}
Result<std::vector<ArtifactRow>> PostgresStorage::artifacts(StudyId study,
                                                            std::optional<TrialNumber> trial,
                                                            std::int64_t after,
                                                            std::int64_t limit) {
  return read(
      [&](sql::Connection& db) { return sqlite::artifacts(db, study, trial, after, limit); });
}
Result<std::optional<ArtifactRow>> PostgresStorage::artifact(StudyId study, const std::string& id,
                                                             std::optional<TrialNumber> trial) {
  return read([&](sql::Connection& db) { return sqlite::artifact(db, study, id, trial); });
}
Result<std::vector<SeenDevice>> PostgresStorage::devices_seen_before(std::int64_t before,
                                                                     const SeenDevice& after,
                                                                     std::int64_t limit) {
  return read(
      [&](sql::Connection& db) { return sqlite::devices_seen_before(db, before, after, limit); });
}
Result<std::vector<StudyId>> PostgresStorage::studies_of_device(const std::string& device) {
  return read([&](sql::Connection& db) { return sqlite::studies_of_device(db, device); });
}
Result<std::vector<Contribution>> PostgresStorage::contributions(const std::string& device) {
  return read([&](sql::Connection& db) { return sqlite::contributions(db, device); });
}
Result<ContributionTogether> PostgresStorage::contributions_together(const std::string& key_hash) {
  return read([&](sql::Connection& db) { return sqlite::contributions_together(db, key_hash); });
}
Result<ContributionPiece> PostgresStorage::next_contributions(std::int64_t today,
                                                              PieceLimits limits) {
  return read([&](sql::Connection& db) {
    sql::Transaction moment(db, sql::Access::read);
    return sqlite::next_contributions(db, today, limits);
  });
}
Result<std::vector<std::string>> PostgresStorage::devices_of_code(std::int64_t code) {
  return read([&](sql::Connection& db) { return sqlite::devices_of_code(db, code); });
}
Result<StoredBytes> PostgresStorage::stored(const std::string& owner) {
  return read([&](sql::Connection& db) { return sqlite::stored(db, owner); });
}
Result<Outcome> PostgresStorage::judge_bytes(AttemptId attempt, UploadKind kind, std::int64_t bytes,
                                             std::int64_t room) {
  return read(
      [&](sql::Connection& db) { return sqlite::judge_bytes(db, attempt, kind, bytes, room); });
}
Result<std::vector<std::string>> PostgresStorage::kept_blobs() {
  return read([&](sql::Connection& db) { return sqlite::kept_blobs(db); });
}
Result<std::vector<std::string>> PostgresStorage::owned_blobs() {
  return read([&](sql::Connection& db) { return sqlite::owned_blobs(db); });
}
Result<std::vector<std::string>> PostgresStorage::not_owned(const std::string& owner,
                                                            const std::vector<std::string>& blobs) {
  return read([&](sql::Connection& db) { return sqlite::not_owned(db, owner, blobs); });
}
Result<StudyPage> PostgresStorage::awaiting_approval(std::int64_t after, std::int64_t limit) {
  return read([&](sql::Connection& db) { return sqlite::awaiting_approval(db, after, limit); });
}
Result<bool> PostgresStorage::project_references(const std::string& project,
                                                 const std::string& sha256) {
  return read([&](sql::Connection& db) { return sqlite::project_references(db, project, sha256); });
}
Result<Usage> PostgresStorage::usage(const std::string& owner) {
  return read([&](sql::Connection& db) { return sqlite::usage(db, owner); });
}
Result<Outbox> PostgresStorage::outbox(std::int64_t now) {
  return read([&](sql::Connection& db) { return sqlite::outbox(db, now); });
}
Result<std::optional<std::string>> PostgresStorage::webhook_secret(const std::string& owner) {
  return read([&](sql::Connection& db) { return sqlite::webhook_secret(db, owner); });
}
Result<std::int64_t> PostgresStorage::kept_time() {
  return read([&](sql::Connection& db) { return sqlite::kept_time(db); });
}
Result<AuditSize> PostgresStorage::audit_size() {
  return read([&](sql::Connection& db) { return sqlite::audit_size(db); });
}
Result<std::vector<AuditEntry>> PostgresStorage::audit(std::int64_t after, std::int64_t limit) {
  return read([&](sql::Connection& db) { return sqlite::audit(db, after, limit); });
}

Result<std::unique_ptr<Storage>> open_postgres_storage(PostgresSettings settings, WallClock clock,
                                                       TakenShard* taken) {
  TRY(auto storage, PostgresStorage::open(std::move(settings), std::move(clock)));
  if (taken != nullptr) *taken = storage->taken();
  return std::unique_ptr<Storage>(std::move(storage));
}

}  // namespace hyperflock::storage
