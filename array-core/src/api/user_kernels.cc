#include "api/user_kernels.h"

namespace arraycore {

UserKernels::UserKernels(Launcher& launcher) : launcher_(launcher) {}
UserKernels::~UserKernels() = default;

}  // namespace arraycore
