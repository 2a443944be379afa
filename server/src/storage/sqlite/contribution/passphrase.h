// Which devices have the same passphrase, and what they contributed together (R81). A passphrase is
// no more than the hash that its devices have: it begins with the first one and ends with the last.
// Functions that change something are for the writer's thread, within its transaction.
#pragma once

#include <string>

#include "storage/contribution.h"
#include "storage/sql/connection.h"
#include "storage/transition.h"

namespace hyperflock::storage::sqlite {

// REQUIRES: the device exists.
Outcome join_passphrase(sql::Connection& db, const JoinPassphrase& join);

// Takes a device out of its passphrase, if it has one.
void leave_passphrase(sql::Connection& db, const std::string& device);

ContributionTogether contributions_together(sql::Connection& db, const std::string& key_hash);

}  // namespace hyperflock::storage::sqlite
