// Products of matrices and convolutions on a device that runs WGSL: chooses a variant, checks it
// once, launches it. A variant that gives a wrong product is denied, and the plain one does its
// work. Touched by Python's thread only.
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
  // Kernels are launched on `backend`, by launch_raw.
  explicit DeviceGemm(Backend& backend) : backend_(backend) {}

  // As Backend::launch_gemm.
  Status launch(const GemmLaunch& launch, const gemm::Device& device);

  // Another device: every variant is to be checked again.
  void reset();
  // What is wanted from now on. Gives how many variants were denied so far.
  std::uint32_t tune(const gemm::Tuning& tuning);

 private:
  enum class State : std::uint8_t { unchecked, right, denied };
  struct Known {
    gemm::Variant variant;
    gemm::Stages stages;
    KernelId kernel = 0;
    State state = State::unchecked;
  };

  // What adds the parts of a cut sum.
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
