// Stands for move.h in a program that is built without libpq.
#include "storage/postgres/absent.h"

#include "storage/move/move.h"

namespace hyperflock::storage {

Result<Moved> move_to_postgres(const std::string&, const PostgresPlace&, Unstorable,
                               const MoveControl&) {
  return postgres_not_built();
}

Result<Moved> copy_from_postgres(const PostgresPlace&, const std::string&,
                                 const std::function<void()>&, const MoveControl&) {
  return postgres_not_built();
}

}  // namespace hyperflock::storage
