// Puts the back ends through the contract suite.
#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

class InMemory final : public Backend {
 public:
  explicit InMemory(const std::int64_t* now)
      : storage_(make_memory_storage([now] { return *now; })) {}
  Storage& storage() override { return *storage_; }
  bool reopen() override { return false; }

 private:
  std::unique_ptr<Storage> storage_;
};

class Sqlite final : public Backend {
 public:
  explicit Sqlite(const std::int64_t* now) : now_(now) { reopen(); }
  Storage& storage() override { return *storage_; }
  bool reopen() override {
    storage_.reset();
    storage_ = open_sqlite_storage(folder_.file("db"), [now = now_] { return *now; }).value();
    return true;
  }

 private:
  const std::int64_t* now_;
  ScratchFolder folder_;
  std::unique_ptr<Storage> storage_;
};

template <typename B>
std::unique_ptr<Backend> make(const std::int64_t* now) {
  return std::make_unique<B>(now);
}

INSTANTIATE_TEST_SUITE_P(Backends, StorageContract,
                         testing::Values(BackendMaker{"Memory", &make<InMemory>},
                                         BackendMaker{"Sqlite", &make<Sqlite>}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace hyperflock::storage
