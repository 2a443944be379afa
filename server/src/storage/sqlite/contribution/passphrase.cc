// See passphrase.h.
#include "storage/sqlite/contribution/passphrase.h"

namespace hyperflock::storage::sqlite {
namespace {

using sql::Query;

std::int64_t devices_of(sql::Connection& db, const std::string& key_hash) {
  Query row = db.query("SELECT count(*) FROM device_passphrases WHERE key_hash = ?", key_hash);
  row.next();
  return row.integer(0);
}

bool has_passphrase(sql::Connection& db, const JoinPassphrase& join) {
  return db
      .query("SELECT 1 FROM device_passphrases WHERE device = ? AND key_hash = ?", join.device,
             join.key_hash)
      .next();
}

}  // namespace

Outcome join_passphrase(sql::Connection& db, const JoinPassphrase& join) {
  Outcome outcome;
  if (has_passphrase(db, join)) {
    outcome.applied = Applied::repeated;
    return outcome;
  }
  const std::int64_t devices = devices_of(db, join.key_hash);
  if (join.is_new && devices > 0) {
    outcome.applied = Applied::conflict;
    outcome.refusal = Refusal::passphrase_taken;
  } else if (!join.is_new && devices == 0) {
    outcome.applied = Applied::superseded;
  } else if (devices >= kMostTogether) {
    outcome.applied = Applied::superseded;
    outcome.refusal = Refusal::too_many_devices;
  } else {
    db.run(
        "INSERT INTO device_passphrases (device, key_hash) VALUES (?, ?)"
        " ON CONFLICT (device) DO UPDATE SET key_hash = excluded.key_hash",
        join.device, join.key_hash);
  }
  return outcome;
}

void leave_passphrase(sql::Connection& db, const std::string& device) {
  db.run("DELETE FROM device_passphrases WHERE device = ?", device);
}

ContributionTogether contributions_together(sql::Connection& db, const std::string& key_hash) {
  ContributionTogether together{.devices = devices_of(db, key_hash), .rows = {}};
  Query row = db.query(
      "SELECT c.project, c.day, c.trials, c.ms, c.moved FROM device_passphrases AS p"
      " JOIN contributions AS c ON c.device = p.device WHERE p.key_hash = ?"
      " ORDER BY c.project, c.day",
      key_hash);
  while (row.next()) {
    Contribution one{std::string(row.text(0)), row.integer(1), row.integer(2), row.integer(3),
                     row.integer(4)};
    const bool is_first = together.rows.empty() || together.rows.back().day != one.day ||
                          together.rows.back().project != one.project;
    if (is_first) {
      together.rows.push_back(std::move(one));
    } else {
      together.rows.back() += one;
    }
  }
  return together;
}

}  // namespace hyperflock::storage::sqlite
