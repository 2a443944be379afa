// A researcher's session on /ws/client: a hello and then watches. Reader threads of storage read
// the rows after the cursor of each watch. Wake-ups of the hub are combined. The state belongs to
// the channel's strand.
#pragma once

#include <functional>
#include <memory>

#include "net/worker_session.h"

namespace hyperflock::net {

// Takes over the connections of /ws/client.
std::function<void(std::shared_ptr<Upgrade>)> client_sessions(const SessionContext& context);

}  // namespace hyperflock::net
