#include "storage/postgres/dialect.h"

#include <gtest/gtest.h>

#include "storage/postgres/arrays.h"

namespace hyperflock::storage::postgres {
namespace {

TEST(Dialect, TranslatesParameters) {
  EXPECT_EQ(translate("SELECT a FROM t WHERE b = ? AND c = ?"),
            "SELECT a FROM t WHERE b = $1 AND c = $2");
  EXPECT_EQ(translate("SELECT a FROM t WHERE b = ?2 AND c = ?1 OR d = ?2"),
            "SELECT a FROM t WHERE b = $2 AND c = $1 OR d = $2");
}

TEST(Dialect, LeavesLiteralsAlone) {
  EXPECT_EQ(translate("SELECT '? INDEXED BY x' FROM t WHERE b = ?"),
            "SELECT '? INDEXED BY x' FROM t WHERE b = $1");
}

TEST(Dialect, TranslatesWhatOnlySqliteHas) {
  EXPECT_EQ(translate("INSERT OR IGNORE INTO t (a) VALUES (?)"),
            "INSERT INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING");
  EXPECT_EQ(translate("SELECT a FROM t AS u INDEXED BY t_by_a WHERE a = ?"),
            "SELECT a FROM t AS u  WHERE a = $1");
  EXPECT_EQ(translate("SELECT a FROM t CROSS JOIN u ON b = c LIMIT -1 OFFSET ?"),
            "SELECT a FROM t JOIN u ON b = c  OFFSET $1");
  EXPECT_EQ(translate("INSERT INTO t VALUES (x'', '')"),
            "INSERT INTO t VALUES (CAST('' AS bytea), '')");
}

TEST(Dialect, KnowsWhichStatementsUseTheRowsOfLeases) {
  EXPECT_TRUE(lease_use("SELECT 1 FROM trials WHERE study = $1").reads);
  EXPECT_FALSE(lease_use("SELECT 1 FROM trials WHERE study = $1").changes);
  EXPECT_TRUE(lease_use("SELECT 1 FROM a JOIN attempts AS b ON c = d").reads);
  EXPECT_TRUE(lease_use("INSERT INTO trials (a) VALUES ($1) ON CONFLICT DO NOTHING").changes);
  EXPECT_TRUE(lease_use("UPDATE attempts  SET state = $1").changes);
  EXPECT_TRUE(lease_use("DELETE FROM checkpoints WHERE study = $1").changes);
  EXPECT_TRUE(lease_use("WITH x AS (SELECT 1) UPDATE trials SET a = $1").changes);
  // A column is not a table.
  EXPECT_FALSE(lease_use("UPDATE study_progress SET attempts = $1").reads);
  EXPECT_FALSE(lease_use("UPDATE study_progress SET attempts = $1").changes);
  EXPECT_FALSE(lease_use("DELETE FROM best_trials WHERE study = $1").changes);
}

TEST(Texts, KeepWhatPostgresqlCanStore) {
  EXPECT_EQ(storable("plain"), std::nullopt);
  EXPECT_EQ(storable("\xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x8e\x89 \xc3\xa9"), std::nullopt);
}

TEST(Texts, ReplaceWhatPostgresqlRefuses) {
  using namespace std::string_view_literals;
  EXPECT_EQ(storable("a\0b"sv),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(storable("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(storable("\xc3"), "\xef\xbf\xbd");                                  // cut off
  EXPECT_EQ(storable("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
  EXPECT_EQ(storable("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");  // longer than needed
  EXPECT_EQ(storable("\xf4\x90\x80\x80"),                       // above U+10FFFF
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace hyperflock::storage::postgres
