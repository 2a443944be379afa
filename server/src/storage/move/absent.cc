// Stands for move.h in a program that is built without libpq.
#include "storage/move/move.h"

namespace hyperflock::storage {
namespace {

Error no_postgres() {
  return Error{"postgres_not_built",
               "This hyperflock-server is built without PostgreSQL: take the one of the Debian "
               "package or of the container image."};
}

}  // namespace

Result<Moved> move_to_postgres(const std::string&, const PostgresPlace&, Unstorable,
                               const MoveControl&) {
  return no_postgres();
}

Result<Moved> copy_from_postgres(const PostgresPlace&, const std::string&,
                                 const std::function<void()>&, const MoveControl&) {
  return no_postgres();
}

}  // namespace hyperflock::storage
