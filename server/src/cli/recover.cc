#include "cli/recover.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "auth/tokens.h"
#include "auth/trusted_clock.h"
#include "protocol/json/json_writer.h"
#include "storage/identity.h"
#include "storage/move/state_folder.h"
#include "storage/postgres/open.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/storage.h"

namespace hyperflock::cli {
namespace {

// Returns the error for a name that is not the name of an active administrator.
Error nobody(const std::string& name) {
  if (!name.empty())
    return {"unknown_researcher", "No active administrator has this name; leave the name away."};
  return {"bad_state",
          "This state folder has no active administrator: the first start of the server makes one "
          "and prints the token."};
}

// Opens SQLite's file. It must exist, because opening a database would create it.
Result<std::unique_ptr<storage::Storage>> open_file(const std::string& state_dir,
                                                    storage::WallClock clock) {
  TRY(storage::check_not_moved(state_dir));
  TRY(storage::check_has_file(state_dir));
  const std::string database = storage::database_of(state_dir);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(database, ignored)) {
    return Error{"bad_state",
                 "There is no " + database + ": give the folder that `serve --state` was given."};
  }
  return storage::open_sqlite_storage(database, std::move(clock));
}

// Opens PostgreSQL as the server of the state folder does.
Result<std::unique_ptr<storage::Storage>> open_postgres(const std::string& state_dir,
                                                        const PostgresFlags& flags,
                                                        storage::WallClock clock) {
  TRY(const auto place, storage::postgres_place(flags.database, flags.password_file));
  storage::PostgresSettings settings{.url = place.url, .password = place.password};
  TRY(settings.server, storage::server_name(state_dir, auth::new_device_id));
  return storage::open_postgres_storage(std::move(settings), std::move(clock));
}

}  // namespace

Result<std::string> recover_admin(const std::string& state_dir, const std::string& name,
                                  const PostgresFlags& postgres) {
  auth::TrustedClock clock;
  const auto now = [&clock] { return clock.now(); };
  std::unique_ptr<storage::FileLock> lock;  // SQLite's storage has its own
  std::unique_ptr<storage::Storage> storage;
  if (postgres.database.empty()) {
    TRY(storage, open_file(state_dir, now));
  } else {
    TRY(lock, storage::FileLock::take(storage::database_of(state_dir) + ".lock"));
    TRY(storage, open_postgres(state_dir, postgres, now));
  }
  TRY(const std::int64_t kept, storage->kept_time());
  clock.begin(kept, auth::AtStart::be_careful);  // a wrong clock must not become the kept time
  TRY(const auto known, storage->identities());
  const auto admin = std::ranges::find_if(known.principals, [&name](const auto& one) {
    return one.role == storage::PrincipalRole::admin &&
           one.state == storage::PrincipalState::active && (name.empty() || one.name == name);
  });
  if (admin == known.principals.end()) return nobody(name);

  const std::string token = auth::new_token(auth::TokenKind::admin);
  storage::NoteAudit note;
  note.entry.actor = "server";
  note.entry.action = "token.recover";
  note.entry.object = admin->name;
  TRY(const auto outcomes,
      storage->apply(std::vector<storage::Transition>{
          storage::CreateToken{.principal = admin->id, .hash = auth::token_hash(token)}, note}));
  std::string out;
  protocol::ObjectWriter(out)
      .integer("researcher", admin->id)
      .text("name", admin->name)
      .integer("id", outcomes.front().id)
      .text("token", token)
      .end();
  return out;
}

}  // namespace hyperflock::cli
