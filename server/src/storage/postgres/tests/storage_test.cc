// Tests what only the PostgreSQL back end has: its shard, lost connections, and errors at the
// start.
#include "storage/postgres/storage.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/postgres/schema.h"
#include "storage/postgres/testing/test_postgres.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"

namespace hyperflock::storage {
namespace {

using testing::HasSubstr;

class PostgresTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Storage>> open(PostgresSettings settings = {}) {
    if (settings.url.empty()) settings.url = url_;
    if (settings.server.empty()) settings.server = "one";
    if (settings.patience_ms != 0) settings.patience_ms = 600'000;  // a slow machine is no failure
    return open_postgres_storage(std::move(settings), [] { return kNow; });
  }
  std::string sql(const std::string& statement) { return server_.sql(statement, url_); }

  TestPostgres& server_ = TestPostgres::instance();
  const std::string url_ = server_.new_schema();
};

std::vector<Transition> one_cycle(std::int64_t attempt) {
  StoreResult result = complete(attempt, {0.5});
  result.result.points = {{1, 0.5}, {2, 0.25}};
  return {result, start(attempt + 1, key(1, attempt))};
}

Applied apply(Storage& storage, Transition transition) {
  const auto outcomes = storage.apply(std::vector<Transition>{std::move(transition)});
  EXPECT_TRUE(outcomes.has_value()) << (outcomes ? "" : outcomes.error().message);
  return outcomes ? outcomes->front().applied : Applied::conflict;
}

// ---- the shard

TEST_F(PostgresTest, ASecondServerIsRefusedWhileTheFirstHasTheShard) {
  const auto first = open();
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto second = open({.server = "two"});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, "shard_held");
  EXPECT_THAT(second.error().message, HasSubstr("one"));
}

TEST_F(PostgresTest, AServerThatEndedLeavesTheShard) {
  open().value().reset();
  EXPECT_TRUE(open({.server = "two"}).has_value());
}

TEST_F(PostgresTest, TheSameServerTakesItsShardAgainAtOnce) {
  const auto killed = open();  // as after kill -9, its time is not over
  ASSERT_TRUE(killed.has_value());
  const auto again = open();
  EXPECT_TRUE(again.has_value()) << again.error().message;
}

TEST_F(PostgresTest, AServerThatLostItsShardChangesNothing) {
  std::atomic<int> lost = 0;
  const auto first = open({.lost = [&lost] { ++lost; }});
  ASSERT_EQ(apply(**first, create_study(1)), Applied::applied);
  ASSERT_EQ(apply(**first, start(1, key(1, 0))), Applied::applied);
  sql("UPDATE shards SET expires = now() - interval '1 hour'");
  const auto second = open({.server = "two"});
  ASSERT_TRUE(second.has_value()) << second.error().message;

  const auto late = (*first)->apply(one_cycle(1));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, "storage_unavailable");
  EXPECT_THAT(late.error().message, HasSubstr("taken this database over"));
  EXPECT_EQ((*second)->study(StudyId{1}).value()->complete, 0);
  EXPECT_EQ(sql("SELECT count(*) FROM points"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM attempts"), "1");
  EXPECT_EQ(lost, 1);

  const auto mine = (*second)->apply(one_cycle(1));
  ASSERT_TRUE(mine.has_value()) << mine.error().message;
  EXPECT_EQ(mine->front().verdict, protocol::Verdict::accepted);
}

TEST_F(PostgresTest, TheRowNamesThePeerOfItsEpochOnly) {
  const auto watch = watch_shard({.url = url_, .server = "three", .lease_ms = 0});
  const ShardPeer peer{"server-1.internal:8791", "hfp_one"};
  auto first = open({.peer = peer});
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto seen = watch->look();
  ASSERT_TRUE(seen.has_value()) << seen.error().message;
  EXPECT_EQ(seen->epoch, 1);
  EXPECT_EQ(seen->peer, peer);
  first.value().reset();
  // A server that takes no connections must not leave the address of the one before.
  const auto second = open({.server = "two"});
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(watch->look()->epoch, 2);
  EXPECT_EQ(watch->look()->peer, ShardPeer{});
}

TEST_F(PostgresTest, AServerThatRenewsFindsOutThatItsShardIsLost) {
  std::promise<void> lost;
  const auto first = open({.lease_ms = 30, .lost = [&lost] { lost.set_value(); }});
  ASSERT_TRUE(first.has_value()) << first.error().message;
  sql("UPDATE shards SET epoch = epoch + 1, server = 'two'");
  lost.get_future().wait();
}

// As after SIGSTOP, or when the network is cut: the row stays locked.
TEST_F(PostgresTest, AShardIsTakenAlthoughABatchOfTheServerBeforeIsOpen) {
  ASSERT_TRUE(open().has_value());
  postgres::Client db({url_, {}, "test"});
  const auto shard = postgres::Shard::take(db, {{url_, {}, "test"}, "one"}).value();
  sql("UPDATE shards SET expires = now() - interval '1 hour'");
  db.begin(sql::Access::write);
  shard->hold(db);
  db.statement("INSERT INTO kept_time VALUES (1)").run_soon();
  db.finish();
  const auto second = open({.server = "two"});
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_THROW(db.commit(), postgres::ConnectionLost);
  EXPECT_EQ(sql("SELECT count(*) FROM kept_time WHERE at = 1"), "0");
}

TEST_F(PostgresTest, AServerThatWaitsChangesNoTables) {
  open().value().reset();
  const std::string newest = std::to_string(postgres::migrations().size());
  // The migrations from 6 on are undone.
  sql("ALTER TABLE devices DROP COLUMN code; DROP TABLE rejections; ALTER TABLE trials DROP COLUMN "
      "rejected;"
      " ALTER TABLE attempts DROP COLUMN rejection, DROP COLUMN inherited;"
      " DROP TABLE device_passphrases; DROP TABLE contributions; DROP TABLE contribution_fold;"
      " ALTER TABLE attempts DROP COLUMN given_ms, DROP COLUMN moved_best;"
      " ALTER TABLE shards DROP COLUMN peer, DROP COLUMN peer_secret;"
      " DELETE FROM schema_versions WHERE version >= 6;"
      " UPDATE shards SET server = 'old', expires = now() + interval '1 hour'");
  const auto early = open({.server = "two"});
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, "shard_held");
  EXPECT_NE(sql("SELECT max(version) FROM schema_versions"), newest);
  const auto watch = watch_shard({.url = url_, .server = "two", .lease_ms = 0});
  const auto seen = watch->look();
  ASSERT_TRUE(seen.has_value()) << seen.error().message;
  EXPECT_FALSE(seen->may_take);
  EXPECT_EQ(seen->server, "old");
  EXPECT_EQ(seen->peer, ShardPeer{});
  sql("UPDATE shards SET expires = now() - interval '1 hour'");
  EXPECT_TRUE(watch->look()->may_take);
  EXPECT_TRUE(open({.server = "two"}).has_value());
  EXPECT_EQ(sql("SELECT max(version) FROM schema_versions"), newest);
}

TEST_F(PostgresTest, ResultsFromBeforeAnUpgradeAreCountedInPieces) {
  {
    const auto storage = open().value();
    apply(*storage, create_study(1));
    for (std::int64_t i = 0; i < 5; ++i) {
      apply(*storage, start(i + 1, key(1, i)));
      apply(*storage, complete(i + 1, {static_cast<double>(i)}));
    }
  }
  sql("UPDATE attempts SET started_at = started_at - 3000;"
      " DROP TABLE device_passphrases; DROP TABLE contributions; DROP TABLE contribution_fold;"
      " ALTER TABLE attempts DROP COLUMN given_ms, DROP COLUMN moved_best;"
      " DELETE FROM schema_versions WHERE version >= 9");
  const auto storage = open().value();
  fold_contributions(*storage, kNow / kDayMs, {.results = 2, .rows = 1});
  EXPECT_EQ(storage->contributions("phone").value(),
            (std::vector<Contribution>{{"default", kNow / kDayMs, 5, 15'000, 0}}));
}

TEST_F(PostgresTest, AShardMayBeTakenAtOnceIfTheConnectionOfItsServerHasEnded) {
  open().value().reset();
  sql("UPDATE shards SET server = 'one', epoch = 7, expires = now() + interval '1 hour'");
  const auto watch = watch_shard({.url = url_, .server = "two", .lease_ms = 0});
  const auto may_take = [&] { return watch->look()->may_take; };
  // The database's user may not see the connections of others, so one that was never there is not
  // missed.
  EXPECT_FALSE(may_take());
  const std::string files = sql("SELECT files FROM shards");
  const auto session = [&](const std::string& name) {
    return std::make_unique<postgres::Client>(postgres::ClientSettings{url_, {}, name});
  };
  const auto until_seen = [&](const std::string& name, const char* count) {
    while (sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = '" + name + "'") !=
           count) {
    }
  };
  // Neither are those of another epoch and of another database.
  for (const std::string& other : {files + "/6", std::string("another/7")}) {
    session("hyperflock shard " + other).reset();
    EXPECT_FALSE(may_take());
  }
  const std::string name = "hyperflock shard " + files + "/7";
  auto holder = session(name);
  until_seen(name, "1");
  EXPECT_FALSE(may_take());
  holder.reset();
  until_seen(name, "0");
  EXPECT_TRUE(may_take());
  EXPECT_EQ(sql("SELECT expires < now() FROM shards"), "t");
  EXPECT_TRUE(open({.server = "two"}).has_value());
}

TEST_F(PostgresTest, AServerWhoseConnectionsWereCutConnectsAgainAndKeepsItsShard) {
  const auto first = open();
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto watch = watch_shard({.url = url_, .server = "two", .lease_ms = 600'000});
  const std::string name =
      "application_name = 'hyperflock shard ' || (SELECT files FROM shards) "
      "|| '/1'";
  const auto pid = [&] {
    std::string found;
    while (found.empty()) found = sql("SELECT pid FROM pg_stat_activity WHERE " + name);
    return found;
  };
  const std::string before = pid();
  EXPECT_FALSE(watch->look()->may_take);
  sql("SELECT pg_terminate_backend(" + before + ")");
  while (pid() == before) {
  }
  EXPECT_FALSE(watch->look()->may_take);
  EXPECT_EQ(sql("SELECT epoch FROM shards"), "1");
}

TEST_F(PostgresTest, AShardMayNotBeTakenJustAfterTheDatabaseWasAway) {
  open().value().reset();  // its time is over
  EXPECT_FALSE(watch_shard({.url = url_, .server = "two", .lease_ms = 600'000})->look()->may_take);
  const auto watch = watch_shard({.url = url_, .server = "two", .lease_ms = 0});
  EXPECT_TRUE(watch->look()->may_take);
  server_.crash();
  const auto away = watch->look();
  server_.restart_stopped();
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().code, "storage_unavailable");
  EXPECT_TRUE(watch->look()->may_take);
}

TEST_F(PostgresTest, ADatabaseWithoutTablesMayBeTaken) {
  EXPECT_TRUE(watch_shard({.url = url_, .server = "two"})->look()->may_take);
}

// ---- lost connections

TEST_F(PostgresTest, GoesOnAfterTheDatabaseWasRestarted) {
  const auto storage = open();
  ASSERT_EQ(apply(**storage, create_study(1)), Applied::applied);
  ASSERT_EQ(apply(**storage, start(1, key(1, 0))), Applied::applied);
  ASSERT_TRUE((*storage)->study(StudyId{1}).has_value());  // opens a reader
  server_.restart();
  EXPECT_TRUE((*storage)->study(StudyId{1}).has_value());
  const auto outcomes = (*storage)->apply(one_cycle(1));
  ASSERT_TRUE(outcomes.has_value()) << outcomes.error().message;
  EXPECT_EQ(outcomes->front().verdict, protocol::Verdict::accepted);
  EXPECT_EQ(outcomes->back().applied, Applied::applied);
}

TEST_F(PostgresTest, ADatabaseThatStaysAwayIsAnErrorThatChangesNothing) {
  const auto storage = open({.patience_ms = 0});
  ASSERT_EQ(apply(**storage, create_study(1)), Applied::applied);
  server_.crash();
  const auto outcomes = (*storage)->apply(std::vector<Transition>{start(1, key(1, 0))});
  const auto read = (*storage)->study(StudyId{1});
  server_.restart_stopped();
  ASSERT_FALSE(outcomes.has_value());
  EXPECT_EQ(outcomes.error().code, "storage_unavailable");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, "storage_unavailable");
  EXPECT_TRUE((*storage)->load().has_value());
  EXPECT_EQ(apply(**storage, start(1, key(1, 0))), Applied::applied);
}

// The server is crashed while batches are written, so that some crash falls on a commit. Then each
// batch for which outcomes were returned is stored, once, and no other.
TEST_F(PostgresTest, EachBatchIsStoredOnceWhenTheDatabaseCrashes) {
  constexpr int kCrashes = 4;
  const auto storage = open();
  ASSERT_EQ(apply(**storage, create_study(1)), Applied::applied);
  ASSERT_EQ(apply(**storage, start(1, key(1, 0))), Applied::applied);
  std::atomic<std::int64_t> stored{0};
  std::atomic<bool> stop{false};
  std::string failed;
  std::thread writer([&] {
    for (std::int64_t attempt = 1; !stop; ++attempt) {
      const auto outcomes = (*storage)->apply(one_cycle(attempt));
      if (!outcomes) {
        failed = outcomes.error().message;
        break;
      }
      if (outcomes->front().verdict != protocol::Verdict::accepted ||
          outcomes->front().applied != Applied::applied ||
          outcomes->back().applied != Applied::applied) {
        failed = "cycle " + std::to_string(attempt) + " was stored twice, or the one before not";
        break;
      }
      stored = attempt;
    }
  });
  for (int i = 0; i < kCrashes; ++i) {
    const std::int64_t before = stored;
    while (stored < before + 5 && failed.empty() && !stop) std::this_thread::yield();
    server_.restart();
  }
  stop = true;
  writer.join();
  EXPECT_EQ(failed, "");
  const StudyRow study = (*storage)->study(StudyId{1}).value().value();
  EXPECT_EQ(study.complete, stored);
  EXPECT_EQ(study.attempts, stored + 1);
  EXPECT_EQ(sql("SELECT count(*) FROM trials WHERE state = 1"), std::to_string(stored));
  EXPECT_EQ(sql("SELECT count(*) FROM points"), std::to_string(2 * stored));
}

// Both answers to "was the batch committed?" are given, whatever the timing of the crashes above.
TEST_F(PostgresTest, FindsOutWhetherABatchWasCommitted) {
  ASSERT_TRUE(open().has_value());
  postgres::Client db({url_, {}, "test"});
  const auto shard = postgres::Shard::take(db, {{url_, {}, "test"}, "one"}).value();
  db.begin(sql::Access::write);
  shard->hold(db);
  db.finish();
  EXPECT_FALSE(shard->was_committed(db));  // its connection ends without a commit
  EXPECT_TRUE(shard->settled().has_value());
  db.begin(sql::Access::write);
  shard->hold(db);
  db.commit();
  EXPECT_TRUE(shard->was_committed(db));
}

TEST_F(PostgresTest, ACommitWhoseAnswerWasLostCounts) {
  ASSERT_TRUE(open().has_value());
  postgres::Client db({url_, {}, "test"});
  int asked = 0;
  db.was_committed = [&] {
    ++asked;
    db.reconnect();
    return true;
  };
  db.begin(sql::Access::write);
  db.statement("INSERT INTO given VALUES (1, 1, 1)").run_soon();
  db.finish();
  // The session ends itself during the commit, when a deferred trigger runs.
  sql("CREATE FUNCTION quit() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN"
      " PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;"
      "CREATE CONSTRAINT TRIGGER quits AFTER INSERT ON kept_time DEFERRABLE INITIALLY DEFERRED"
      " FOR EACH ROW EXECUTE FUNCTION quit()");
  db.statement("INSERT INTO kept_time VALUES (1)").run_soon();
  EXPECT_NO_THROW(db.commit());
  EXPECT_EQ(asked, 1);
}

// ---- texts of devices

TEST_F(PostgresTest, ADeviceCannotStopTheServerWithATextThatTheDatabaseRefuses) {
  using namespace std::string_literals;
  const auto storage = open();
  ASSERT_EQ(apply(**storage, create_study(1)), Applied::applied);
  StartAttempt begun = start(1, key(1, 0));
  begun.engine = "a\0b"s;
  begun.adapter = "\xff"s;
  ASSERT_EQ(apply(**storage, begun), Applied::applied);
  StoreResult result = complete(1, {0.5});
  result.result.backend = "c\0d"s;
  result.result.software = "\xed\xa0\x80"s;
  EXPECT_EQ(apply(**storage, result), Applied::applied);
  const AttemptRow attempt = (*storage)->attempt(AttemptId{1}).value().value();
  EXPECT_EQ(attempt.engine,
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(attempt.backend,
            "c\xef\xbf\xbd"
            "d");
  StartAttempt again = start(2, key(1, 1));
  again.engine = begun.engine;
  again.adapter = begun.adapter;
  EXPECT_EQ(apply(**storage, again), Applied::applied);
  EXPECT_EQ(sql("SELECT count(*) FROM device_versions"), "1");
}

// ---- opening

TEST_F(PostgresTest, RefusesANewerSchema) {
  open().value().reset();
  sql("INSERT INTO schema_versions (version) VALUES (999)");
  const auto opened = open();
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, "storage_too_new");
}

TEST_F(PostgresTest, SaysWhenTheDatabaseIsAway) {
  const auto opened = open({.url = "postgres://ada@127.0.0.1:1/hyperflock"});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, "postgres_unreachable");
  EXPECT_THAT(opened.error().message, HasSubstr("127.0.0.1"));
}

TEST_F(PostgresTest, AWrongPasswordIsSaidAndNotShown) {
  for (const char* password : {"", "se:cret"}) {
    const auto opened = open({.url = server_.url_with_password(), .password = password});
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, "postgres_password");
    EXPECT_THAT(opened.error().message, testing::Not(HasSubstr("se:cret")));
  }
  EXPECT_TRUE(open({.url = server_.url_with_password(), .password = "right:word"}).has_value());
}

TEST(PostgresUrl, MustBeAUrlWithoutAPassword) {
  EXPECT_EQ(postgres_url_fault("postgres://ada@db.example.org:5432/hyperflock"), "");
  EXPECT_EQ(postgres_url_fault("postgresql:///hyperflock?host=/run/postgresql"), "");
  for (const char* wrong :
       {"postgres://ada:secret@host/db", "postgres://ada@host/db?password=secret",
        "postgres://ada:%zz@host/db", "host=here password=secret", "mysql://ada@host/db"}) {
    const std::string fault = postgres_url_fault(wrong);
    EXPECT_NE(fault, "") << wrong;
    EXPECT_THAT(fault, testing::Not(HasSubstr("secret")));
  }
}

TEST_F(PostgresTest, MigratesOnlyOnceWhenServersStartTogether) {
  std::vector<std::future<Result<std::unique_ptr<Storage>>>> opening;
  for (int i = 0; i < 4; ++i)
    opening.push_back(std::async(std::launch::async, [this] { return open(); }));
  for (auto& one : opening) {
    const auto opened = one.get();
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
  }
  EXPECT_EQ(sql("SELECT count(*) FROM schema_versions"),
            std::to_string(postgres::migrations().size()));
}

// A column that one back end has and the other lacks is a migration that was forgotten.
TEST_F(PostgresTest, HasTheTablesAndColumnsOfSqlite) {
  open().value().reset();
  std::set<std::string> here;
  postgres::Client db({url_, {}, "test"});
  auto& rows = db.statement(
      "SELECT table_name || '.' || column_name FROM information_schema.columns"
      " WHERE table_schema = current_schema()"
      " AND table_name NOT IN ('shards', 'schema_versions')");
  while (rows.step()) here.emplace(rows.text(0));
  std::set<std::string> there;
  const ScratchFolder folder;
  open_sqlite_storage(folder.file("db"), [] { return kNow; }).value().reset();
  sqlite::Db file(folder.file("db"), sqlite::Db::Mode::read_only);
  sql::Query columns = file.query(
      "SELECT m.name || '.' || c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c"
      " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'");
  while (columns.next()) there.emplace(columns.text(0));
  EXPECT_EQ(here, there);
}

}  // namespace
}  // namespace hyperflock::storage
