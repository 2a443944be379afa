// A device for tests that computes with the CPU back end. It counts what is sent to it, and refuses
// what a test configures. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backend/cpu/cpu_backend.h"

namespace arraycore {

class FakeDevice : public Backend {
 public:
  bool is_device() const override { return true; }
  Result<StorageId> create_storage(std::int64_t bytes) override {
    ++storages;
    return inner_->create_storage(bytes);
  }
  void destroy_storage(StorageId storage) override {
    --storages;
    inner_->destroy_storage(storage);
  }
  Status upload(StorageId storage, std::int64_t offset, std::span<const std::byte> bytes) override {
    if (offset % 4 != 0) return refused("an upload that does not begin on a word");
    return inner_->upload(storage, offset, bytes);
  }
  Status fill_zero(StorageId storage) override { return inner_->fill_zero(storage); }
  Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) override {
    if (offset % 4 != 0) return refused("a download that does not begin on a word");
    return inner_->download(storage, offset, bytes);
  }
  Result<KernelId> prepare(ir::Kernel kernel) override {
    if (refuses_kernels || (refuses && refuses(kernel))) return refused("the kernel");
    std::vector<std::size_t> sizes;
    for (const ir::Param& param : kernel.params) {
      sizes.push_back(size_of(param.dtype));
      dtypes.insert(param.dtype);
    }
    auto id = inner_->prepare(std::move(kernel));
    if (id) item_sizes_[*id] = std::move(sizes);
    return id;
  }
  void forget(KernelId kernel) override { inner_->forget(kernel); }
  Status launch(const Launch& launch) override {
    if (refuses_launches) return refused("the launch");
    if (failure.kind != ErrorKind::none) return failure;
    // As on a GPU, a view's offset and strides must be whole elements.
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto* array = std::get_if<ArrayArgument>(&launch.arguments[i]);
      if (array == nullptr) continue;
      const auto size = static_cast<std::int64_t>(item_sizes_[launch.kernel][i]);
      bool whole = array->view.offset % size == 0;
      for (const std::int64_t stride : array->view.strides) whole = whole && stride % size == 0;
      if (!whole) return refused("an odd offset");
    }
    ++launches;
    std::size_t arrays = 0;
    for (const LaunchArgument& argument : launch.arguments)
      arrays += std::holds_alternative<ArrayArgument>(argument) ? 1 : 0;
    most_arrays = std::max(most_arrays, arrays);
    return inner_->launch(launch);
  }

  int storages = 0;
  int launches = 0;
  std::set<DType> dtypes;       // of all kernels' parameters
  std::size_t most_arrays = 0;  // in the largest launch
  bool refuses_kernels = false;
  std::function<bool(const ir::Kernel&)> refuses;  // refuses some kernels
  bool refuses_launches = false;
  Error failure{ErrorKind::none, "", ""};  // if set, the error of every launch

 private:
  static Error refused(const char* what) {
    return {ErrorKind::not_implemented, "refused", std::string("The device refuses ") + what + "."};
  }
  std::map<KernelId, std::vector<std::size_t>> item_sizes_;  // of each parameter
  std::unique_ptr<Backend> inner_ = make_cpu_backend();
};

}  // namespace arraycore
