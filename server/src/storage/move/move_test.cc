// Moves databases that have a row in every table, to PostgreSQL and back, and what refuses a move.
#include "storage/move/move.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/move/sqlite_rows.h"
#include "storage/move/tables.h"
#include "storage/move/tuple.h"
#include "storage/postgres/open.h"
#include "storage/postgres/testing/lost_answer.h"
#include "storage/postgres/testing/test_postgres.h"
#include "storage/sqlite/check/check.h"
#include "storage/sqlite/open.h"

namespace hyperflock::storage {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

Status keep_on(const MoveProgress&) { return {}; }

// A value for a column of a row, different for each row of a table.
std::string literal(const move::Column& column, int row) {
  switch (column.kind) {
    case move::Kind::integer:
      return std::to_string(row == 0 ? 7 : 9'007'199'254'740'993);
    case move::Kind::real:
      return row == 0 ? "0.1" : "-1.5e300";
    case move::Kind::text:
      return row == 0 ? "'a\tb\\N\"ü'" : "''";
    case move::Kind::bytes:
      return row == 0 ? "x'00ff0a'" : "x''";
  }
  return {};
}

// Writes two rows to each table that has none, whatever columns it has. Triggers and foreign keys
// are not there meanwhile.
void fill_every_table(const std::string& path) {
  move::SqliteFile file(path, move::SqliteFile::Use::create);
  std::string drops;
  std::string triggers;
  {
    sqlite::Db db(path, sqlite::Db::Mode::read_only);
    sql::Query rows = db.query("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
    while (rows.next()) {
      drops += "DROP TRIGGER " + std::string(rows.text(0)) + ";";
      triggers += std::string(rows.text(1)) + ";";
    }
  }
  file.run("PRAGMA foreign_keys = OFF;" + drops);
  for (const move::Table& table : move::newest_tables()) {
    if (move::has_one_row(table)) {
      file.run("UPDATE " + table.name + " SET " + table.columns.front().name + " = 12345678901");
      continue;
    }
    for (int row = 0; row < 2; ++row) {
      std::string values;
      for (const move::Column& column : table.columns)
        values += (values.empty() ? "" : ", ") + literal(column, row);
      file.run("INSERT INTO \"" + table.name + "\" VALUES (" + values + ")");
    }
  }
  file.run(triggers);
}

std::map<std::string, move::RowSum> sums_of(const std::string& path) {
  move::SqliteFile file(path, move::SqliteFile::Use::read);
  std::map<std::string, move::RowSum> sums;
  for (const move::Table& table : move::newest_tables()) {
    move::TableReader rows(file, table);
    std::string tuple;
    for (; rows.next(tuple, [](auto text, auto&) { return std::string(text); }); tuple.clear())
      sums[table.name].add(tuple);
  }
  return sums;
}

class MoveTest : public testing::Test {
 protected:
  MoveTest() {
    open_sqlite_storage(path_, [] { return kNow; }).value().reset();
  }

  void apply(const std::vector<Transition>& batch) {
    const auto storage = open_sqlite_storage(path_, [] { return kNow; }).value();
    for (const Outcome& one : storage->apply(batch).value())
      EXPECT_EQ(one.applied, Applied::applied);
  }
  Result<Moved> move_to(const std::string& url, Unstorable unstorable = Unstorable::refuse) {
    return move_to_postgres(path_, {.url = url}, unstorable, keep_on);
  }
  std::string code(const Result<Moved>& moved) {
    return moved ? std::string("none") : moved.error().code;
  }
  std::string sql(const std::string& statement) { return server_.sql(statement, url_); }
  std::string tables() {
    return sql("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()");
  }

  TestPostgres& server_ = TestPostgres::instance();
  const std::string url_ = server_.new_schema();
  ScratchFolder folder_{ScratchFolder::Where::memory};
  const std::string path_ = folder_.file("db");
};

TEST_F(MoveTest, EveryTableGoesThereAndComesBack) {
  fill_every_table(path_);
  const auto before = sums_of(path_);
  for (const move::Table& table : move::newest_tables())
    EXPECT_EQ(before.at(table.name).rows(), move::has_one_row(table) ? 1 : 2) << table.name;
  std::set<std::string> seen;
  const auto moved =
      move_to_postgres(path_, {.url = url_}, Unstorable::refuse, [&](const MoveProgress& one) {
        seen.emplace(one.table);
        return Status();
      });
  ASSERT_TRUE(moved.has_value()) << moved.error().message;
  EXPECT_EQ(moved->tables, std::ssize(before));
  EXPECT_EQ(seen.size(), before.size());
  EXPECT_EQ(sums_of(path_), before);  // the file stays as it was
  int begun = 0;
  const std::string back = folder_.file("back");
  const auto copied = copy_from_postgres({.url = url_}, back, [&] { ++begun; }, keep_on);
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(copied->rows, moved->rows);
  EXPECT_EQ(sums_of(back), before);
  EXPECT_EQ(fs::status(back).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// The rows of a server obey the rules on the other side, too, and it goes on there.
TEST_F(MoveTest, AServerGoesOnInTheOtherDatabase) {
  apply({create_study(1), create_principal("ada", 'a', PrincipalRole::admin),
         create_device("phone"), start(1, key(1, 0)), start(2, key(1, 1)), append(1, {{1, 0.5}}),
         complete(1, {0.5}), note("study.create")});
  ASSERT_EQ(code(move_to(url_)), "none");
  const auto there = open_postgres_storage({.url = url_, .server = "one"}, [] { return kNow; });
  ASSERT_TRUE(there.has_value()) << there.error().message;
  EXPECT_EQ((*there)->study(StudyId{1}).value()->complete, 1);
  const auto outcomes =
      (*there)
          ->apply(std::vector<Transition>{complete(2, {0.75}), start(3, key(1, 2)),
                                          create_principal("bob", 'b'), note("more")})
          .value();
  for (const Outcome& one : outcomes) EXPECT_EQ(one.applied, Applied::applied);
  EXPECT_EQ(outcomes[0].verdict, protocol::Verdict::accepted);
  EXPECT_EQ((*there)->study(StudyId{1}).value()->best_trial, TrialNumber{1});
  // The totals go on from those that were moved.
  EXPECT_EQ((*there)->project_totals("default").value().done, 2);
  EXPECT_EQ((*there)->audit_size().value().entries, 2);

  const std::string back = folder_.file("back");
  ASSERT_EQ(code(copy_from_postgres({.url = url_}, back, [] {}, keep_on)), "none");
  const auto checked = check_database(back, DatabaseState::resting);
  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_TRUE(checked->rows_checked);
  for (const Finding& one : checked->findings) ADD_FAILURE() << one.code << ": " << one.text;
  const auto again = open_sqlite_storage(back, [] { return kNow; });
  EXPECT_EQ((*again)->study(StudyId{1}).value()->complete, 2);
  const auto last = (*again)->apply(std::vector<Transition>{complete(3, {0.1})}).value();
  EXPECT_EQ(last[0].verdict, protocol::Verdict::accepted);
}

// An id that was given once is never given again.
TEST_F(MoveTest, CountersGoOn) {
  apply(
      {note("one", false), note("two", false), create_principal("ada", 'a', PrincipalRole::admin)});
  move::SqliteFile(path_, move::SqliteFile::Use::create)
      .run("UPDATE sqlite_sequence SET seq = 5000 WHERE name = 'audit'");
  ASSERT_EQ(code(move_to(url_)), "none");
  EXPECT_EQ(sql("INSERT INTO audit (at, actor, action, object, address, detail)"
                " VALUES (1, '', '', '', '', '') RETURNING id"),
            "5001");
  sql("DELETE FROM audit WHERE id = 5001");
  const std::string back = folder_.file("back");
  ASSERT_EQ(code(copy_from_postgres({.url = url_}, back, [] {}, keep_on)), "none");
  EXPECT_EQ(move::SqliteFile(back, move::SqliteFile::Use::read)
                .number("SELECT seq FROM sqlite_sequence WHERE name = 'audit'"),
            5001);
  // Each column that SQLite counts is counted there.
  std::string counted;
  for (const move::Table& table : move::newest_tables())
    if (table.counts_ids) counted += (counted.empty() ? "" : ",") + ("'" + table.name + "'");
  EXPECT_EQ(sql("SELECT count(*) FROM information_schema.columns WHERE table_schema ="
                " current_schema() AND is_identity = 'YES' AND table_name IN (" +
                counted + ")"),
            std::to_string(std::ranges::count(counted, ',') + 1));
}

TEST_F(MoveTest, ACopyIsOfOneMoment) {
  apply({create_study(1), start(1, key(1, 0))});
  ASSERT_EQ(code(move_to(url_)), "none");
  const std::string back = folder_.file("back");
  const auto copied = copy_from_postgres(
      {.url = url_}, back, [&] { sql("UPDATE study_progress SET running = 77"); },
      keep_on);  // after its moment
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_EQ(move::SqliteFile(back, move::SqliteFile::Use::read)
                .number("SELECT running FROM study_progress"),
            1);
}

// ---- refusals, after which the target is as before

TEST_F(MoveTest, ATargetWithRowsOrTablesOfOthersIsRefused) {
  apply({create_principal("ada", 'a', PrincipalRole::admin)});
  ASSERT_EQ(code(move_to(url_)), "none");
  EXPECT_EQ(code(move_to(url_)), "target_not_empty");
  const std::string other = server_.new_schema();
  server_.sql("CREATE TABLE of_another_program (a INT)", other);
  const auto refused = move_to(other);
  EXPECT_EQ(code(refused), "target_not_empty");
  EXPECT_THAT(refused.error().message, HasSubstr("of_another_program"));
}

TEST_F(MoveTest, TablesWithoutRowsAreTaken) {
  apply({create_principal("ada", 'a', PrincipalRole::admin)});
  const std::string empty = server_.new_schema();
  open_postgres_storage({.url = empty, .server = "one"}, [] { return kNow; }).value().reset();
  EXPECT_EQ(code(move_to(empty)), "none");
}

TEST_F(MoveTest, AnEndInBetweenLeavesTheTargetEmpty) {
  fill_every_table(path_);
  const std::string before = tables();
  for (const bool compares : {false, true}) {
    const auto ended = move_to_postgres(path_, {.url = url_}, Unstorable::refuse,
                                        [&](const MoveProgress& one) -> Status {
                                          if (one.compares == compares && one.rows > 0)
                                            return Error{"interrupted", "Ended."};
                                          return {};
                                        });
    EXPECT_EQ(code(ended), "interrupted");
    EXPECT_EQ(tables(), before);
  }
  EXPECT_EQ(code(move_to(url_)), "none");
}

TEST_F(MoveTest, ALostConnectionLeavesTheTargetEmpty) {
  fill_every_table(path_);
  bool crashed = false;
  const auto lost = move_to_postgres(path_, {.url = url_}, Unstorable::refuse,
                                     [&](const MoveProgress&) -> Status {
                                       if (!std::exchange(crashed, true)) server_.restart();
                                       return {};
                                     });
  EXPECT_EQ(code(lost), "postgres_unreachable");
  EXPECT_EQ(tables(), "0");
}

// Runs SQL in the transaction of a move, after the rows were copied.
class InTheMove {
 public:
  InTheMove(TestPostgres& server, std::string url, const std::string& statement)
      : server_(server), url_(std::move(url)) {
    server_.sql("CREATE FUNCTION change() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN " +
                    statement + "; END $$;CREATE EVENT TRIGGER " + name_ +
                    " ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION change()",
                url_);
  }
  ~InTheMove() { server_.sql("DROP EVENT TRIGGER " + name_, url_); }
  InTheMove(const InTheMove&) = delete;
  InTheMove& operator=(const InTheMove&) = delete;

 private:
  TestPostgres& server_;
  const std::string url_;
  const std::string name_ = "changes_a_move";
};

// The session ends itself during the commit. It is found out that the commit did not take place.
TEST_F(MoveTest, AConnectionThatIsLostDuringTheCommit) {
  apply({create_principal("ada", 'a', PrincipalRole::admin)});
  open_postgres_storage({.url = url_, .server = "one"}, [] { return kNow; }).value().reset();
  sql("CREATE TABLE ends (at INT);"
      "CREATE FUNCTION quit() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN"
      " PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;"
      "CREATE CONSTRAINT TRIGGER quits AFTER INSERT ON ends DEFERRABLE INITIALLY DEFERRED"
      " FOR EACH ROW EXECUTE FUNCTION quit()");
  {
    const InTheMove ends(server_, url_, "INSERT INTO ends VALUES (1)");
    EXPECT_EQ(code(move_to(url_)), "postgres_unreachable");
  }
  EXPECT_EQ(sql("SELECT count(*) FROM principals"), "0");
  EXPECT_EQ(code(move_to(url_)), "none");
}

// The database committed, and only its answer is lost. It is found out that everything was moved.
TEST_F(MoveTest, ACommitWhoseAnswerIsLostCounts) {
  apply({create_principal("ada", 'a', PrincipalRole::admin)});
  const LostAnswer between(url_);
  const auto moved = move_to(between.url());
  EXPECT_TRUE(between.lost());
  ASSERT_EQ(code(moved), "none") << moved.error().message;
  EXPECT_EQ(sql("SELECT count(*) FROM principals"), "1");
  EXPECT_EQ(code(move_to(url_)), "target_not_empty");
}

TEST_F(MoveTest, RowsThatChangeOnTheWayAreNoticed) {
  apply({create_principal("ada", 'a', PrincipalRole::admin)});
  open_postgres_storage({.url = url_, .server = "one"}, [] { return kNow; }).value().reset();
  {
    const InTheMove changes(server_, url_, "UPDATE kept_time SET at = at + 1");
    EXPECT_EQ(code(move_to(url_)), "move_differs");
  }
  EXPECT_EQ(sql("SELECT count(*) FROM principals"), "0");
}

TEST_F(MoveTest, TextsThatPostgresDoesNotStore) {
  StartAttempt begun = start(1, key(1, 0));
  begun.engine = "a\0b"s;
  begun.adapter = "\xff"s;
  apply({create_study(1), begun});
  const auto refused = move_to(url_);
  EXPECT_EQ(code(refused), "text_not_storable");
  EXPECT_THAT(refused.error().message, HasSubstr("the column engine of the row 1 of the table"));
  EXPECT_EQ(tables(), "0");
  const auto moved = move_to(url_, Unstorable::replace);
  ASSERT_EQ(code(moved), "none");
  EXPECT_EQ(moved->replaced, 2);
  EXPECT_EQ(sql("SELECT engine || adapter FROM device_versions"),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
}

TEST_F(MoveTest, OtherSchemasAreRefused) {
  const auto set_version = [&](const std::string& to) {
    move::SqliteFile(path_, move::SqliteFile::Use::create).run("PRAGMA user_version = " + to);
  };
  const std::string newest =
      sqlite::Db(path_, sqlite::Db::Mode::read_only).single("PRAGMA user_version");
  set_version("20");
  EXPECT_EQ(code(move_to(url_)), "storage_too_old");
  set_version("999");
  EXPECT_EQ(code(move_to(url_)), "storage_too_new");
  set_version(newest);
  const std::string file = folder_.file("copy");
  const auto copy = [&] { return code(copy_from_postgres({.url = url_}, file, [] {}, keep_on)); };
  EXPECT_EQ(copy(), "storage_open");
  EXPECT_EQ(code(move_to(url_)), "none");
  sql("INSERT INTO schema_versions (version) VALUES (999)");
  EXPECT_EQ(copy(), "storage_too_new");
  sql("DELETE FROM schema_versions WHERE version > 1");
  EXPECT_EQ(copy(), "storage_too_old");
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(MoveTest, ATableOfAnotherFormIsRefused) {
  open_postgres_storage({.url = url_, .server = "one"}, [] { return kNow; }).value().reset();
  sql("ALTER TABLE points ADD COLUMN more BIGINT");
  const auto refused = move_to(url_);
  EXPECT_EQ(code(refused), "storage_open");
  EXPECT_THAT(refused.error().message, HasSubstr("points.more"));
}

TEST_F(MoveTest, TheDatabaseIsAwayOrNeedsAPassword) {
  EXPECT_EQ(code(move_to("postgres://ada@127.0.0.1:1/hyperflock")), "postgres_unreachable");
  const auto refused =
      move_to_postgres(path_, {.url = server_.url_with_password(), .password = "se:cret"},
                       Unstorable::refuse, keep_on);
  EXPECT_EQ(code(refused), "postgres_password");
  EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("se:cret")));
}

TEST_F(MoveTest, AFileThatIsThereIsNotReplaced) {
  ASSERT_EQ(code(move_to(url_)), "none");
  EXPECT_EQ(code(copy_from_postgres({.url = url_}, path_, [] {}, keep_on)), "backup_failed");
  EXPECT_TRUE(check_database(path_, DatabaseState::stopped).value().findings.empty());
}

// ---- tuples

TEST(CopyStream, TakesTuplesWhereverThePiecesEnd) {
  std::string all(move::copy_header());
  std::string tuple;
  move::begin_tuple(tuple, 3);
  move::append_integer(tuple, -2);
  move::append_null(tuple);
  move::append_bytes(tuple, "text");
  all += tuple;
  all += tuple;
  all += move::copy_trailer();
  for (std::size_t size = 1; size <= all.size(); ++size) {
    move::CopyStream stream;
    std::vector<std::string> found;
    for (std::size_t at = 0; at < all.size(); at += size)
      stream.feed(all.substr(at, size), [&](std::string_view one) { found.emplace_back(one); });
    EXPECT_EQ(found, (std::vector<std::string>{tuple, tuple})) << size;
    EXPECT_TRUE(stream.ended());
  }
}

TEST(RowSum, IsThatOfTheRowsInAnyOrder) {
  move::RowSum one;
  move::RowSum other;
  one.add("a");
  one.add("b");
  other.add("b");
  EXPECT_FALSE(one == other);
  other.add("a");
  EXPECT_TRUE(one == other);
  other.add("a");
  EXPECT_FALSE(one == other);
}

}  // namespace
}  // namespace hyperflock::storage
