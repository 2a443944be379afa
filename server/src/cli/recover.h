// `hyperflock-server token recover --state FOLDER` gives access again to an operator who has lost
// every administrator's token. The command sends no request. It opens the database of a stopped
// server, so everybody who may write in the state folder can use it, and with PostgreSQL everybody
// who may write in that database. One thread; blocks.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/postgres_flags.h"

namespace hyperflock::cli {

// Gives an active administrator one more token, which never expires, and notes this in the audit
// log. `name` is the administrator's name. If it is empty, the oldest active administrator gets the
// token. Returns the same JSON text as the server would: {"researcher", "name", "id", "token"}.
// Only the token's hash is stored. Errors: `bad_state` if the folder contains no server's database
// or nobody can get the token, `storage_open` while a server runs on it, `storage_too_new`,
// `storage_unavailable`, `unknown_researcher`; `state_moved` and `database_needed` if the rows are
// in PostgreSQL and the flags do not say which; with them those of open_postgres_storage(), and
// `file_unreadable`.
Result<std::string> recover_admin(const std::string& state_dir, const std::string& name,
                                  const PostgresFlags& postgres);

}  // namespace hyperflock::cli
