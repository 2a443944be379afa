#include "runtime/capture/taped_backend.h"

#include "backend/kernel_name.h"
#include "ir/builder.h"
#include "view/shape.h"

namespace arraycore::capture {

namespace {

const Operation kProduct{"matmul or convolution", {}, {}};
const Operation kUpload{"an upload", {}, {}};
const Operation kZero{"zeros", {}, {}};

// Stores an operation under its kernel's number. Unused numbers have an empty operation.
void keep(std::deque<Operation>& operations, KernelId number, Operation operation) {
  if (operations.size() <= number) operations.resize(number + 1);
  operations[number] = std::move(operation);
}

}  // namespace

void TapedBackend::note(const Operation* operation, Action action) {
  recorder_.tape->add(side_, operation, std::move(action), serials_);
}

Result<StorageId> TapedBackend::create_storage(std::int64_t bytes) {
  TRY(auto& made, inner_->create_storage(bytes));
  if (serials_.size() < made) serials_.resize(made);
  serials_[made - 1] = ++serial_;
  if (recorder_.tape != nullptr) recorder_.tape->made(side_, made, bytes);
  return std::move(made);
}

void TapedBackend::destroy_storage(StorageId storage) {
  Tape* const told = recorder_.tape != nullptr ? recorder_.tape : recorder_.newest;
  if (told != nullptr) told->destroyed(side_, storage);
  if (!pins_.empty()) {
    if (const auto pin = pins_.find(storage); pin != pins_.end()) {
      pin->second.given_back = true;
      return;
    }
  }
  inner_->destroy_storage(storage);
}

void TapedBackend::unpin(StorageId storage) {
  const auto pin = pins_.find(storage);
  if (pin == pins_.end() || --pin->second.count > 0) return;
  const bool given_back = pin->second.given_back;
  pins_.erase(pin);
  if (given_back) inner_->destroy_storage(storage);
  if (!pins_.empty()) return;
  for (const KernelId kernel : forgotten_) inner_->forget(kernel);
  forgotten_.clear();
}

Status TapedBackend::upload(StorageId storage, std::int64_t offset,
                            std::span<const std::byte> bytes) {
  const Status sent = inner_->upload(storage, offset, bytes);
  if (sent && recorder_.tape != nullptr)
    note(&kUpload, Upload{storage, offset, {bytes.begin(), bytes.end()}});
  return sent;
}

Status TapedBackend::fill_zero(StorageId storage) {
  const Status filled = inner_->fill_zero(storage);
  if (filled && recorder_.tape != nullptr) note(&kZero, Zero{storage});
  return filled;
}

Status TapedBackend::download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) {
  if (recorder_.tape != nullptr)
    recorder_.tape->refuse({ErrorKind::value, "capture_reads",
                            "The step reads an array: what a program then does with the value "
                            "cannot be played."});
  return inner_->download(storage, offset, bytes);
}

Result<KernelId> TapedBackend::prepare(ir::Kernel kernel) {
  Operation operation{operation_name(kernel), {}, {}};
  for (const ir::Param& param : kernel.params) {
    if (param.kind == ir::ParamKind::scalar)
      operation.scalars.push_back(static_cast<std::uint32_t>(operation.parameters.size()));
    operation.parameters.push_back(param.dtype);
  }
  auto number = inner_->prepare(std::move(kernel));
  if (number) keep(kernels_, *number, std::move(operation));
  return number;
}

void TapedBackend::forget(KernelId kernel) {
  if (pins_.empty())
    inner_->forget(kernel);
  else
    forgotten_.push_back(kernel);
}

Status TapedBackend::launch(const Launch& launch) {
  const Status launched = inner_->launch(launch);
  if (launched && recorder_.tape != nullptr) note(&kernels_[launch.kernel], launch);
  return launched;
}

Status TapedBackend::launch_gemm(const GemmLaunch& launch) {
  const Status launched = inner_->launch_gemm(launch);
  if (launched && recorder_.tape != nullptr) note(&kProduct, launch);
  return launched;
}

Status TapedBackend::launch_batch(KernelId kernel, std::span<const ir::Scalar> scalars,
                                  std::span<const BatchSegment> segments) {
  const Status launched = inner_->launch_batch(kernel, scalars, segments);
  if (launched && recorder_.tape != nullptr)
    note(&kernels_[kernel],
         BatchLaunch{kernel, {scalars.begin(), scalars.end()}, {segments.begin(), segments.end()}});
  return launched;
}

Result<KernelId> TapedBackend::prepare_raw(const RawText& text) {
  auto number = inner_->prepare_raw(text);
  if (number) keep(raws_, *number, {"kernel '" + text.name + "'", {}, {}});
  return number;
}

Status TapedBackend::launch_raw(const RawLaunch& launch) {
  const Status launched = inner_->launch_raw(launch);
  if (launched && recorder_.tape != nullptr) note(&raws_[launch.kernel], launch);
  return launched;
}

void TapedBackend::refuse_measuring() {
  if (recorder_.tape != nullptr)
    recorder_.tape->refuse(
        {ErrorKind::value, "capture_timer", "The step measures time, and waits for it."});
}

Status TapedBackend::begin_timer() {
  refuse_measuring();
  return inner_->begin_timer();
}

Status TapedBackend::begin_trace() {
  refuse_measuring();
  return inner_->begin_trace();
}

Result<DeviceTrace> TapedBackend::take_trace() {
  refuse_measuring();
  return inner_->take_trace();
}

Status TapedBackend::reset() {
  // After a reset, storages get the ids of earlier ones again. No capture exists any more, so
  // serials and pins are dropped.
  serials_.clear();
  pins_.clear();
  for (const KernelId kernel : forgotten_) inner_->forget(kernel);
  forgotten_.clear();
  return inner_->reset();
}

Result<Launch> TapedBackend::copy(StorageId from, StorageId to, std::int64_t bytes) {
  const bool words = bytes % 4 == 0;
  const DType dtype = words ? DType::uint32 : DType::uint8;
  std::optional<KernelId>& known = words ? copy_words_ : copy_bytes_;
  if (!known) {
    ir::Builder builder("carry");
    const ir::ParamRef source = builder.in("source", dtype);
    const ir::ParamRef target = builder.out("target", dtype);
    builder.store(target, builder.read(source));
    TRY(const auto& prepared, prepare(builder.take()));
    known = prepared;
  }
  const auto item = static_cast<std::int64_t>(size_of(dtype));
  const View whole = contiguous({bytes / item}, size_of(dtype));
  Launch launch;
  launch.kernel = *known;
  launch.loop = whole.shape;
  launch.arguments = {ArrayArgument{from, whole}, ArrayArgument{to, whole}};
  return launch;
}

}  // namespace arraycore::capture
