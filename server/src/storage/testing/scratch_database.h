// A database for one test, in a file system in memory if the machine has one. The destructor
// removes the files. Before that, destroy the storage that open() returned.
#pragma once

#include <memory>
#include <utility>

#include "base/testing/scratch_folder.h"
#include "storage/sqlite/open.h"
#include "storage/testing/empty_database.h"

namespace hyperflock::storage {

class ScratchDatabase {
 public:
  ScratchDatabase() { place_empty_database(folder_.file("db")); }

  // Opens the database, as a server does after a restart. Only one storage may be open at a time.
  std::unique_ptr<Storage> open(WallClock clock = [] { return std::int64_t{1}; }) const {
    return open_sqlite_storage(folder_.file("db"), std::move(clock)).value();
  }

 private:
  ScratchFolder folder_{ScratchFolder::Where::memory};
};

}  // namespace hyperflock::storage
