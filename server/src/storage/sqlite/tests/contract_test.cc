// Runs the contract suite on the SQLite back end. After each test, the database must be consistent.
#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/check/check.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/tests/storage_runs.h"
#include "storage/testing/empty_database.h"

namespace hyperflock::storage {
namespace {

class Sqlite final : public Backend {
 public:
  explicit Sqlite(const std::int64_t* now) : now_(now) {
    place_empty_database(folder_.file("db"));
    reopen();
  }
  ~Sqlite() override {
    close();
    check();
  }
  Storage& storage() override { return *storage_; }
  void reopen() override {
    close();
    storage_ = open_sqlite_storage(folder_.file("db"), [now = now_] { return *now; }).value();
    storage_runs = true;
  }

 private:
  void close() {
    storage_runs = false;
    storage_.reset();
  }
  void check() const {
    const auto checked = check_database(folder_.file("db"), DatabaseState::stopped);
    ASSERT_TRUE(checked.has_value()) << checked.error().message;
    EXPECT_TRUE(checked->rows_checked);
    for (const Finding& finding : checked->findings)
      ADD_FAILURE() << finding.code << ": " << finding.text;
  }

  const std::int64_t* now_;
  ScratchFolder folder_{ScratchFolder::Where::memory};
  std::unique_ptr<Storage> storage_;
};

INSTANTIATE_TEST_SUITE_P(Backends, StorageContract,
                         testing::Values(BackendMaker{
                             "Sqlite",
                             [](const std::int64_t* now) -> std::unique_ptr<Backend> {
                               return std::make_unique<Sqlite>(now);
                             }}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace hyperflock::storage
