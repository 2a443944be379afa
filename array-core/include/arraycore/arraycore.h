// The C interface of array-core. Python calls it in a browser (exports of the WebAssembly module)
// and natively (ctypes on libarraycore.so). Arguments and results are numbers and addresses, and no
// function throws.
//
// There is one library state for each process (or module instance in a browser). One thread touches
// it: Python's. A call that fails returns a negative number, minus the error's kind (ErrorKind in
// base/result.h). The functions ac_error_* return the details until the next call fails.
//
// A positive id names an array. It contains a generation, so that an id used after its array was
// freed is an error and never another array. Python's `__del__` only notes ids. The next operations
// carry up to two of them each as `freed_a` and `freed_b` (0: none), which costs no extra call.
#pragma once

#include <stddef.h>  // NOLINT(modernize-deprecated-headers): this header is C too
#include <stdint.h>  // NOLINT(modernize-deprecated-headers)

#include "arraycore/operations.h"

#if defined(__wasm__)
#define AC_EXPORT(name) __attribute__((export_name(#name)))
#else
#define AC_EXPORT(name) __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The version of this interface. It increases with every change that does more than add something.
#define AC_INTERFACE_VERSION 2
AC_EXPORT(ac_interface_version) int32_t ac_interface_version(void);

enum ac_backend { AC_BACKEND_CPU = 0, AC_BACKEND_WEBGPU = 1, AC_BACKEND_WEBGL2 = 2 };

// Opens the library. `budget_bytes` limits the memory of all arrays; 0 means no limit. It is a
// double, because JavaScript's numbers are doubles. REQUIRES: the library is not open.
AC_EXPORT(ac_open) int32_t ac_open(int32_t backend, double budget_bytes);
// Sets how the dtype of a result follows from operands of different dtypes: 0 as in NumPy 2, 1
// nearly as in older CuPy (PromotionMode, dtype/promotion.h). Returns the old mode.
AC_EXPORT(ac_set_promotion) int32_t ac_set_promotion(int32_t mode);
// Frees every array and the back end's memory. If the library is not open, it does nothing.
AC_EXPORT(ac_close) int32_t ac_close(void);
// Frees every array and sets the counters to 0. The back end stays open.
AC_EXPORT(ac_reset) int32_t ac_reset(void);

// Return the last error: its kind, its stable code and one sentence. Texts end with a zero byte and
// are valid until the next error.
AC_EXPORT(ac_error_kind) int32_t ac_error_kind(void);
AC_EXPORT(ac_error_code) const char* ac_error_code(void);
AC_EXPORT(ac_error_message) const char* ac_error_message(void);

// Allocates memory for a caller that cannot pass its own addresses, because Python's memory is not
// that of the WebAssembly module. Returns 0 if memory is exhausted.
AC_EXPORT(ac_allocate) void* ac_allocate(size_t bytes);
AC_EXPORT(ac_deallocate) void ac_deallocate(void* address);

// Makes a new C-ordered array and returns its id. `dtype` is the dtype's number in dtype/dtype.h.
// `data` has the elements in C order, or is 0 for zeros.
AC_EXPORT(ac_create)
int32_t ac_create(int32_t dtype, int32_t ndim, const int64_t* shape, const void* data);

// Copies the array's elements in C order to `out`, which has exactly `bytes` bytes. Waits until the
// elements are computed.
AC_EXPORT(ac_read) int32_t ac_read(int32_t id, void* out, size_t bytes);

// Create and read an array in pieces, for a caller whose memory is not the library's and who wants
// no copy of the whole array in between. ac_create_unset makes an array whose elements are
// undefined until each byte was uploaded. ac_packed returns an id of the same elements in C order:
// the array's own id, or a new one that the caller frees. ac_upload and ac_download copy bytes
// [offset, offset + bytes) of such an array; `offset` is a multiple of 4.
AC_EXPORT(ac_create_unset)
int32_t ac_create_unset(int32_t dtype, int32_t ndim, const int64_t* shape);
AC_EXPORT(ac_packed) int32_t ac_packed(int32_t id);
AC_EXPORT(ac_upload) int32_t ac_upload(int32_t id, double offset, const void* data, size_t bytes);
AC_EXPORT(ac_download) int32_t ac_download(int32_t id, double offset, void* out, size_t bytes);

// Reads the only element of an array as a double, and returns 1. If a double cannot hold it exactly
// (64-bit integers, complex numbers), or if the array does not have exactly one element, it does
// nothing and returns 0; then use ac_read.
AC_EXPORT(ac_item) int32_t ac_item(int32_t id, double* out);

// Writes the dtype, the number of dimensions, the shape, and the strides in bytes: at most
// AC_DESCRIPTION_WORDS numbers.
#define AC_DESCRIPTION_WORDS (2 + 2 * 32)
AC_EXPORT(ac_describe) int32_t ac_describe(int32_t id, int64_t* out);

// Frees `count` arrays. Python calls it for arrays that the next operations do not free as freed_a
// or freed_b.
AC_EXPORT(ac_free) int32_t ac_free(int32_t count, const int32_t* ids);

// ---- operations
//
// A ufunc's number is its position in the operation table. ac_ufunc_number returns it for NumPy's
// name, or -1. Results are new arrays; the functions return their ids.
AC_EXPORT(ac_ufunc_number) int32_t ac_ufunc_number(const char* name);

// The most frequent calls, whose arguments are plain numbers: `ufunc(a)`, `ufunc(a, b)`, and
// `ufunc(a, value)` or, with `left`, `ufunc(value, a)`. `kind` is one of ac_scalar_kind; integers
// must be below 2^53 (ac_call takes larger ones). `freed_a` and `freed_b` are freed first.
enum ac_scalar_kind {
  AC_PYTHON_INT = 0,      // weak
  AC_PYTHON_FLOAT = 1,    // weak
  AC_PYTHON_COMPLEX = 2,  // weak; ac_call only
  AC_PYTHON_BOOL = 3,     // NumPy's bool
  AC_NUMPY_SCALAR = 4     // of a NumPy dtype; ac_call only
};
AC_EXPORT(ac_unary) int32_t ac_unary(int32_t ufunc, int32_t a, int32_t freed_a, int32_t freed_b);
AC_EXPORT(ac_binary)
int32_t ac_binary(int32_t ufunc, int32_t a, int32_t b, int32_t freed_a, int32_t freed_b);
AC_EXPORT(ac_binary_scalar)
int32_t ac_binary_scalar(int32_t ufunc, int32_t a, double value, int32_t kind, int32_t left,
                         int32_t freed_a, int32_t freed_b);

// Runs an operation that has no function of its own. `words` are its arguments, 32 bits each;
// 64-bit integers and doubles are two, the low one first. operations.h describes the words of each
// operation. Malformed words are refused (internal, "bad_call"). Returns an id, or the number that
// the operation defines.
AC_EXPORT(ac_call)
int32_t ac_call(int32_t operation, const int32_t* words, int32_t count, int32_t freed_a,
                int32_t freed_b);

// Makes a kernel from a user's texts. Returns its number, which is at least 0 and valid until
// ac_close. `texts` are fields that each end with a zero byte, in the order given in
// calls/kernels.h. An error in a text is reported by the first call that compiles it.
enum ac_kernel_kind {
  AC_KERNEL_ELEMENTWISE = 0,
  AC_KERNEL_REDUCTION = 1,
  AC_KERNEL_RAW = 2,
  AC_KERNEL_PROGRAM = 3
};
AC_EXPORT(ac_kernel) int32_t ac_kernel(int32_t kind, const char* texts, size_t bytes);

// Returns the device's vendor, architecture, name and description, one on each line; "" for the
// CPU. Valid until the next call.
AC_EXPORT(ac_device_text) const char* ac_device_text(void);

// Returns the last profile in the format of src/runtime/profile.h. The text is valid until the next
// profile ends.
AC_EXPORT(ac_profile_text) const char* ac_profile_text(void);

enum ac_counter_name {
  AC_CROSSINGS = 0,           // calls of this interface, without ac_counter itself
  AC_LIVE_BYTES = 1,          // storage of arrays
  AC_PEAK_BYTES = 2,          // the maximum of it
  AC_LIVE_ARRAYS = 3,         //
  AC_DISPATCHES = 4,          // kernels launched
  AC_CPU_OPS = 5,             // operations that the CPU did for a GPU back end
  AC_BYTES_UP = 6,            // bytes to the back end's storage
  AC_BYTES_DOWN = 7,          // bytes from the back end's storage
  AC_SYNC_WAITS = 8,          // times that the caller waited for a device
  AC_HEAP_BYTES = 9,          // of this module's memory, in WebAssembly; natively 0
  AC_DEVICE_BYTES = 10,       // buffers of the device, including those kept for later
  AC_TIMER_NANOSECONDS = 11,  // measured by the last AC_CALL_TIMER_END
  AC_DEVICE_FLAGS = 12,       // bits of ac_device_flag
  AC_FUSED = 13,              // operations that needed no dispatch of their own
  AC_CPU_THREADS = 14,        // threads that compute on the CPU now, including the calling one
  AC_COUNTERS = 15
};
enum ac_device_flag { AC_DEVICE_HAS_CLOCK = 4, AC_DEVICE_IS_SOFTWARE = 8 };
// Returns a counter's value since ac_open or ac_reset (for a peak: the highest value), or -1 if the
// counter does not exist.
AC_EXPORT(ac_counter) double ac_counter(int32_t name);

// Serves as helper thread `thread` (1, 2, ...) of the CPU back end, and does not return. In a
// browser the thread has an instance of this module on the same memory, with its own stack.
// Natively any thread may call it.
AC_EXPORT(ac_thread_serve) void ac_thread_serve(int32_t thread);

#ifdef __cplusplus
}
#endif
