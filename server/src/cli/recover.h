// `hyperflock-server token recover --state FOLDER`: the way back in for an operator who has lost
// every administrator's token. It asks no server: it opens the database of one that is stopped, so
// whoever may write the state folder may do it. One thread; blocks.
#pragma once

#include <string>

#include "base/result.h"
#include "storage/storage.h"

namespace hyperflock::cli {

// Gives an administrator one more token that does not end, noted in the audit log. `name`: whose;
// the oldest active one's where it is empty. The answer is JSON text as the server's are,
// {"researcher", "name", "id", "token"}; nothing keeps the token but its hash. Errors: `bad_state`
// where the folder holds no server's database or nobody to give the token to, `storage_open` while
// a server runs on it, `storage_too_new`, `storage_unavailable`, `unknown_researcher`.
Result<std::string> recover_admin(const std::string& state_dir, const std::string& name,
                                  const storage::WallClock& clock);

}  // namespace hyperflock::cli
