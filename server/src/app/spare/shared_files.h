// The folder of --shared-files: the files of a database that several servers use, one at a time.
//
//   FOLDER/held-EPOCH/blobs, checkpoints, runtimes    as in a state folder
//   FOLDER/held-EPOCH/database                        names the database
//
// The state folder has links to them. A server that takes the database over renames the folder to
// its own epoch. So the server before it, if it still runs, finds neither the folder nor its files
// any more: it can store and remove nothing, just as the database refuses its rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace hyperflock::app {

// Takes the files for a server of this epoch, and links them into its state folder. `database`
// names the database. Error: `bad_state`.
Status take_shared_files(const std::filesystem::path& state, const std::filesystem::path& shared,
                         std::int64_t epoch, const std::string& database);

}  // namespace hyperflock::app
