#include "abi/calls/calls.h"

namespace arraycore::calls {

Call find(std::int32_t operation) {
  for (const auto look :
       {find_ufunc_call, find_copy_call, find_view_call, find_kernel_call, find_device_call,
        find_reduction_call, find_indexing_call, find_linear_call, find_random_call,
        find_sorting_call, find_convolution_call, find_normalization_call, find_pooling_call,
        find_loss_call, find_capture_call})
    if (const Call call = look(operation)) return call;
  return nullptr;
}

}  // namespace arraycore::calls
