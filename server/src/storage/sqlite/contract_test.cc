// Runs the contract suite on the SQLite back end.
#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/open.h"

namespace hyperflock::storage {
namespace {

class Sqlite final : public Backend {
 public:
  explicit Sqlite(const std::int64_t* now) : now_(now) { reopen(); }
  Storage& storage() override { return *storage_; }
  void reopen() override {
    storage_.reset();
    storage_ = open_sqlite_storage(folder_.file("db"), [now = now_] { return *now; }).value();
  }

 private:
  const std::int64_t* now_;
  ScratchFolder folder_;
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
