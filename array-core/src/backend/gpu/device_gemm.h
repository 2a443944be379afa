// Products of matrices and convolutions on a device that runs WGSL. This class chooses a kernel
// variant, checks it once, and launches it. A variant that computes a wrong product is not used
// again; that of gemm::conservative() replaces it. Python's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "gemm/variant.h"
#include "gemm/wgsl.h"

namespace arraycore {

class DeviceGemm {
 public:
  // Kernels are launched with launch_raw() of `backend`, which must outlive this object.
  explicit DeviceGemm(Backend& backend) : backend_(backend) {}

  // Computes the product as Backend::launch_gemm describes.
  Status launch(const GemmLaunch& launch, const gemm::Device& device);

  // Forgets which variants were checked, because the device is a new one.
  void reset();
  // Sets which variants are chosen from now on. Returns how many variants have failed their check
  // so far.
  std::uint32_t tune(const gemm::Tuning& tuning);

 private:
  enum class State : std::uint8_t { unchecked, right, denied };
  struct Known {
    gemm::Variant variant;
    gemm::Stages stages;
    KernelId kernel = 0;
    State state = State::unchecked;
  };

  // The kernel that adds the parts of a divided sum, once it is prepared.
  struct Join {
    int axes = 0;
    gemm::Stage epilogue;
    KernelId kernel = 0;
  };

  Result<Known*> find(const gemm::Variant& variant, const gemm::Stages& stages);
  Result<KernelId> find_join(int axes, const gemm::Stages& stages);
  Status check(Known& known);
  Result<bool> gives_what_it_should(const Known& known);
  Status launch_within_limits(const GemmLaunch& launch, const gemm::Device& device);
  Status run(const GemmLaunch& launch, const gemm::Choice& choice, KernelId kernel,
             std::uint32_t groups);
  Status dispatch(const GemmLaunch& launch, const gemm::Choice& choice, KernelId kernel,
                  gemm::Grid grid, std::uint32_t groups);
  Status join(const GemmLaunch& launch, const gemm::Choice& choice, StorageId parts,
              std::uint32_t groups);

  Backend& backend_;
  std::vector<std::unique_ptr<Known>> known_;
  std::vector<Join> joins_;
  gemm::Tuning tuning_;
};

}  // namespace arraycore
