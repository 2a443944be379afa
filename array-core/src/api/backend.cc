#include "api/backend.h"

namespace arraycore {

namespace {

Error no_raw_kernels() {
  return {ErrorKind::not_implemented, "no_raw_kernels",
          "A RawKernel is WGSL, which only the back end 'webgpu' runs: open arraycore with it, or "
          "write an ElementwiseKernel."};
}
Error no_timer() {
  return {ErrorKind::not_implemented, "no_timer",
          "The CPU has no clock of its own: measure with time.perf_counter()."};
}

}  // namespace

Result<KernelId> Backend::prepare_raw(const RawText& /*text*/) { return no_raw_kernels(); }
Status Backend::launch_raw(const RawLaunch& /*launch*/) { return no_raw_kernels(); }
Status Backend::begin_timer() { return no_timer(); }
Result<std::int64_t> Backend::end_timer() { return no_timer(); }

}  // namespace arraycore
