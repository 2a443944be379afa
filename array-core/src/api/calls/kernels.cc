#include "api/calls/calls.h"

namespace arraycore::calls {

Call find_kernel_call(std::int32_t /*operation*/) { return nullptr; }

Result<std::int32_t> make_kernel(Context& /*context*/, std::int32_t /*kind*/,
                                 std::string_view /*texts*/) {
  return Error{ErrorKind::not_implemented, "no_kernels", "There are no kernels of users yet."};
}

}  // namespace arraycore::calls
