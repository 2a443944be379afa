#include "cli/recover.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "auth/tokens.h"
#include "auth/trusted_clock.h"
#include "protocol/json/json_writer.h"
#include "storage/identity.h"
#include "storage/sqlite/open.h"

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

}  // namespace

Result<std::string> recover_admin(const std::string& state_dir, const std::string& name) {
  const std::string database = storage::database_of(state_dir);
  std::error_code ignored;
  // The file must exist, because opening a database would create it.
  if (!std::filesystem::is_regular_file(database, ignored)) {
    return Error{"bad_state",
                 "There is no " + database + ": give the folder that `serve --state` was given."};
  }
  auth::TrustedClock clock;
  TRY(const auto storage, storage::open_sqlite_storage(database, [&clock] { return clock.now(); }));
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
