#include "backend/gpu/device_pace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

namespace arraycore {

namespace {

// The sizes of the measured products: rows, columns and terms are equal. Each product has eight
// times the work of the one before.
constexpr std::array<std::int64_t, 4> kSizes{256, 512, 1024, 2048};
// A product that takes this long is long enough to measure speed with a clock that counts
// milliseconds. The next size takes eight times as long, which is still below kLongestMs.
constexpr std::uint64_t kEnoughMs = 12;

constexpr double flop_of(std::int64_t size) {
  const auto n = static_cast<double>(size);
  return 2 * n * n * n;
}

// Three matrices on the device, which exist while one size is measured.
class Matrices {
 public:
  Matrices(Backend& backend, std::int64_t size) : backend_(backend) {
    for (StorageId& id : ids_) {
      const auto made = backend.create_storage(size * size * 4);
      if (!made) return;
      id = *made;
      ++count_;
    }
  }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;
  ~Matrices() {
    for (std::size_t i = 0; i < count_; ++i) backend_.destroy_storage(ids_[i]);
  }
  bool all_there() const { return count_ == ids_.size(); }
  GemmLaunch product(std::int64_t size) const {
    GemmLaunch launch;
    launch.problem.m = launch.problem.n = launch.problem.k = size;
    for (gemm::Matrix* matrix : {&launch.problem.a, &launch.problem.b, &launch.problem.out})
      *matrix = {0, size, 1, {}};
    launch.a = ids_[0];
    launch.b = ids_[1];
    launch.out = ids_[2];
    return launch;
  }

 private:
  Backend& backend_;
  std::array<StorageId, 3> ids_{};
  std::size_t count_ = 0;
};

// Waits for everything that was launched. Returns the time since `since` in milliseconds.
Result<std::uint64_t> waited(Backend& backend, StorageId any, ring::Host& host,
                             std::uint64_t since) {
  TRY_DONE(backend.download(any, 0, {}));
  return host.now_ms() - since;
}

}  // namespace

Result<double> DevicePace::most_flop(double flop, Backend& backend, DeviceGemm& gemm,
                                     const gemm::Device& device, ring::Host& host) {
  if (flop > kNeverLong && flop_per_ms_ == 0) {
    TRY(const auto& measured, measure(backend, gemm, device, host));
    flop_per_ms_ = measured;
  }
  return most_flop();
}

double DevicePace::most_flop() const {
  if (flop_per_ms_ == 0) return std::numeric_limits<double>::infinity();
  return std::max(flop_per_ms_ * static_cast<double>(kLongestMs), kNeverLong);
}

Result<double> DevicePace::measure(Backend& backend, DeviceGemm& gemm, const gemm::Device& device,
                                   ring::Host& host) const {
  double best =
      // If not even the smallest product fits in memory, the speed is taken as infinite.
      std::numeric_limits<double>::infinity();
  for (const std::int64_t size : kSizes) {
    const Matrices matrices(backend, size);
    if (!matrices.all_there()) break;
    const GemmLaunch launch = matrices.product(size);
    // The first launch makes the pipeline and checks its kernel. The second wait has nothing to
    // wait for, so it measures how long a wait itself takes.
    TRY_DONE(gemm.launch(launch, device));
    TRY_DONE(waited(backend, launch.out, host, host.now_ms()));
    TRY(const auto& nothing, waited(backend, launch.out, host, host.now_ms()));
    const std::uint64_t begin = host.now_ms();
    TRY_DONE(gemm.launch(launch, device));
    TRY(const auto& took, waited(backend, launch.out, host, begin));
    const std::uint64_t own = took > nothing ? took - nothing : 0;
    best = flop_of(size) / static_cast<double>(std::max<std::uint64_t>(own, 1));
    if (own >= kEnoughMs) break;
  }
  return best;
}

}  // namespace arraycore
