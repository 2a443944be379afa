// What a state folder says about its database when that is not SQLite's file. Any thread.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "storage/move/move.h"

namespace hyperflock::storage {

// Returns the first line of a file, which may be empty. Error: `file_unreadable`.
Result<std::string> first_line(const std::string& path);

// Reads the password's file, if there is one. Error: `file_unreadable`.
Result<PostgresPlace> postgres_place(const std::string& url, const std::string& password_file);

// Returns the name by which this state folder's server is known in a shared database. It is made
// once, by `new_name`, and stays, so that the server gets its shard back at once after a crash.
// Error: `bad_state`.
Result<std::string> server_name(const std::string& state_dir,
                                const std::function<std::string()>& new_name);

// Notes that the rows of this folder's SQLite file are in PostgreSQL now. Error: `bad_state`.
Status note_moved(const std::string& state_dir, const std::string& place);

// Returns the error `state_moved` if the rows were moved: SQLite's file is old then, and who used
// it would change what nobody sees, and remove blobs that the other database names.
Status check_not_moved(const std::string& state_dir);

// Returns the error `database_needed` if the folder has no file of SQLite but was used with
// PostgreSQL.
Status check_has_file(const std::string& state_dir);

}  // namespace hyperflock::storage
