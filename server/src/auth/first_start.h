// Creates the first identities of a new server: an administrator, a researcher and a project that
// devices can join.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/storage.h"
#include "storage/transition.h"

namespace hyperflock::auth {

// The names that volunteers see on the join page.
struct FirstNames {
  std::string project = "First project";
  std::string researcher = "researcher";
};

struct FirstStart {
  std::vector<storage::Transition> transitions;  // one batch
  // The tokens in plain text. Only their hashes are stored. Show them after the commit.
  std::string admin_token;
  std::string researcher_token;
  std::string enrolment_code;
};

// Returns the first identities to store; nullopt if storage has an identity already.
std::optional<FirstStart> first_start(const storage::Identities& stored,
                                      const FirstNames& names = {});

}  // namespace hyperflock::auth
