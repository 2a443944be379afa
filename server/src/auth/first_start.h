// The first identities of a new server: an administrator, a researcher and a project that devices
// can join.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/storage.h"
#include "storage/transition.h"

namespace hyperflock::auth {

// What volunteers read on the join page.
struct FirstNames {
  std::string project = "First project";
  std::string researcher = "researcher";
};

struct FirstStart {
  std::vector<storage::Transition> transitions;  // one batch
  // In plain text this once: only their hashes are stored. Show them after the batch is committed.
  std::string admin_token;
  std::string researcher_token;
  std::string enrolment_code;
};

// Nothing where somebody is known already.
std::optional<FirstStart> first_start(const storage::Identities& stored,
                                      const FirstNames& names = {});

}  // namespace hyperflock::auth
