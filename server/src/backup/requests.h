// How the command asks a running server for a backup: by a file in the state folder. So whoever may
// ask is whoever may write to that folder, who could copy everything anyway. A token of the console
// is not enough: with a stolen one, somebody could have the server write to any folder.
//
//   STATE/backup-request       {"id", "folder", "keep"}, until the backup has ended
//   STATE/backup-answer-ID     what became of it; the command reads and removes it
//
// Any thread; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "backup/backup.h"
#include "base/result.h"

namespace hyperflock::backup {

struct BackupRequest {
  std::string id;  // hexadecimal digits
  std::string folder;
  std::int64_t keep = 0;
};

// ---- the server

// Returns the request that waits. Removes one that cannot be read.
std::optional<BackupRequest> waiting_request(const std::string& state_dir);
// Writes the answer, and removes the request. If that fails, the command notices when the server
// ends.
void answer_request(const std::string& state_dir, const std::string& id, const Result<Made>& made);
// Removes what an earlier server left. Call it at the start.
void forget_requests(const std::string& state_dir);

// ---- the command

// Asks the server that runs on the state folder, and waits for the backup. `waits` is called again
// and again; an error from it ends the waiting. Errors: that of the server or of `waits`,
// `backup_running`, `backup_failed`.
Result<Made> ask_server(const std::string& state_dir, const BackupRequest& request,
                        const std::function<Status()>& waits);

// The answer as JSON, without its error.
std::string to_text(const Made& made);

}  // namespace hyperflock::backup
