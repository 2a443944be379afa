// The library's state: arrays by id, the launcher, the counters, the promotion mode. The functions
// of this folder use it. Python's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dtype/promotion.h"
#include "operations/indexing/index_call.h"
#include "operations/kernels/user_kernels.h"
#include "operations/nn/convolution.h"
#include "operations/nn/losses.h"
#include "operations/nn/normalization.h"
#include "operations/nn/pooling.h"
#include "operations/random_arrays.h"
#include "operations/reduction_call.h"
#include "operations/scan.h"
#include "operations/sorter.h"
#include "operations/ufunc_call.h"
#include "runtime/array_table.h"
#include "runtime/capture/captures.h"
#include "runtime/launcher.h"

namespace arraycore {

struct Description {
  DType dtype;
  const View& view;  // valid until the next call
};

class Context {
 public:
  // `arrays` outlives contexts, so that an id of an earlier context never names an array of this
  // one. `device` is nullptr if the CPU is the only back end. `budget_bytes` limits the storage of
  // all arrays; nullopt means no limit.
  Context(std::unique_ptr<Backend> cpu, std::unique_ptr<Backend> device, ArrayTable& arrays,
          std::optional<std::int64_t> budget_bytes);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    captures_.clear();
    arrays_.clear();
  }

  // Makes a C-ordered array. `elements` has all of them, or is nullptr for zeros.
  Result<ArrayId> create(DType dtype, const Dims& shape, const void* elements);
  Status read(ArrayId id, std::span<std::byte> out);
  // Returns the element of an array with one element, if a double can hold it exactly. Otherwise it
  // does nothing and returns nullopt.
  Result<std::optional<double>> item(ArrayId id);
  Result<Description> describe(ArrayId id) const;
  void release(ArrayId id) { arrays_.erase(id); }
  // Frees the arrays whose ids came with a call; id 0 is ignored.
  Status let_go(std::span<const ArrayId> ids);

  // Returns the array of an id, valid until the next insert(). Error: value, "array_freed".
  Result<const Array*> get(ArrayId id) const;
  // Adds an array and returns its id. Error: memory, "too_many_arrays".
  Result<ArrayId> insert(Array array);

  // Frees every array, so that later uses of their ids are errors. Resets the counters, and opens a
  // lost device again.
  Status reset();

  Launcher& launcher() { return launcher_; }
  UFuncCalls& ufuncs() { return ufuncs_; }
  UserKernels& kernels() { return kernels_; }
  IndexCalls& indexing() { return indexing_; }
  ReductionCalls& reductions() { return reductions_; }
  Scans& scans() { return scans_; }
  Convolutions& convolutions() { return convolutions_; }
  Normalizations& normalizations() { return normalizations_; }
  Pooling& pooling() { return pooling_; }
  Losses& losses() { return losses_; }
  RandomArrays& random() { return random_; }
  Sorter& sorter() { return sorter_; }
  capture::Captures& captures() { return captures_; }
  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }
  std::int64_t live_arrays() const { return arrays_.size(); }

  PromotionMode promotion = PromotionMode::numpy2;
  // The text of the last profile, which the caller fetches.
  std::string profile_text;
  // The id of the second result of the last ufunc call, until the caller fetches it; otherwise 0.
  ArrayId second_result = 0;

 private:
  Counters counters_;
  ir::Scalar item_;  // read by item(): in the library's memory, where a device's bytes land
  ArrayTable& arrays_;
  capture::Recorder recorder_;
  capture::Backends backends_{};  // of the launcher
  Launcher launcher_;
  UFuncCalls ufuncs_{launcher_};
  UserKernels kernels_{launcher_};
  ReductionCalls reductions_{launcher_};
  Scans scans_{launcher_};
  Convolutions convolutions_{launcher_};
  Normalizations normalizations_{launcher_};
  Pooling pooling_{launcher_};
  Losses losses_{launcher_};
  IndexCalls indexing_{launcher_, scans_};
  RandomArrays random_{launcher_};
  Sorter sorter_{launcher_, counters_};
  capture::Captures captures_{launcher_, counters_, recorder_, backends_};
};

}  // namespace arraycore
