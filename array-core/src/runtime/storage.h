// The memory of arrays in a back end, and counters of memory and work. With fusion (fusion.h) a
// storage may have no memory yet: then the operation that computes its content waits in a group,
// and the memory is allocated when the content is needed. Python's thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/backend.h"
#include "dtype/dtype.h"

namespace arraycore {

struct Counters {
  std::int64_t crossings = 0;
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t dispatches = 0;
  std::int64_t cpu_ops = 0;
  std::int64_t bytes_up = 0;
  std::int64_t bytes_down = 0;
  std::int64_t sync_waits = 0;
  std::int64_t timer_nanoseconds = 0;  // measured by the last timer
  std::int64_t fused = 0;              // operations that needed no dispatch of their own
  std::int64_t pinned_bytes = 0;       // the part of live_bytes that only waiting operations hold
};

// The interface of operations that wait to be launched together. Fusion implements it.
class Waiting {
 public:
  Waiting() = default;
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  virtual ~Waiting() = default;
  // Notes that nobody holds the result of operation `node` any more. This may destroy the group.
  virtual void lost(std::uint32_t node) = 0;
};

// The memory of arrays. Every view of it shares the ownership; the last one frees the memory.
class Storage : public std::enable_shared_from_this<Storage> {
 public:
  // Makes a storage with memory `id`; 0: without memory yet. `dtype` is that of its first
  // array.
  Storage(Backend& backend, Counters& counters, StorageId id, std::int64_t bytes,
          DType dtype = DType::uint8)
      : backend_(backend), counters_(counters), bytes_(bytes), id_(id), dtype_(dtype) {
    counters_.live_bytes += bytes_;
    if (counters_.live_bytes > counters_.peak_bytes) counters_.peak_bytes = counters_.live_bytes;
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    counters_.live_bytes -= bytes_;
    if (pinned_alone_) counters_.pinned_bytes -= bytes_;
    if (id_ != 0) backend_.destroy_storage(id_);
    if (group_ != nullptr) group_->lost(node_);
  }
  Backend& backend() const { return backend_; }
  // REQUIRES: the storage has memory; prepare_read() and prepare_write() of Launcher allocate it.
  StorageId id() const { return id_; }
  std::int64_t bytes() const { return bytes_; }
  DType dtype() const { return dtype_; }

  bool has_memory() const { return id_ != 0; }
  // Allocates the memory, with undefined content. Error: that of the back end.
  Status make_memory() {
    if (id_ != 0) return Done{};
    TRY(const auto& made, backend_.create_storage(bytes_));
    id_ = made;
    return Done{};
  }

  // ---- fusion.h

  // Returns the group that will compute the content; nullptr if the content is computed, or if no
  // operation computes it yet.
  Waiting* group() const { return group_; }
  std::uint32_t node() const { return node_; }
  void computed_by(Waiting* group, std::uint32_t node) {
    group_ = group;
    node_ = node;
  }
  // pin() and unpin() count how often waiting operations hold the storage.
  void pin() { ++pins_; }
  void unpin() { --pins_; }
  bool is_pinned() const { return pins_ != 0; }
  bool is_pinned_alone() const { return pinned_alone_; }
  // ---- for batching.h. batch_read() and batch_written() return the number of the last waiting
  // group that reads or writes the storage, counted from 1; 0 stands for no group.

  std::size_t batch_read() const { return batch_read_; }
  std::size_t batch_written() const { return batch_written_; }
  void in_batch(std::size_t group, bool written) {
    std::size_t& last = written ? batch_written_ : batch_read_;
    last = std::max(last, group);
  }
  void out_of_batch() { batch_read_ = batch_written_ = 0; }

  // ---- fusion.h

  // Notes that a caller is about to release the storage. `holders` counts that caller too.
  void let_go(std::int64_t holders) {
    if (pins_ == 0 || pinned_alone_ || holders != pins_ + 1) return;
    pinned_alone_ = true;
    counters_.pinned_bytes += bytes_;
  }

 private:
  Backend& backend_;
  Counters& counters_;
  std::int64_t bytes_;
  StorageId id_;
  DType dtype_;
  bool pinned_alone_ = false;
  std::uint32_t node_ = 0;
  Waiting* group_ = nullptr;
  std::int64_t pins_ = 0;
  std::size_t batch_read_ = 0;
  std::size_t batch_written_ = 0;
};

}  // namespace arraycore
