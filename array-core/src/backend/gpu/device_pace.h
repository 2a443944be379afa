// Measures once how fast a device multiplies matrices. With this speed, long products are divided
// into short dispatches. A device runs one dispatch after the other, and a phone cannot draw
// anything until the present dispatch has ended. Python's thread only.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "backend/gpu/device_gemm.h"
#include "base/result.h"
#include "ring/host.h"

namespace arraycore {

class DevicePace {
 public:
  // The longest time that a dispatch should take if it can be divided.
  static constexpr std::int64_t kLongestMs = 100;
  // Today's devices compute this many floating-point operations in less than kLongestMs. As long as
  // every product has fewer operations, nothing is measured.
  static constexpr double kNeverLong = 5e8;

  // Returns the most floating-point operations that one dispatch should have, for a product of
  // `flop` operations. While the speed is not known, the result for a small product is infinity.
  // For a larger product, the function first measures products of zeros of growing sizes on the
  // device, until one takes 12 ms. All these products take 20 to 200 ms, and no dispatch takes
  // longer than kLongestMs. If a wait fails (Ctrl-C, a lost device), the function returns that
  // error, and the next call measures again.
  Result<double> most_flop(double flop, Backend& backend, DeviceGemm& gemm,
                           const gemm::Device& device, ring::Host& host);
  // Returns the limit of a dispatch without measuring, or infinity while the speed is not known.
  double most_flop() const;
  // Forgets the speed, because the device is a new one.
  void reset() { flop_per_ms_ = 0; }

 private:
  Result<double> measure(Backend& backend, DeviceGemm& gemm, const gemm::Device& device,
                         ring::Host& host) const;

  double flop_per_ms_ = 0;  // 0: not known
};

}  // namespace arraycore
