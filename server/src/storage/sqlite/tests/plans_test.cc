// No statement of the storage may read a whole table, or all rows of a study, unless kAllowed says
// why.
//
// The contract's tests run the storage's statements. SQLite traces their texts meanwhile, and after
// all tests the plan of each one is read. So a new statement needs no entry here, unless it reads
// much on purpose.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/tests/storage_runs.h"

struct sqlite3_api_routines;  // of sqlite3ext.h

namespace hyperflock::storage {
namespace {

// A line of a plan, in statements with this text.
struct Allowed {
  std::string_view statement;
  std::string_view line;
  std::string_view why;
};

constexpr std::string_view kOneRow = "the table has one row";
constexpr std::string_view kPage = "the rows of a subquery with a limit";
constexpr std::string_view kAtStart = "read at the start, when all of it is wanted";
constexpr std::string_view kByOperators = "only operators add rows";
constexpr std::string_view kFew = "few rows, because what adds them is bounded";

constexpr std::array kAllowed{
    Allowed{"FROM given", "SCAN given", kOneRow},
    Allowed{"UPDATE given", "SCAN given", kOneRow},
    Allowed{"kept_time", "SCAN kept_time", kOneRow},
    Allowed{"contribution_fold", "SCAN contribution_fold", kOneRow},
    Allowed{"audit", "SCAN audit_total", kOneRow},  // also in triggers of the table audit
    Allowed{"AS front", "SCAN front", kPage},
    Allowed{"ORDER BY id LIMIT ?) AS oldest", "SCAN audit", kPage},
    Allowed{"AS oldest", "SCAN oldest", kPage},
    Allowed{"ORDER BY bytes DESC LIMIT 1", "SCAN audit_totals", kPage},
    Allowed{"AS replaced", "SCAN replaced", kFew},
    Allowed{"WITH RECURSIVE line", "SCAN line", "the attempts from which one continues"},
    Allowed{"WHERE state = 0 ORDER BY study",
            "SCAN study_progress USING COVERING INDEX running_studies",
            "all running studies are wanted"},
    Allowed{"AS newest JOIN studies", "SCAN study_progress USING INDEX running_studies", kPage},
    Allowed{"AS newest JOIN studies", "SCAN newest", kPage},
    Allowed{"FROM devices WHERE code = ?", "SCAN devices", "few people ask, on a reader's thread"},
    Allowed{"SELECT DISTINCT a.study FROM attempts", "SCAN a",
            "few people ask, on a reader's thread"},
    Allowed{"FROM principals ORDER BY id", "SCAN principals", kAtStart},
    Allowed{"FROM tokens ORDER BY id", "SCAN tokens", kAtStart},
    Allowed{"FROM projects ORDER BY id", "SCAN projects", kAtStart},
    Allowed{"FROM codes ORDER BY id", "SCAN codes", kAtStart},
    Allowed{"FROM devices ORDER BY id", "SCAN devices", kAtStart},
    Allowed{"FROM devices GROUP BY project", "SCAN devices",
            "read once, and then kept by the writer"},
    Allowed{"FROM checkpoints UNION", "SCAN checkpoints USING COVERING INDEX", kAtStart},
    Allowed{"FROM checkpoints UNION", "SCAN artifacts USING COVERING INDEX", kAtStart},
    Allowed{"FROM owner_blobs UNION", "SCAN owner_blobs USING COVERING INDEX", kAtStart},
    Allowed{"FROM owner_blobs UNION", "SCAN study_blobs USING COVERING INDEX", kAtStart},
    Allowed{"FROM ceilings", "SCAN ceilings", kByOperators},
    Allowed{"FROM barred_blobs", "SCAN barred_blobs", kByOperators},
    Allowed{"FROM principals WHERE state", "SCAN principals", kByOperators},
    Allowed{"FROM projects WHERE frozen_at", "SCAN projects", kByOperators},
    Allowed{"FROM shares", "SCAN shares", kByOperators},
    Allowed{"FROM lending", "SCAN lending", kByOperators},
    Allowed{"AS d JOIN webhook", "SCAN", "deliveries that wait; an owner has at most 100"},
    Allowed{"AS unfolded", "SCAN study_progress",
            "a small row for each study, once for a piece of many results, on a reader's thread"},
    Allowed{"search_from IS NOT NULL", "SCAN study_progress USING INDEX studies_to_search",
            "any study that lacks best trials is wanted; the index has no others"},
    Allowed{"FROM trials WHERE study = ? ORDER BY number LIMIT", "SEARCH trials ", kPage},
    Allowed{"ORDER BY seq DESC LIMIT ?2) AS t", "SEARCH trials USING INDEX trials_by_seq", kPage},
    Allowed{"ORDER BY seq DESC LIMIT ?2) AS t", "SCAN t", kPage},
    Allowed{"INDEXED BY failed_trials", "SEARCH trials USING COVERING INDEX failed_trials",
            "the index has failed trials only, and all are wanted"},
    Allowed{"max(number) + 1", "SEARCH trials ", "reads one end of the key"},
    Allowed{"WHERE study = ? ORDER BY arrived LIMIT", "SEARCH artifacts ", kPage},
    Allowed{"SELECT count(*) FROM artifacts", "SEARCH artifacts USING COVERING INDEX",
            "the answer to a deletion says how many go"},
    Allowed{"FROM checkpoints WHERE study = ?", "SEARCH checkpoints ",
            "a study keeps them only for trials without an outcome"},
};

// Returns whether a line of a plan reads all rows of a table or of a study.
bool reads_much(std::string_view line) {
  if (line.starts_with("SCAN ")) {
    // Intermediate results have names in parentheses. Constants have none.
    return !line.starts_with("SCAN CONSTANT") && !line.starts_with("SCAN 2-ROW");
  }
  constexpr std::array<std::string_view, 4> kOfStudies{"trials", "t", "artifacts", "checkpoints"};
  return std::ranges::any_of(kOfStudies, [line](std::string_view table) {
    return line.starts_with("SEARCH " + std::string(table) + " ") && line.ends_with("(study=?)");
  });
}

using Lines = std::vector<std::string>;

class Database {
 public:
  Database() {
    EXPECT_TRUE(open_sqlite_storage(path_, [] { return kNow; }).has_value());
    EXPECT_EQ(sqlite3_open(path_.c_str(), &db_), SQLITE_OK);
    // Plans then include those of triggers.
    EXPECT_EQ(sqlite3_db_config(db_, SQLITE_DBCONFIG_TRIGGER_EQP, 1, nullptr), SQLITE_OK);
  }
  ~Database() { sqlite3_close(db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Lines plan(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(
        sqlite3_prepare_v2(db_, ("EXPLAIN QUERY PLAN " + sql).c_str(), -1, &statement, nullptr),
        SQLITE_OK)
        << sql << "\n"
        << sqlite3_errmsg(db_);
    Lines lines;
    while (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW)
      lines.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 3)));
    sqlite3_finalize(statement);
    return lines;
  }

 private:
  ScratchFolder folder_{ScratchFolder::Where::memory};
  const std::string path_ = folder_.file("db");
  sqlite3* db_ = nullptr;
};

// Returns the lines of the plan that are not allowed. Notes in `used` which entries were needed.
Lines unexpected(Database& database, const std::string& sql, std::set<std::size_t>& used) {
  Lines wrong;
  for (const std::string& line : database.plan(sql)) {
    if (!reads_much(line)) continue;
    bool allowed = false;
    for (std::size_t i = 0; i < kAllowed.size(); ++i) {
      if (sql.find(kAllowed[i].statement) == sql.npos || !line.starts_with(kAllowed[i].line))
        continue;
      allowed = true;
      used.insert(i);
    }
    if (!allowed) wrong.push_back(line);
  }
  return wrong;
}

std::mutex mutex;
std::set<std::string> statements;  // under mutex

int note_statement(unsigned, void*, void* statement, void*) {
  if (!storage_runs) return 0;
  const char* text = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
  const std::string_view sql = text == nullptr ? "" : text;
  for (const char* verb : {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "REPLACE"}) {
    if (!sql.starts_with(verb)) continue;
    const std::lock_guard lock(mutex);
    statements.emplace(sql);
  }
  return 0;
}

int trace(sqlite3* db, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, note_statement, nullptr);
}

class Plans final : public testing::Environment {
 public:
  void SetUp() override { sqlite3_auto_extension(reinterpret_cast<void (*)()>(trace)); }

  void TearDown() override {
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(trace));
    Database database;
    std::set<std::size_t> used;
    for (const std::string& sql : statements) {
      for (const std::string& line : unexpected(database, sql, used)) {
        ADD_FAILURE() << sql << "\n"
                      << line << "\nAdd an index, or an entry to kAllowed that says why not.";
      }
    }
    if (testing::GTEST_FLAG(filter) != "*") return;
    for (std::size_t i = 0; i < kAllowed.size(); ++i) {
      EXPECT_TRUE(used.contains(i))
          << "no statement needs this entry: " << kAllowed[i].statement << ", " << kAllowed[i].line;
    }
  }
};

const testing::Environment* const plans = testing::AddGlobalTestEnvironment(new Plans);

TEST(Plans, AReadOfAWholeTableOrStudyIsFound) {
  Database database;
  std::set<std::size_t> used;
  for (const char* sql : {"SELECT number FROM trials WHERE state = 1",
                          "SELECT number FROM trials WHERE study = ? AND state = 1",
                          "SELECT count(*) FROM points", "DELETE FROM attempts WHERE study = ?",
                          "SELECT id FROM artifacts WHERE study = ? AND name = ?"})
    EXPECT_EQ(unexpected(database, sql, used).size(), 1U) << sql;
  EXPECT_TRUE(
      unexpected(database, "SELECT 1 FROM trials WHERE study = ? AND number = ?", used).empty());
  EXPECT_TRUE(used.empty());
}

}  // namespace
}  // namespace hyperflock::storage
