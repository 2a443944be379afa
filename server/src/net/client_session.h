// A researcher's session on /ws/client. It begins with a hello. Later messages ask to watch or to
// claim a study, or are replies of a study's owner. Reader threads of storage read the rows after
// the cursor of each watched study. Several wake-ups of the hub cause one read. The state belongs
// to the channel's strand.
#pragma once

#include <functional>
#include <memory>

#include "net/worker_session.h"

namespace hyperflock::net {

// Returns the function that takes over the connections of /ws/client.
std::function<void(std::shared_ptr<Upgrade>)> client_sessions(const SessionContext& context);

}  // namespace hyperflock::net
