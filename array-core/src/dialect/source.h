// The texts of one kernel (preamble, operation and so on), positions in them, and the first error
// with its line, column, source line and caret. One object serves one compilation, on one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace arraycore::dialect {

struct Where {
  std::uint32_t text = 0;    // the number of the text
  std::uint32_t offset = 0;  // byte
};

class Sources {
 public:
  explicit Sources(std::string kernel) : kernel_(std::move(kernel)) {}

  // Adds a text and keeps a copy. `label` is CuPy's name of the argument, such as "operation".
  std::uint32_t add(std::string label, std::string_view text);
  std::string_view text(std::uint32_t index) const { return texts_[index].text; }
  const std::string& kernel() const { return kernel_; }

  // Keeps only the first error, because later ones are often its consequences.
  void fail(Where where, std::string_view message) {
    fail(where, message, ErrorKind::compile, "kernel_text");
  }
  void fail(Where where, std::string_view message, ErrorKind kind, std::string code);
  bool failed() const { return error_.has_value(); }
  // REQUIRES: failed().
  const Error& error() const { return *error_; }

 private:
  struct Text {
    std::string label;
    std::string text;
  };
  std::string kernel_;
  std::deque<Text>
      texts_;  // a deque, so that views into the texts stay valid while others are added
  std::optional<Error> error_;
};

}  // namespace arraycore::dialect
