// Runs the contract suite on the PostgreSQL back end. The tests use one schema, which is emptied
// before each, because a new one takes much longer.
#include "storage/contract/suite.h"
#include "storage/postgres/client.h"
#include "storage/postgres/open.h"
#include "storage/postgres/testing/test_postgres.h"

namespace hyperflock::storage {
namespace {

class Postgres final : public Backend {
 public:
  explicit Postgres(const std::int64_t* now) : now_(now), url_(empty_schema()) { reopen(); }
  Storage& storage() override { return *storage_; }
  void reopen() override {
    storage_.reset();
    auto opened =
        open_postgres_storage({.url = url_, .server = "one"}, [now = now_] { return *now; });
    if (!opened) throw std::runtime_error(opened.error().code + ": " + opened.error().message);
    storage_ = std::move(opened).value();
  }

 private:
  static std::string empty_schema() {
    static const std::string url = TestPostgres::instance().new_schema();
    static postgres::Client db({url, {}, "test"});
    db.exec(R"(
      DO $$
      DECLARE one TEXT;
      BEGIN
        SET LOCAL session_replication_role = replica;  -- no triggers, and no foreign keys
        FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema()
            AND tablename NOT IN ('schema_versions', 'given', 'kept_time', 'audit_total',
              'contribution_fold') LOOP
          EXECUTE 'DELETE FROM ' || one;
        END LOOP;
        PERFORM setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences
          WHERE schemaname = current_schema();
        IF to_regclass('given') IS NOT NULL THEN
          UPDATE given SET study = 0, attempt = 0, seq = 0;
          UPDATE kept_time SET at = 0;
          UPDATE contribution_fold SET seq = 0, revision = 0;
          UPDATE audit_total SET entries = 0, bytes = 0;
        END IF;
      END $$)");
    return url;
  }

  const std::int64_t* now_;
  const std::string url_;
  std::unique_ptr<Storage> storage_;
};

INSTANTIATE_TEST_SUITE_P(Backends, StorageContract,
                         testing::Values(BackendMaker{
                             "Postgres",
                             [](const std::int64_t* now) -> std::unique_ptr<Backend> {
                               return std::make_unique<Postgres>(now);
                             }}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace hyperflock::storage
