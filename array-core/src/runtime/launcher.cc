#include "runtime/launcher.h"

#include <algorithm>
#include <string>
#include <utility>

#include "fuse/batch.h"
#include "ir/builder.h"
#include "runtime/batching.h"
#include "runtime/fusion.h"
#include "view/messages.h"
#include "view/overlap.h"
#include "view/shape.h"

namespace arraycore {

namespace {

// A launch with more arguments than this allocates memory. Kernels of ufuncs have fewer.
constexpr std::size_t kFewOperands = 8;

// Returns whether some value of the kernel has a dtype that no browser's GPU computes.
bool needs_cpu(const ir::Kernel& kernel) {
  const auto foreign = [](const auto& each) { return !on_gpu(each.type); };
  return std::any_of(kernel.exprs.begin(), kernel.exprs.end(), foreign) ||
         std::any_of(kernel.locals.begin(), kernel.locals.end(), foreign) ||
         std::any_of(kernel.params.begin(), kernel.params.end(),
                     [](const ir::Param& param) { return !on_gpu(param.dtype); });
}

// Returns whether the kernel is a scan, which has a result for each element, as an elementwise
// kernel has.
bool is_scan(const ir::Kernel& kernel) { return kernel.reduction && kernel.reduction->running(); }

// Returns the largest power of two, up to 8, that divides the offset and all strides in bytes.
std::int64_t step_of(const View& view) {
  std::int64_t places = view.offset | 8;
  for (const std::int64_t stride : view.strides) places |= stride;
  return places & -places;
}

DType unsigned_of(std::int64_t size) {
  if (size == 1) return DType::uint8;
  if (size == 2) return DType::uint16;
  return size == 4 ? DType::uint32 : DType::uint64;
}

// Returns the array's bytes as unsigned integers of `piece` bytes, with one more axis. REQUIRES:
// fewer than kMaxDims axes.
Array as_pieces(const Array& array, std::int64_t piece) {
  Array pieces{unsigned_of(piece), array.view, array.storage};
  pieces.view.shape.push_back(static_cast<std::int64_t>(size_of(array.dtype)) / piece);
  pieces.view.strides.push_back(piece);
  return pieces;
}

// Returns the array as bits. A copy that keeps the dtype must not go through the device's floats,
// which may lose a NaN's payload or a subnormal number.
Array as_bits(const Array& array) {
  const std::size_t size = size_of(array.dtype);
  if (size > 8) return array;  // complex128 lives on the CPU
  return {unsigned_of(static_cast<std::int64_t>(size)), array.view, array.storage};
}

// A range of a device's storage that is copied to the CPU. The range contains operands of a launch
// that the CPU computes.
struct Brought {
  const Storage* from = nullptr;
  ByteExtent bytes;
  bool read = false;  // some operand does not overwrite all of them, so the old bytes are needed
  bool written = false;
  std::unique_ptr<Storage> copy;
};

// Returns a view of a reduction's operand with one element for each row; nullopt if the elements of
// a row differ. `wide` is the operand, broadcast to the loop.
std::optional<View> by_row(const View& wide, std::uint32_t reduced) {
  View rows;
  rows.offset = wide.offset;
  for (int axis = 0; axis < wide.ndim(); ++axis) {
    if ((reduced >> axis & 1) == 0) {
      rows.shape.push_back(wide.shape[axis]);
      rows.strides.push_back(wide.strides[axis]);
    } else if (wide.shape[axis] != 1 && wide.strides[axis] != 0) {
      return std::nullopt;
    }
  }
  return rows;
}

}  // namespace

bool on_whole_elements(const Array& array) {
  // An element of 16 bytes is a complex128. It is on the CPU, which needs alignment to 8 bytes
  // only.
  return step_of(array.view) >=
         std::min<std::int64_t>(8, static_cast<std::int64_t>(size_of(array.dtype)));
}

Launcher::Launcher(std::unique_ptr<Backend> cpu, std::unique_ptr<Backend> device,
                   Counters& counters, std::optional<std::int64_t> budget_bytes)
    : counters_(counters),
      cpu_(std::move(cpu)),
      device_(std::move(device)),
      budget_bytes_(budget_bytes),
      casts_(kDTypes * kDTypes),
      fills_(kDTypes),
      products_(kDTypes) {}

Launcher::~Launcher() = default;

Result<Array> Launcher::allocate(DType dtype, const Dims& shape) {
  TRY(const auto& bytes, checked_bytes(shape, size_of(dtype)));
  if (budget_bytes_ && counters_.live_bytes > *budget_bytes_ - bytes)
    TRY_DONE(check_budget(bytes, "an array of shape " + shape_text(shape)));
  Backend& backend = home(dtype);
  auto storage = std::make_shared<Storage>(backend, counters_, 0, bytes, dtype);
  if (!fusion_) TRY_DONE(storage->make_memory());
  return Array{dtype, contiguous(shape, size_of(dtype)), std::move(storage)};
}

Status Launcher::check_budget(std::int64_t bytes, std::string_view use) {
  if (!budget_bytes_ || counters_.live_bytes <= *budget_bytes_ - bytes) return Done{};
  TRY_DONE(flush());
  if (counters_.live_bytes <= *budget_bytes_ - bytes) return Done{};
  return Error{ErrorKind::memory, "over_budget",
               std::to_string(bytes) + " bytes for " + std::string(use) +
                   " do not fit: " + std::to_string(counters_.live_bytes) + " of " +
                   std::to_string(*budget_bytes_) + " bytes are in use."};
}

Status Launcher::upload(const Array& array, const void* elements) {
  TRY_DONE(prepare_write(array));
  const Storage& storage = *array.storage;
  const std::span bytes(static_cast<const std::byte*>(elements),
                        static_cast<std::size_t>(storage.bytes()));
  Span span(profile(), "upload");
  span.moved(storage.bytes(), 0);
  const Status uploaded = storage.backend().upload(storage.id(), 0, bytes);
  if (uploaded) counters_.bytes_up += storage.bytes();
  return uploaded;
}

Status Launcher::fill_zero(const Array& array) {
  TRY_DONE(prepare_write(array));
  const Span span(profile(), "zeros");
  return array.storage->backend().fill_zero(array.storage->id());
}

Status Launcher::download(const Array& array, std::span<std::byte> out) {
  const std::size_t item = size_of(array.dtype);
  const std::int64_t bytes = array.view.count() * static_cast<std::int64_t>(item);
  if (static_cast<std::int64_t>(out.size()) != bytes)
    return Error{ErrorKind::internal, "read_size",
                 "The array has " + std::to_string(bytes) + " bytes, the memory to read it to " +
                     std::to_string(out.size()) + "."};
  if (bytes == 0) return Done{};
  if (!is_c_contiguous(array.view, item) || array.view.offset % 4 != 0) {
    const auto packed = copy(array, array.dtype);
    return packed ? download(*packed, out) : Status(packed.error());
  }
  TRY_DONE(prepare_read(array));
  Backend& backend = array.storage->backend();
  Span span(profile(), "read");
  span.moved(0, bytes);
  const Status read = backend.download(array.storage->id(), array.view.offset, out);
  if (backend.is_device()) ++counters_.sync_waits;
  if (read) counters_.bytes_down += bytes;
  return read;
}

Result<KernelRef> Launcher::prepare(ir::Kernel kernel) {
  Prepared prepared;
  prepared.only_cpu = device_ == nullptr || needs_cpu(kernel);
  prepared.traits = fuse::traits_of(kernel);
  prepared.can_batch = !prepared.only_cpu && fuse::can_batch(kernel);
  prepared.kernel = std::move(kernel);
  if (!forgotten_.empty()) {
    const KernelRef place = forgotten_.back();
    forgotten_.pop_back();
    kernels_[place] = std::move(prepared);
    return place;
  }
  kernels_.push_back(std::move(prepared));
  return static_cast<KernelRef>(kernels_.size() - 1);
}

void Launcher::forget(KernelRef kernel) {
  const Prepared& prepared = kernels_[kernel];
  if (prepared.device) device_->forget(*prepared.device);
  if (prepared.cpu) cpu_->forget(*prepared.cpu);
  kernels_[kernel] = {};
  forgotten_.push_back(kernel);
}

Status Launcher::launch(const KernelCall& call) {
  if (!fusion_ || immediate_ != 0) return launch_now(call);
  if (!batching_) return fusion_->launch(call);
  if (call.may_batch && can_batch(call.kernel)) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      if (call.operands[i].array == nullptr) continue;
      const Array& array = *call.operands[i].array;
      const bool written = is_written(kernels_[call.kernel].kernel.params[i]);
      TRY_DONE(written ? fusion_->prepare_write(*array.storage) : fusion_->flush(*array.storage));
      TRY_DONE(array.storage->make_memory());
    }
    TRY(const auto& taken, batching_->take(call));
    if (taken) return Done{};
  }
  const Status clear = batching_->before(call);
  return clear ? fusion_->launch(call) : clear;
}

Status Launcher::on_device(Prepared& prepared) {
  if (prepared.device) return Done{};
  const auto id = device_->prepare(prepared.kernel);
  if (id) prepared.device = *id;
  if (id || id.error().kind == ErrorKind::not_implemented) prepared.only_cpu = !id;
  return id ? Status(Done{}) : id.error();
}

Status Launcher::launch_batch(KernelRef kernel, std::span<const ir::Scalar> scalars,
                              std::span<const BatchSegment> segments) {
  Prepared& prepared = kernels_[kernel];
  TRY_DONE(on_device(prepared));
  const Status launched = device_->launch_batch(*prepared.device, scalars, segments);
  if (launched) ++counters_.dispatches;
  return launched;
}

Status Launcher::launch_now(const KernelCall& call, Fallback fallback) {
  const std::size_t count = call.operands.size();
  std::array<const Array*, kFewOperands> few{};
  std::vector<const Array*> many(count > kFewOperands ? count : 0);
  const std::span<const Array*> arrays =
      count > kFewOperands ? std::span(many) : std::span(few).first(count);
  for (std::size_t i = 0; i < count; ++i) arrays[i] = call.operands[i].array;

  for (const Array* array : arrays)
    if (array != nullptr && !array->storage->has_memory()) TRY_DONE(array->storage->make_memory());

  const auto& loop = call.loop;
  const bool each = call.reduced == 0 || is_scan(kernels_[call.kernel].kernel);
  if (each && std::find(loop.begin(), loop.end(), 0) != loop.end()) return Done{};

  ++immediate_;
  const Status launched = launch_apart(call, arrays, fallback);
  --immediate_;
  return launched;
}

Status Launcher::launch_apart(const KernelCall& call, std::span<const Array*> arrays,
                              Fallback fallback) {
  Prepared& prepared = kernels_[call.kernel];
  std::vector<Array> copies;
  TRY_DONE(separate(prepared, call, copies, arrays));

  const bool at_home = std::all_of(arrays.begin(), arrays.end(), [&](const Array* array) {
    return array == nullptr || &array->storage->backend() == device_.get();
  });
  if (!prepared.only_cpu && at_home) {
    const Status known = on_device(prepared);
    if (!known && known.error().kind != ErrorKind::not_implemented) return known;
    if (prepared.device) {
      const Status launched = launch_on_device(prepared, call, arrays);
      if (launched || launched.error().kind != ErrorKind::not_implemented) return launched;
    }
  }
  if (fallback == Fallback::none && device_ && at_home)
    return Error{ErrorKind::not_implemented, "gpu_kernel",
                 "The device does not run '" + prepared.kernel.name + "'."};
  return launch_on_cpu(prepared, call, arrays);
}

// Copies an operand that a launch reads if the launch writes the same bytes in another order. A
// reduction writes a row's result after it has read the row. So its operand needs no copy if each
// row's result is written to that row's own bytes.
Status Launcher::separate(const Prepared& prepared, const KernelCall& call,
                          std::vector<Array>& copies, std::span<const Array*> arrays) {
  const std::vector<ir::Param>& params = prepared.kernel.params;
  const std::uint32_t reduced = is_scan(prepared.kernel) ? 0 : call.reduced;
  for (std::size_t w = 0; w < arrays.size(); ++w) {
    if (arrays[w] == nullptr || !is_written(params[w])) continue;
    for (std::size_t o = 0; o < arrays.size(); ++o) {
      const Array& written = *arrays[w];
      if (o == w || arrays[o] == nullptr || arrays[o]->storage != written.storage) continue;
      const bool raw = params[o].kind == ir::ParamKind::raw || params[w].kind == ir::ParamKind::raw;
      View other = arrays[o]->view;
      bool in_step = !raw && reduced == 0;
      if (!raw && !is_written(params[o]) && (reduced != 0 || other.shape != written.view.shape)) {
        TRY(const auto& wide, broadcast_to(other, call.loop));
        const auto rows = by_row(wide, reduced);
        in_step = rows.has_value();
        other = rows ? *rows : wide;
      }
      const Overlap common =
          overlap(written.view, size_of(written.dtype), other, size_of(arrays[o]->dtype));
      if (common == Overlap::disjoint) continue;
      if (common == Overlap::same && (is_written(params[o]) || in_step)) continue;
      if (is_written(params[o]))
        return Error{ErrorKind::value, "outputs_overlap",
                     "Two results of '" + prepared.kernel.name +
                         "' lie in the same memory, in part: give each its own."};
      if (copies.empty()) copies.reserve(arrays.size());  // pointers into it must stay valid
      TRY(auto& copied, copy(*arrays[o], arrays[o]->dtype));
      copies.push_back(std::move(copied));
      arrays[o] = &copies.back();
    }
  }
  return Done{};
}

// Launches on the device. Operands whose elements are not aligned are replaced by copies that
// are.
Status Launcher::launch_on_device(const Prepared& prepared, const KernelCall& call,
                                  std::span<const Array*> arrays) {
  std::vector<Array> whole;
  std::vector<std::pair<std::size_t, const Array*>> replaced;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i] == nullptr || on_whole_elements(*arrays[i])) continue;
    const Array& array = *arrays[i];
    if (array.view.ndim() == kMaxDims)
      return Error{ErrorKind::not_implemented, "too_many_dimensions", ""};  // the CPU does it
    TRY(auto& made, allocate(array.dtype, array.view.shape));
    const ir::Param& param = prepared.kernel.params[i];
    const bool overwritten =
        param.kind == ir::ParamKind::elementwise && param.access == ir::Access::write;
    const std::int64_t piece = step_of(array.view);
    if (!overwritten) {
      TRY_DONE(assign(as_pieces(made, piece), as_pieces(array, piece)));
    }
    if (whole.empty()) whole.reserve(arrays.size());  // pointers into it must stay valid
    whole.push_back(std::move(made));
    replaced.emplace_back(i, arrays[i]);
    arrays[i] = &whole.back();
  }
  const Status launched = launch_on(*device_, *prepared.device, call, arrays);
  for (std::size_t k = 0; k < replaced.size(); ++k) {
    const auto [i, array] = replaced[k];
    arrays[i] = array;
    if (!launched || !is_written(prepared.kernel.params[i])) continue;
    const std::int64_t piece = step_of(array->view);
    TRY_DONE(assign(as_pieces(*array, piece), as_pieces(whole[k], piece)));
  }
  return launched;
}

Status Launcher::launch_on(Backend& backend, KernelId kernel, const KernelCall& call,
                           std::span<const Array* const> arrays) {
  launch_.kernel = kernel;
  launch_.loop = call.loop;
  launch_.reduced = call.reduced;
  launch_.arguments.resize(arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i] == nullptr)
      launch_.arguments[i] = call.operands[i].scalar;
    else
      launch_.arguments[i] = ArrayArgument{arrays[i]->storage->id(), arrays[i]->view};
  }
  Span span(profile(), kernels_[call.kernel].kernel.name);
  const Status launched = backend.launch(launch_);
  if (launched && (&backend == device_.get() || device_ == nullptr)) {
    ++counters_.dispatches;
    span.dispatched();
  }
  return launched;
}

Result<KernelId> Launcher::on_cpu(Prepared& prepared) {
  if (prepared.cpu) return *prepared.cpu;
  const auto id = cpu_->prepare(prepared.kernel);
  if (id) prepared.cpu = *id;
  return id;
}

Status Launcher::launch_on_cpu(Prepared& prepared, const KernelCall& call,
                               std::span<const Array* const> arrays) {
  TRY(const auto& kernel, on_cpu(prepared));
  if (device_ == nullptr) return launch_on(*cpu_, kernel, call, arrays);
  ++counters_.cpu_ops;
  Span span(profile(), profile_ ? prepared.kernel.name + " on the CPU" : std::string());

  // Each storage of the device is copied once, so that operands that share bytes still share them.
  std::vector<Brought> brought;
  std::vector<std::size_t> place(arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i] == nullptr || &arrays[i]->storage->backend() == cpu_.get()) continue;
    const Array& array = *arrays[i];
    const ir::Param& param = prepared.kernel.params[i];
    const std::size_t item = size_of(array.dtype);
    const ByteExtent extent = byte_extent(array.view, item);
    const bool overwritten = param.kind == ir::ParamKind::elementwise &&
                             param.access == ir::Access::write && is_c_contiguous(array.view, item);
    place[i] = static_cast<std::size_t>(
        std::find_if(brought.begin(), brought.end(),
                     [&](const Brought& b) { return b.from == array.storage.get(); }) -
        brought.begin());
    if (place[i] == brought.size()) {
      brought.push_back({array.storage.get(), extent, !overwritten, is_written(param), nullptr});
      continue;
    }
    Brought& known = brought[place[i]];
    known.read = known.read || !overwritten || extent != known.bytes;
    known.written = known.written || is_written(param);
    known.bytes = {std::min(known.bytes.begin, extent.begin),
                   std::max(known.bytes.end, extent.end)};
  }
  for (Brought& each : brought) {
    // Copies whole words, from a multiple of 16 bytes on, so that every element keeps its
    // alignment.
    const ByteExtent exact = each.bytes;
    each.bytes.begin -= each.bytes.begin % 16;
    each.bytes.end = std::min((each.bytes.end + 3) / 4 * 4, each.from->bytes());
    const std::int64_t bytes = each.bytes.end - each.bytes.begin;
    TRY(auto& storage, cpu_->create_storage(bytes));
    each.copy = std::make_unique<Storage>(*cpu_, counters_, storage, bytes);
    if (bytes == 0 || (!each.read && exact == each.bytes)) continue;
    std::vector<std::byte> moved(static_cast<std::size_t>(bytes));
    TRY_DONE(each.from->backend().download(each.from->id(), each.bytes.begin, moved));
    ++counters_.sync_waits;
    counters_.bytes_down += bytes;
    span.moved(0, bytes);
    TRY_DONE(cpu_->upload(storage, 0, moved));
  }

  std::vector<Array> moved(arrays.size());
  std::vector<const Array*> here(arrays.begin(), arrays.end());
  launch_.arguments.resize(arrays.size());
  launch_.kernel = kernel;
  launch_.loop = call.loop;
  launch_.reduced = call.reduced;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i] == nullptr) {
      launch_.arguments[i] = call.operands[i].scalar;
    } else if (&arrays[i]->storage->backend() == cpu_.get()) {
      launch_.arguments[i] = ArrayArgument{arrays[i]->storage->id(), arrays[i]->view};
    } else {
      const Brought& each = brought[place[i]];
      View view = arrays[i]->view;
      view.offset -= each.bytes.begin;
      launch_.arguments[i] = ArrayArgument{each.copy->id(), view};
    }
  }
  TRY_DONE(cpu_->launch(launch_));

  for (const Brought& each : brought) {
    if (!each.written || each.copy->bytes() == 0) continue;
    std::vector<std::byte> back(static_cast<std::size_t>(each.copy->bytes()));
    TRY_DONE(cpu_->download(each.copy->id(), 0, back));
    TRY_DONE(each.from->backend().upload(each.from->id(), each.bytes.begin, back));
    counters_.bytes_up += each.copy->bytes();
    span.moved(each.copy->bytes(), 0);
  }
  return Done{};
}

Result<KernelRef> Launcher::cast_kernel(DType to, DType from) {
  std::optional<KernelRef>& known =
      casts_[static_cast<std::size_t>(to) * kDTypes + static_cast<std::size_t>(from)];
  if (known) return *known;
  ir::Builder builder(to == from ? "copy" : "astype");
  const ir::ParamRef source = builder.in("source", from);
  const ir::ParamRef target = builder.out("target", to);
  builder.store(target, builder.convert(to, builder.read(source)));
  auto prepared = prepare(builder.take());
  if (prepared) known = *prepared;
  return prepared;
}

Result<KernelRef> Launcher::fill_kernel(DType dtype) {
  std::optional<KernelRef>& known = fills_[static_cast<std::size_t>(dtype)];
  if (known) return *known;
  ir::Builder builder("fill");
  const ir::ParamRef value = builder.scalar("value", dtype);
  const ir::ParamRef target = builder.out("target", dtype);
  builder.store(target, builder.read(value));
  auto prepared = prepare(builder.take());
  if (prepared) known = *prepared;
  return prepared;
}

Status Launcher::writable(const Array& array) {
  for (int axis = 0; axis < array.view.ndim(); ++axis)
    if (array.view.shape[axis] > 1 && array.view.strides[axis] == 0)
      return Error{
          ErrorKind::value, "read_only",
          "The array is a broadcast view, several of whose elements share their memory: it "
          "is read-only; write to a copy."};
  return Done{};
}

Status Launcher::assign(const Array& target, const Array& source) {
  TRY_DONE(writable(target));
  // If the source is not computed yet, it is computed directly into the target.
  const bool waits = source.storage->group() != nullptr;
  if (!waits && target.dtype == source.dtype && as_bits(target).dtype != target.dtype)
    return assign(as_bits(target), as_bits(source));
  TRY(const auto& kernel, cast_kernel(target.dtype, source.dtype));
  std::optional<Array> wide;
  if (source.view.shape != target.view.shape) {
    TRY(auto& view, broadcast_for_assignment(source.view, target.view.shape));
    wide = Array{source.dtype, std::move(view), source.storage};
  }
  const std::array<Operand, 2> operands{Operand{wide ? &*wide : &source, {}}, Operand{&target, {}}};
  return launch({kernel, target.view.shape, 0, operands});
}

Status Launcher::fill(const Array& target, const ir::Scalar& value) {
  TRY_DONE(writable(target));
  TRY(const auto& kernel, fill_kernel(target.dtype));
  const std::array<Operand, 2> operands{Operand{nullptr, value}, Operand{&target, {}}};
  return launch({kernel, target.view.shape, 0, operands});
}

Result<Array> Launcher::copy(const Array& array, DType dtype) {
  TRY(auto& made, allocate(dtype, array.view.shape));
  TRY_DONE(assign(made, array));
  return std::move(made);
}

Status Launcher::set_fusing(bool fusing) {
  if (fusing == is_fusing()) return Done{};
  if (fusing) {
    fusion_ = std::make_unique<Fusion>(*this);
    if (device_) batching_ = std::make_unique<Batching>(*this);
    return Done{};
  }
  const Status flushed = flush();
  if (flushed) {
    batching_.reset();
    fusion_.reset();
  }
  return flushed;
}

Status Launcher::prepare_read(const Array& array) {
  if (batching_) TRY_DONE(batching_->before_read(array));
  if (array.storage->group() != nullptr) TRY_DONE(fusion_->flush(*array.storage));
  return array.storage->make_memory();
}

Status Launcher::prepare_write(const Array& array) {
  if (batching_) TRY_DONE(batching_->before_write(array));
  if (array.storage->is_pinned()) TRY_DONE(fusion_->flush_readers(*array.storage));
  return prepare_read(array);
}

Status Launcher::flush() {
  const Status batched = batching_ ? batching_->flush() : Done{};
  const Status fused = fusion_ ? fusion_->flush_all() : Done{};
  return batched ? fused : batched;
}
Status Launcher::reclaim() { return fusion_ ? fusion_->reclaim() : Done{}; }

Status Launcher::begin_profile() {
  if (profile_)
    return Error{ErrorKind::value, "profiled_already",
                 "A profile is under way: end it before another one."};
  TRY_DONE(flush());
  auto profile = std::make_unique<Profile>(device_.get());
  const Status begun = profile->begin();
  if (begun) profile_ = std::move(profile);
  return begun;
}

Status Launcher::end_profile(std::string& text) {
  if (!profile_) return Error{ErrorKind::value, "not_profiled", "There is no profile under way."};
  Status flushed = flush();
  const auto profile = std::move(profile_);
  const Status ended = profile->end();
  text = profile->text();
  return flushed ? ended : flushed;
}

Status Launcher::reset() {
  profile_.reset();
  if (batching_) batching_->forget();
  const Status cpu = cpu_->reset();
  return cpu && device_ ? device_->reset() : cpu;
}

}  // namespace arraycore
