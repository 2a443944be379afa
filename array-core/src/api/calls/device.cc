#include "api/calls/calls.h"

namespace arraycore::calls {

Call find_device_call(std::int32_t /*operation*/) { return nullptr; }

}  // namespace arraycore::calls
