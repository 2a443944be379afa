// Result<T> holds a value or an Error. It is std::expected<T, Error>, and an Error converts to it.
// Use it for expected failures, and exceptions for start-up and bugs. TRY takes the value out:
//
//   Result<std::string> name_of(StudyId id) {
//     TRY(const auto row, storage.study(id));  // returns the error if there is one
//     return row.name;
//   }
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace hyperflock {

// `code` is stable and listed in server/docs. `message` is one sentence that says what to do.
struct Error {
  std::string code;
  std::string message;
  std::string field{};             // path of the wrong field, if there is one
  std::int64_t retry_after_s = 0;  // when to try again; 0: not known
  bool operator==(const Error&) const = default;
};

template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): functions return an Error as it is
  Result(Error error) : std::expected<T, Error>(std::unexpect, std::move(error)) {}
};

using Status = Result<void>;

}  // namespace hyperflock

// TRY(declaration, expression) declares a variable with a Result's value. TRY(expression) ignores
// the value. If the Result is an error, both return it from the enclosing function.
#define TRY(...) TRY_PICK_(__VA_ARGS__, TRY_VALUE_, TRY_DONE_)(__VA_ARGS__)
#define TRY_PICK_(first, second, macro, ...) macro
#define TRY_DONE_(expression)                                                           \
  do {                                                                                  \
    if (auto TRY_NAME_ = (expression); !TRY_NAME_) return std::move(TRY_NAME_).error(); \
  } while (false)
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration has no parentheses.
#define TRY_VALUE_(declaration, expression)            \
  auto TRY_NAME_ = (expression);                       \
  if (!TRY_NAME_) return std::move(TRY_NAME_).error(); \
  declaration = *std::move(TRY_NAME_)
// NOLINTEND(bugprone-macro-parentheses)
#define TRY_NAME_ TRY_JOIN_(try_result_, __LINE__)
#define TRY_JOIN_(first, second) TRY_PASTE_(first, second)
#define TRY_PASTE_(first, second) first##second
