// Stands for the back end in a program that is built without libpq.
#include "storage/postgres/absent.h"

#include "storage/postgres/open.h"

namespace hyperflock::storage {
namespace {

Error not_built() { return postgres_not_built(", or leave --database out"); }

}  // namespace

bool has_postgres() { return false; }

std::string postgres_url_fault(const std::string&) { return {}; }  // the start says the rest

Result<std::unique_ptr<Storage>> open_postgres_storage(PostgresSettings, WallClock, TakenShard*) {
  return not_built();
}

std::unique_ptr<ShardWatch> watch_shard(PostgresSettings) {
  class Absent final : public ShardWatch {
    Result<ShardSeen> look() override { return not_built(); }
  };
  return std::make_unique<Absent>();
}

}  // namespace hyperflock::storage
