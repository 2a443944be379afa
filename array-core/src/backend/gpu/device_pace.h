// How fast a device multiplies matrices, measured on it once, so that no dispatch takes long: a
// device computes one after the other, and whatever else a phone draws waits for its end. Touched
// by Python's thread only.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "backend/gpu/device_gemm.h"
#include "base/result.h"
#include "ring/host.h"

namespace arraycore {

class DevicePace {
 public:
  // A dispatch is to take no longer, as far as it can be cut.
  static constexpr std::int64_t kLongestMs = 100;
  // Floating-point operations that no device of today takes that long for: as long as all products
  // are smaller nothing is measured.
  static constexpr double kNeverLong = 5e8;

  // The most operations that one dispatch of `flop` should have; infinite where it need not be cut.
  // Measures by products of zeros on the device, of growing sizes, while none takes 12 ms: some 20
  // to 200 ms in all, no dispatch longer than kLongestMs. An error is that of a wait (Ctrl-C, a
  // device that is lost); nothing is known then, and the next product asks again.
  Result<double> most_flop(double flop, Backend& backend, DeviceGemm& gemm,
                           const gemm::Device& device, ring::Host& host);
  // The same without measuring; infinite while nothing is known.
  double most_flop() const;
  // Another device.
  void reset() { flop_per_ms_ = 0; }

 private:
  Result<double> measure(Backend& backend, DeviceGemm& gemm, const gemm::Device& device,
                         ring::Host& host) const;

  double flop_per_ms_ = 0;  // 0: not known
};

}  // namespace arraycore
