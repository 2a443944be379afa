// Result<T>: a value or an Error. For failures that are expected; exceptions are for start-up and
// bugs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace hyperflock {

// `code` is stable and listed in server/docs; `message` is one sentence that tells what to do.
struct Error {
  std::string code;
  std::string message;
  std::string field{};             // path of the offending field, where there is one
  std::int64_t retry_after_s = 0;  // when the same may be tried again; 0: not known
  bool operator==(const Error&) const = default;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor): functions return values and errors as they are
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // REQUIRES: !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Done {
  bool operator==(const Done&) const = default;
};
using Status = Result<Done>;

}  // namespace hyperflock
