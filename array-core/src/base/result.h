// Result<T> holds a value or an Error. array-core throws no exceptions, because its builds for
// browsers have none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace arraycore {

// The kinds of errors; each becomes one Python exception. The numbers are part of the C interface
// (include/arraycore/arraycore.h).
enum class ErrorKind : std::uint8_t {
  none = 0,
  value = 1,            // ValueError: shapes that do not broadcast, an axis out of range
  type = 2,             // TypeError: a dtype that an operation does not take
  index = 3,            // IndexError
  memory = 4,           // MemoryError: over the byte budget, after trimming
  not_implemented = 5,  // NotImplementedError, naming what is missing
  compile = 6,          // arraycore.CompileError: line, column and a caret in the message
  device_lost = 7,      // arraycore.DeviceLostError: arrays of the lost device raise it too
  device = 8,           // arraycore.DeviceError: validation or shader error, names the command
  interrupted = 9,      // KeyboardInterrupt: revoked or Ctrl-C while waiting
  timed_out = 10,       // TimeoutError: the executor did not answer
  internal = 11,        // a bug of array-core's own
};

// `code` is stable and listed in array-core/docs/errors.md. `message` is one sentence that says
// what to do. It names the operation and, if there is one, the kernel.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string code;
  std::string message;
  bool operator==(const Error&) const = default;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // REQUIRES: !ok().
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

struct Done {
  bool operator==(const Done&) const = default;
};
using Status = Result<Done>;

}  // namespace arraycore

// TRY(const auto& x, f()) declares x as the value of the Result that f() returns. If f() returns an
// Error, the function that contains TRY returns it.
#define TRY(declaration, ...)                                                 \
  auto ARRAYCORE_RESULT(__LINE__) = __VA_ARGS__;                              \
  if (!ARRAYCORE_RESULT(__LINE__)) return ARRAYCORE_RESULT(__LINE__).error(); \
  declaration = *ARRAYCORE_RESULT(__LINE__)
// TRY_DONE(f()) is TRY for a Status, which has no value.
#define TRY_DONE(...)                                                                   \
  if (const auto ARRAYCORE_RESULT(__LINE__) = __VA_ARGS__; !ARRAYCORE_RESULT(__LINE__)) \
  return ARRAYCORE_RESULT(__LINE__).error()
#define ARRAYCORE_RESULT(line) ARRAYCORE_RESULT_OF(line)
#define ARRAYCORE_RESULT_OF(line) result_##line
