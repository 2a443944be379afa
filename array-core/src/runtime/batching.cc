#include "runtime/batching.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fuse/batch.h"
#include "view/shape.h"

namespace arraycore {

namespace {}  // namespace

// Returns whether every array has consecutive elements, as many as the loop, in a shared buffer.
bool Batching::fits(const KernelCall& call) {
  const ir::Kernel& kernel = launcher_.kernel(call.kernel);
  if (call.reduced != 0 || launcher_.only_cpu(call.kernel) || !launcher_.can_batch(call.kernel))
    return false;
  buffers_.clear();
  for (std::size_t p = 0; p < call.operands.size(); ++p) {
    const Array* const array = call.operands[p].array;
    if ((array == nullptr) != (kernel.params[p].kind == ir::ParamKind::scalar)) return false;
    if (array == nullptr) continue;
    Storage& storage = *array->storage;
    if (array->view.shape != call.loop || array->view.count() == 0 || !storage.has_memory() ||
        array->view.offset % 4 != 0 ||
        !is_c_contiguous(array->view, size_of(kernel.params[p].dtype)))
      return false;
    // Two parameters may use one storage only through the same view.
    for (std::size_t q = 0; q < p; ++q)
      if (call.operands[q].array != nullptr && call.operands[q].array->storage == array->storage &&
          call.operands[q].array->view != array->view)
        return false;
    const std::uint32_t buffer = storage.backend().shared_buffer(storage.id());
    if (buffer == 0) return false;
    buffers_.push_back(buffer);
  }
  return true;
}

Result<bool> Batching::take(const KernelCall& call) {
  if (!fits(call)) return false;
  const ir::Kernel& kernel = launcher_.kernel(call.kernel);
  std::vector<ir::Scalar> scalars;
  for (const Operand& operand : call.operands)
    if (operand.array == nullptr) scalars.push_back(operand.scalar);

  // The launch must run after every group that writes one of its arrays, and after every group that
  // reads an array which the launch writes.
  std::size_t first = 0;
  for (std::size_t p = 0; p < call.operands.size(); ++p) {
    if (call.operands[p].array == nullptr) continue;
    const Storage& storage = *call.operands[p].array->storage;
    std::size_t after = storage.batch_written();
    if (is_written(kernel.params[p])) after = std::max<std::size_t>(after, storage.batch_read());
    first = std::max(first, after);
  }
  std::size_t own = first;
  while (own < groups_.size() &&
         (groups_[own].kernel != call.kernel || groups_[own].buffers != buffers_ ||
          groups_[own].scalars != scalars))
    ++own;
  if (own == groups_.size()) groups_.push_back({call.kernel, std::move(scalars), buffers_, {}});

  Waiting waiting;
  waiting.count = call.operands.empty() ? 0 : 1;
  for (const std::int64_t extent : call.loop) waiting.count *= extent;
  for (std::size_t p = 0; p < call.operands.size(); ++p) {
    if (call.operands[p].array == nullptr) continue;
    const Array& array = *call.operands[p].array;
    array.storage->in_batch(own + 1, is_written(kernel.params[p]));
    waiting.arrays.push_back(array);
  }
  groups_[own].launches.push_back(std::move(waiting));
  if (++launches_ >= kMaxLaunches) TRY_DONE(flush());
  return true;
}

std::deque<Batching::Group> Batching::taken_out() {
  std::deque<Group> groups = std::exchange(groups_, {});
  launches_ = 0;
  for (const Group& group : groups)
    for (const Waiting& waiting : group.launches)
      for (const Array& array : waiting.arrays) array.storage->out_of_batch();
  return groups;
}

void Batching::forget() { taken_out(); }

// Puts groups back, so that they wait again. REQUIRES: nothing else waits.
void Batching::put_back(std::deque<Group> groups) {
  groups_ = std::move(groups);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const ir::Kernel& kernel = launcher_.kernel(groups_[g].kernel);
    launches_ += groups_[g].launches.size();
    for (const Waiting& waiting : groups_[g].launches) {
      auto array = waiting.arrays.begin();
      for (const ir::Param& param : kernel.params)
        if (param.kind != ir::ParamKind::scalar)
          (array++)->storage->in_batch(g + 1, is_written(param));
    }
  }
}

Status Batching::flush() {
  if (groups_.empty()) return Done{};
  std::deque<Group> groups = taken_out();
  Status first{Done{}};
  for (; !groups.empty(); groups.pop_front())
    if (!run(groups.front(), first)) {
      put_back(std::move(groups));
      break;
    }
  return first;
}

Status Batching::before_read(const Array& array) {
  return array.storage->batch_written() != 0 ? flush() : Status(Done{});
}

Status Batching::before_write(const Array& array) {
  const Storage& storage = *array.storage;
  return storage.batch_written() != 0 || storage.batch_read() != 0 ? flush() : Status(Done{});
}

Status Batching::before(const KernelCall& call) {
  if (groups_.empty()) return Done{};
  const ir::Kernel& kernel = launcher_.kernel(call.kernel);
  for (std::size_t p = 0; p < call.operands.size(); ++p) {
    if (call.operands[p].array == nullptr) continue;
    const Array& array = *call.operands[p].array;
    TRY_DONE(is_written(kernel.params[p]) ? before_write(array) : before_read(array));
  }
  return Done{};
}

bool Batching::run(Group& group, Status& first) {
  const std::size_t most = fuse::most_segments(launcher_.kernel(group.kernel));
  const std::size_t size = group.launches.size();
  std::size_t alone = 0;  // how many of the next launches are made one by one
  for (std::size_t next = 0; next < size;) {
    const std::size_t count = alone > 0 ? 1 : std::min(most, size - next);
    const Status launched =
        count > 1 ? run_together(group, next, count) : run_alone(group, group.launches[next]);
    if (!launched && count > 1 && launched.error().kind == ErrorKind::not_implemented) {
      alone = count;
      continue;
    }
    if (!launched && first) first = launched;
    if (!launched && launched.error().code == "interrupted") {
      group.launches.erase(group.launches.begin(),
                           group.launches.begin() + static_cast<std::ptrdiff_t>(next));
      return false;
    }
    if (alone > 0) --alone;
    next += count;
  }
  return true;
}

Status Batching::run_together(const Group& group, std::size_t first, std::size_t count) {
  std::vector<BatchSegment> segments;
  for (std::size_t l = first; l < first + count; ++l) {
    BatchSegment& segment = segments.emplace_back();
    segment.count = group.launches[l].count;
    for (const Array& array : group.launches[l].arrays)
      segment.arrays.push_back({array.storage->id(), array.view});
  }
  return launcher_.launch_batch(group.kernel, group.scalars, segments);
}

Status Batching::run_alone(const Group& group, const Waiting& waiting) {
  const ir::Kernel& kernel = launcher_.kernel(group.kernel);
  std::vector<Operand> operands;
  std::size_t array = 0;
  std::size_t scalar = 0;
  for (const ir::Param& param : kernel.params) {
    if (param.kind == ir::ParamKind::scalar)
      operands.push_back({nullptr, group.scalars[scalar++]});
    else
      operands.push_back({&waiting.arrays[array++], {}});
  }
  return launcher_.launch_now({group.kernel, waiting.arrays[0].view.shape, 0, operands});
}

}  // namespace arraycore
