// What computes: the seam between arrays (context.h) and a device. A back end knows storage and
// kernels, nothing of arrays, ids or Python. Touched by Python's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/result.h"
#include "dtype/dtype.h"
#include "ir/ir.h"
#include "ir/value.h"
#include "view/view.h"

namespace arraycore {

using StorageId = std::uint32_t;  // a back end's own number; never 0
using KernelId = std::uint32_t;   // a back end's own number

struct ArrayArgument {
  StorageId storage = 0;
  View view;
};

// An array, or a scalar parameter's value of the parameter's type.
using LaunchArgument = std::variant<ArrayArgument, ir::Scalar>;

// What a kernel runs over (ir::Launch, with storage in the place of addresses).
struct Launch {
  KernelId kernel = 0;
  Dims loop;
  std::uint32_t reduced = 0;  // bit k: axis k is reduced
  std::vector<LaunchArgument> arguments;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Whether it computes elsewhere, so that a download waits for a device.
  virtual bool is_device() const { return false; }

  // Storage of `bytes` (0 too), its content undefined.
  virtual Result<StorageId> create_storage(std::int64_t bytes) = 0;
  virtual void destroy_storage(StorageId storage) = 0;

  // REQUIRES: the range lies inside the storage.
  virtual Status upload(StorageId storage, std::int64_t offset,
                        std::span<const std::byte> bytes) = 0;
  virtual Status fill_zero(StorageId storage) = 0;
  // Waits for all that was launched before.
  virtual Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) = 0;

  // Takes a verified kernel, once; what is compiled for it is kept by the back end.
  virtual Result<KernelId> prepare(ir::Kernel kernel) = 0;
  // REQUIRES: every view lies inside its storage.
  virtual Status launch(const Launch& launch) = 0;

  // Begins anew, on a new device where the old one was lost; prepared kernels stay. REQUIRES: no
  // storage is in use.
  virtual Status reset() { return Done{}; }
};

}  // namespace arraycore
