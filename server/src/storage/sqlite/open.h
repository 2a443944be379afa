// Where the database of a server is.
#pragma once

#include <string>

namespace hyperflock::storage {

// Returns the path of the database in a state folder.
std::string database_of(const std::string& state_dir);

}  // namespace hyperflock::storage
