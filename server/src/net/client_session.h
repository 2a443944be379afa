// A researcher's session on /ws/client: hello, then watches. Rows come from storage's readers,
// after the cursor of each watch; wake-ups of the hub are coalesced. State is touched on the
// channel's strand only.
#pragma once

#include <functional>
#include <memory>

#include "net/worker_session.h"

namespace hyperflock::net {

// Takes over the connections of /ws/client.
std::function<void(std::shared_ptr<Upgrade>)> client_sessions(const SessionContext& context);

}  // namespace hyperflock::net
