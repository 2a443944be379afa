#include "backend/gpu/ring_backend.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/kernel_name.h"

namespace arraycore {

namespace {

// Uploads of at most this many bytes are sent in the ring itself.
constexpr std::size_t kInlineBytes = 1024;

}  // namespace

RingBackend::RingBackend(std::shared_ptr<RingMemory> memory, const std::byte* base,
                         std::unique_ptr<ring::Host> host)
    : memory_(std::move(memory)),
      host_(std::move(host)),
      writer_(memory_->control, memory_->ring, memory_->texts, base, *host_) {
  writer_.name_operations(*this);
}

RingBackend::~RingBackend() {
  // An error of the device no longer matters, because the library closes.
  static_cast<void>(writer_.close());
}

std::string RingBackend::name_of(std::uint32_t tag) const {
  if ((tag & kRawTag) == 0) return operation_name(kernels_[tag - 1].kernel);
  const std::string& name = raws_[tag & ~kRawTag].text.name;
  return name + " (kernel '" + name + "')";
}

Status RingBackend::finish() {
  TRY(const auto& fence, writer_.fence());
  const Status done = writer_.wait(fence);
  if (!done) return done;
  staged_ = 0;
  if (!tracing_) staging_bytes_ = RingMemory::kStagingBytes;
  return done;
}

Status RingBackend::open(std::int64_t budget_bytes) {
  TRY_DONE(finish());
  const auto limit = [&](ring::Word word) { return memory_->control[word].load(); };
  limits_.storage_buffers =
      std::min(limit(ring::Word::max_storage_buffers), ring::kMaxBindings - 1);
  limits_.invocations = limit(ring::Word::max_invocations);
  limits_.groups = limit(ring::Word::max_grid);
  has_passes_ = limit(ring::Word::backend) == static_cast<std::uint32_t>(ring::Backend::webgl2);
  budget_bytes_ = budget_bytes;
  BufferSource& source = *this;
  largest_buffer_ =
      std::min(limit(ring::Word::max_buffer_bytes), limit(ring::Word::max_binding_bytes));
  PoolLimits limits{.budget_bytes = budget_bytes, .largest_buffer = largest_buffer_};
  if (has_passes_) limits.row_bytes = codegen::glsl::kTexelBytes * codegen::glsl::kRowTexels;
  pool_.emplace(source, limits);
  return Done{};
}

std::string RingBackend::device_text() const {
  const ring::ControlBlock& control = memory_->control;
  const std::uint32_t bytes =
      std::min(control[ring::Word::device_text_bytes].load(), ring::kDeviceTextBytes);
  std::string text(bytes, '\0');
  for (std::uint32_t i = 0; i < bytes; ++i)
    text[i] = static_cast<char>(
        control.words[ring::at(ring::Word::device_text) + i / 4].load() >> (8 * (i % 4)) & 0xFF);
  return text;
}

std::uint32_t RingBackend::device_flags() const {
  return memory_->control[ring::Word::capability_flags].load();
}

Result<BufferId> RingBackend::create_buffer(std::int64_t bytes) {
  TRY_DONE(writer_.create_buffer(buffers_ + 1, static_cast<std::uint32_t>(bytes), "arrays"));
  return ++buffers_;
}

void RingBackend::destroy_buffer(BufferId buffer) {
  // The command fails only if the device is lost, and then the buffer is lost too.
  static_cast<void>(writer_.destroy_buffer(buffer));
}

Result<StorageId> RingBackend::create_storage(std::int64_t bytes) {
  TRY(const auto& region, pool_->allocate(bytes));
  if (free_.empty()) {
    storages_.push_back(region);
    return static_cast<StorageId>(storages_.size());
  }
  const StorageId id = free_.back();
  free_.pop_back();
  storages_[id - 1] = region;
  return id;
}

Result<Region> RingBackend::allocate_alone(std::int64_t bytes) {
  return pool_->allocate(has_passes_ ? bytes : std::max(bytes, Pool::kLargestSlot + 4));
}

void RingBackend::destroy_storage(StorageId storage) {
  pool_->free(at(storage));
  free_.push_back(storage);
}

// Returns free memory in the staging block, at most `bytes` bytes. If the block is full, the
// function first waits until the executor has done all commands, which frees the block.
Result<std::span<std::byte>> RingBackend::stage_part(std::size_t bytes) {
  if (staged_ == staging_bytes_) {
    TRY_DONE(finish());
  }
  const std::size_t part = std::min(bytes, staging_bytes_ - staged_);
  const std::span<std::byte> stage = std::span(memory_->staging).subspan(staged_, part);
  staged_ = std::min((staged_ + part + 15) / 16 * 16, staging_bytes_);
  return stage;
}

Status RingBackend::upload(StorageId storage, std::int64_t offset,
                           std::span<const std::byte> bytes) {
  const ring::BufferId buffer = at(storage).buffer;
  auto to = static_cast<std::uint32_t>(at(storage).offset + offset);
  if (bytes.size() <= kInlineBytes)
    return bytes.empty() ? Status(Done{}) : writer_.upload_inline(buffer, to, bytes);
  while (!bytes.empty()) {
    TRY(const auto& stage, stage_part(bytes.size()));
    std::memcpy(stage.data(), bytes.data(), stage.size());
    TRY_DONE(writer_.upload(buffer, to, writer_.address_of(stage.data()),
                            static_cast<std::uint32_t>(stage.size())));
    to += static_cast<std::uint32_t>(stage.size());
    bytes = bytes.subspan(stage.size());
  }
  return Done{};
}

Status RingBackend::fill_zero(StorageId storage) {
  const Region& region = at(storage);
  return writer_.fill(region.buffer, static_cast<std::uint32_t>(region.offset),
                      static_cast<std::uint32_t>(region.bytes), 0);
}

// Downloads go through the staging block and never directly to the caller. A wait can fail (an
// error, Ctrl-C, a time-out) before the executor is done. What the executor writes later must not
// hit memory that the caller has freed. So the download's part of the block stays reserved until a
// later wait succeeds.
Status RingBackend::download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) {
  if (bytes.empty()) return finish();
  auto from = static_cast<std::uint32_t>(at(storage).offset + offset);
  while (!bytes.empty()) {
    TRY(const auto& stage, stage_part(bytes.size()));
    TRY_DONE(writer_.read(at(storage).buffer, from, writer_.address_of(stage.data()),
                          static_cast<std::uint32_t>(stage.size())));
    TRY_DONE(finish());
    std::memcpy(bytes.data(), stage.data(), stage.size());
    from += static_cast<std::uint32_t>(stage.size());
    bytes = bytes.subspan(stage.size());
  }
  return Done{};
}

void RingBackend::begin_block(const void* owner) {
  Blocks& blocks = blocks_[owner];
  blocks.words.emplace_back();
  writer_.tap(&blocks.words.back());
  recording_ = true;
  pool_->hold(blocks.scratch);
}

std::uint32_t RingBackend::end_block(const void* owner) {
  writer_.tap(nullptr);
  recording_ = false;
  pool_->let_go();
  return static_cast<std::uint32_t>(blocks_.at(owner).words.size() - 1);
}

Status RingBackend::issue_block(const void* owner, std::uint32_t block, std::size_t& from) {
  return writer_.append_block(blocks_.at(owner).words[block], from);
}

void RingBackend::forget_blocks(const void* owner) {
  const auto found = blocks_.find(owner);
  if (found == blocks_.end()) return;
  pool_->clear_shelf(found->second.scratch);
  blocks_.erase(found);
}

Status RingBackend::begin_timer() { return writer_.timestamp_begin(); }

Result<std::int64_t> RingBackend::end_timer() {
  memory_->clock = {};
  TRY_DONE(writer_.timestamp_end(writer_.address_of(memory_->clock.data())));
  TRY_DONE(finish());
  return static_cast<std::int64_t>(memory_->clock[1] - memory_->clock[0]);
}

// ---- traces: when each kernel runs

Status RingBackend::begin_trace() {
  // The trace uses the end of the staging block, which is free once the executor has done
  // everything.
  TRY_DONE(finish());
  tracing_ = true;
  staging_bytes_ = RingMemory::kStagingBytes - RingMemory::kTraceBytes;
  const Status started = start_trace();
  if (!started) tracing_ = false;
  return started;
}

// Starts a trace of kernel times. REQUIRES: the executor no longer uses the staging block.
Status RingBackend::start_trace() {
  std::memset(trace_block(), 0, RingMemory::kTraceBytes);
  traced_from_ = memory_->control[ring::Word::dispatches].load();
  return writer_.trace(writer_.address_of(trace_block()), RingMemory::kTraced);
}

Status RingBackend::end_trace() {
  if (!tracing_) return Done{};
  tracing_ = false;  // the next wait that succeeds frees the trace's part of the staging block
  const Status asked = writer_.trace(0, 0);
  return asked ? finish() : asked;
}

Result<DeviceTrace> RingBackend::take_trace() {
  DeviceTrace taken;
  if (!tracing_) return taken;
  TRY_DONE(finish());
  for (std::size_t i = 0; i < RingMemory::kTraced; ++i) {
    std::array<std::uint32_t, ring::kTraceWords> record{};
    std::memcpy(record.data(), trace_block() + i * sizeof record, sizeof record);
    const auto& [position, tag, begin, begin_high, end, end_high] = record;
    if (tag == 0) break;
    taken.spans.push_back({position, tag, std::uint64_t{begin_high} << 32 | begin,
                           std::uint64_t{end_high} << 32 | end});
  }
  const std::uint32_t ran = memory_->control[ring::Word::dispatches].load() - traced_from_;
  taken.lost = static_cast<std::int64_t>(ran) - static_cast<std::int64_t>(taken.spans.size());
  TRY_DONE(start_trace());
  return taken;
}

bool RingBackend::trace_is_full(std::uint32_t since) const {
  return tracing_ && writer_.position() - since >= RingMemory::kTraced * ring::kDispatchWords;
}

std::string RingBackend::kernel_name(std::uint32_t tag) const {
  return (tag & kRawTag) == 0 ? kernels_[tag - 1].kernel.name : raws_[tag & ~kRawTag].text.name;
}

Status RingBackend::reset() {
  tracing_ = false;
  TRY_DONE(writer_.reset());
  staging_bytes_ = RingMemory::kStagingBytes;
  // Every buffer and pipeline was lost together with the old device.
  staged_ = 0;
  storages_.clear();
  free_.clear();
  blocks_.clear();
  for (Prepared& prepared : kernels_) {
    prepared.known.clear();
    prepared.programs.clear();
  }
  for (Raw& raw : raws_) raw.pipeline = 0;
  gemm_.reset();
  pace_.reset();
  return open(budget_bytes_);
}

}  // namespace arraycore
