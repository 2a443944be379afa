// Implements the C interface with a Context: checks plain integers, keeps the last error, counts
// calls from Python. Python's thread only.
#include "arraycore/arraycore.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "abi/calls/calls.h"
#include "abi/calls/context.h"
#include "abi/calls/device.h"
#include "abi/calls/kernels.h"
#include "abi/calls/ufuncs.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/gpu/open_device.h"
#include "thread_pool/thread_pool.h"

namespace arraycore {
namespace {

struct Library {
  ArrayTable arrays;
  std::unique_ptr<Context> context;
  Error error{ErrorKind::none, "", ""};
  std::string text;  // the result of ac_device_text
};

// The library is never destroyed, because a process may end while Python still holds arrays.
Library& library() {
  static Library* const instance = new Library;
  return *instance;
}

std::int32_t fail(Error error) {
  const auto kind = static_cast<std::int32_t>(error.kind);
  library().error = std::move(error);
  return -kind;
}

std::int32_t answer(Result<ArrayId> result) { return result ? *result : fail(result.error()); }
std::int32_t answer(const Status& status) { return status ? 0 : fail(status.error()); }

// Counts a call from Python and returns the open library. Returns nullptr and stores an error if
// the library is closed.
Context* enter() {
  Context* const context = library().context.get();
  if (context == nullptr) {
    fail({ErrorKind::internal, "not_open", "The library is not open: call arraycore.open()."});
    return nullptr;
  }
  ++context->counters().crossings;
  return context;
}

// Frees the arrays whose ids came with a call. Returns false and stores the error if that fails.
bool let_go(Context& context, ArrayId a, ArrayId b) {
  const std::array<ArrayId, 2> ids{a, b};
  const Status gone = context.let_go(ids);
  if (!gone) fail(gone.error());
  return gone.ok();
}
std::int32_t failed() { return -static_cast<std::int32_t>(library().error.kind); }

constexpr std::int32_t kNotOpen = -static_cast<std::int32_t>(ErrorKind::internal);

// Checks the number of a dtype and the shape that a caller passed. Returns the shape. If there is
// no error, the dtype is valid.
Result<Dims> checked_shape(std::int32_t dtype, std::int32_t ndim, const std::int64_t* shape) {
  if (dtype < 0 || static_cast<std::size_t>(dtype) >= kDTypes)
    return Error{ErrorKind::type, "unknown_dtype",
                 "There is no dtype " + std::to_string(dtype) + "."};
  if (ndim < 0 || ndim > kMaxDims)
    return Error{ErrorKind::value, "too_many_dimensions",
                 "An array has at most " + std::to_string(kMaxDims) + " dimensions, not " +
                     std::to_string(ndim) + "."};
  return Dims(std::span<const std::int64_t>(shape, static_cast<std::size_t>(ndim)));
}

}  // namespace
}  // namespace arraycore

using arraycore::answer;
using arraycore::Context;
using arraycore::DType;
using arraycore::enter;
using arraycore::Error;
using arraycore::ErrorKind;
using arraycore::fail;
using arraycore::failed;
using arraycore::kNotOpen;
using arraycore::library;

extern "C" {

int32_t ac_interface_version(void) { return AC_INTERFACE_VERSION; }

int32_t ac_open(int32_t backend, double budget_bytes) {
  if (library().context)
    return fail({ErrorKind::value, "already_open", "The library is open already."});
  if (backend < AC_BACKEND_CPU || backend > AC_BACKEND_WEBGL2)
    return fail({ErrorKind::value, "unknown_backend",
                 "There is no back end " + std::to_string(backend) + "."});
  if (!(budget_bytes >= 0 && budget_bytes < 0x1p53))
    return fail(
        {ErrorKind::value, "bad_budget", "The budget is a number of bytes, or 0 for no limit."});
  std::optional<std::int64_t> budget;
  if (budget_bytes > 0) budget = static_cast<std::int64_t>(budget_bytes);
  std::unique_ptr<arraycore::Backend> device;
  if (backend != AC_BACKEND_CPU) {
    using arraycore::ring::Backend;
    auto opened = arraycore::open_device(
        backend == AC_BACKEND_WEBGPU ? Backend::webgpu : Backend::webgl2, budget);
    if (!opened) return fail(opened.error());
    device = std::move(*opened);
  }
  library().context = std::make_unique<Context>(arraycore::make_cpu_backend(), std::move(device),
                                                library().arrays, budget);
  return 0;
}

int32_t ac_close(void) {
  library().context.reset();
  return 0;
}

int32_t ac_reset(void) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  return answer(context->reset());
}

int32_t ac_error_kind(void) { return static_cast<int32_t>(library().error.kind); }
const char* ac_error_code(void) { return library().error.code.c_str(); }
const char* ac_error_message(void) { return library().error.message.c_str(); }

void* ac_allocate(size_t bytes) {
  // malloc(0) may return 0, which callers would take for exhausted memory.
  return std::malloc(bytes == 0 ? 1 : bytes);  // NOLINT(*-no-malloc): an address for C callers
}
void ac_deallocate(void* address) { std::free(address); }  // NOLINT(*-no-malloc)

int32_t ac_create(int32_t dtype, int32_t ndim, const int64_t* shape, const void* data) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  const auto dims = arraycore::checked_shape(dtype, ndim, shape);
  if (!dims) return fail(dims.error());
  return answer(context->create(static_cast<DType>(dtype), *dims, data));
}

int32_t ac_create_unset(int32_t dtype, int32_t ndim, const int64_t* shape) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  const auto dims = arraycore::checked_shape(dtype, ndim, shape);
  if (!dims) return fail(dims.error());
  return answer(arraycore::calls::create_unset(*context, static_cast<DType>(dtype), *dims));
}

int32_t ac_packed(int32_t id) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  return answer(arraycore::calls::packed(*context, id));
}

int32_t ac_upload(int32_t id, double offset, const void* data, size_t bytes) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  return answer(arraycore::calls::upload(*context, id, static_cast<std::int64_t>(offset),
                                         {static_cast<const std::byte*>(data), bytes}));
}

int32_t ac_download(int32_t id, double offset, void* out, size_t bytes) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  return answer(arraycore::calls::download(*context, id, static_cast<std::int64_t>(offset),
                                           {static_cast<std::byte*>(out), bytes}));
}

int32_t ac_read(int32_t id, void* out, size_t bytes) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  return answer(context->read(id, {static_cast<std::byte*>(out), bytes}));
}

int32_t ac_item(int32_t id, double* out) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  const auto item = context->item(id);
  if (!item) return fail(item.error());
  if (!*item) return 0;
  *out = **item;
  return 1;
}

int32_t ac_describe(int32_t id, int64_t* out) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  const auto described = context->describe(id);
  if (!described) return fail(described.error());
  *out++ = static_cast<std::int64_t>(described->dtype);
  *out++ = described->view.ndim();
  for (const std::int64_t extent : described->view.shape) *out++ = extent;
  for (const std::int64_t stride : described->view.strides) *out++ = stride;
  return 0;
}

int32_t ac_free(int32_t count, const int32_t* ids) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  return answer(context->let_go({ids, static_cast<std::size_t>(count)}));
}

int32_t ac_set_promotion(int32_t mode) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  if (mode != 0 && mode != 1)
    return fail({ErrorKind::value, "unknown_promotion",
                 "There is no promotion mode " + std::to_string(mode) + "."});
  const auto before = static_cast<int32_t>(context->promotion);
  context->promotion = static_cast<arraycore::PromotionMode>(mode);
  return before;
}

int32_t ac_ufunc_number(const char* name) { return arraycore::ops::find(name).value_or(-1); }

int32_t ac_unary(int32_t ufunc, int32_t a, int32_t freed_a, int32_t freed_b) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  if (!arraycore::let_go(*context, freed_a, freed_b)) return failed();
  return answer(arraycore::calls::unary(*context, ufunc, a));
}

int32_t ac_binary(int32_t ufunc, int32_t a, int32_t b, int32_t freed_a, int32_t freed_b) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  if (!arraycore::let_go(*context, freed_a, freed_b)) return failed();
  return answer(arraycore::calls::binary(*context, ufunc, a, b));
}

int32_t ac_binary_scalar(int32_t ufunc, int32_t a, double value, int32_t kind, int32_t left,
                         int32_t freed_a, int32_t freed_b) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  if (!arraycore::let_go(*context, freed_a, freed_b)) return failed();
  return answer(arraycore::calls::binary_scalar(*context, ufunc, a, value, kind, left != 0));
}

int32_t ac_call(int32_t operation, const int32_t* words, int32_t count, int32_t freed_a,
                int32_t freed_b) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  if (!arraycore::let_go(*context, freed_a, freed_b)) return failed();
  const arraycore::calls::Call call = arraycore::calls::find(operation);
  if (call == nullptr)
    return fail({ErrorKind::internal, "unknown_operation",
                 "There is no operation " + std::to_string(operation) + "."});
  arraycore::Words reader({words, static_cast<std::size_t>(count)});
  return answer(call(*context, reader));
}

int32_t ac_kernel(int32_t kind, const char* texts, size_t bytes) {
  Context* const context = enter();
  if (context == nullptr) return kNotOpen;
  return answer(arraycore::calls::make_kernel(*context, kind, {texts, bytes}));
}

const char* ac_device_text(void) {
  Context* const context = library().context.get();
  library().text = context == nullptr ? "" : context->launcher().raw_backend().device_text();
  return library().text.c_str();
}

const char* ac_profile_text(void) {
  const Context* const context = library().context.get();
  return context == nullptr ? "" : context->profile_text.c_str();
}

double ac_counter(int32_t name) {
  const Context* const context = library().context.get();
  if (context == nullptr) return -1;
  const arraycore::Counters& counters = context->counters();
  switch (name) {
    case AC_CROSSINGS:
      return static_cast<double>(counters.crossings);
    case AC_LIVE_BYTES:
      return static_cast<double>(counters.live_bytes);
    case AC_PEAK_BYTES:
      return static_cast<double>(counters.peak_bytes);
    case AC_LIVE_ARRAYS:
      return static_cast<double>(context->live_arrays());
    case AC_DISPATCHES:
      return static_cast<double>(counters.dispatches);
    case AC_CPU_OPS:
      return static_cast<double>(counters.cpu_ops);
    case AC_BYTES_UP:
      return static_cast<double>(counters.bytes_up);
    case AC_BYTES_DOWN:
      return static_cast<double>(counters.bytes_down);
    case AC_SYNC_WAITS:
      return static_cast<double>(counters.sync_waits);
    case AC_HEAP_BYTES:
#if defined(__wasm__)
      return static_cast<double>(__builtin_wasm_memory_size(0)) * 65536;
#else
      return 0;
#endif
    case AC_DEVICE_BYTES:
      return static_cast<double>(library().context->launcher().raw_backend().held_bytes());
    case AC_DEVICE_FLAGS:
      return library().context->launcher().raw_backend().device_flags();
    case AC_FUSED:
      return static_cast<double>(counters.fused);
    case AC_CPU_THREADS:
      return arraycore::thread_pool().threads();
    case AC_TIMER_NANOSECONDS:
      return static_cast<double>(counters.timer_nanoseconds);
    default:
      return -1;
  }
}

void ac_thread_serve(int32_t thread) { arraycore::thread_pool().serve(thread); }

}  // extern "C"
