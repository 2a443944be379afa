#include "dialect/source.h"

#include <algorithm>

namespace arraycore::dialect {
namespace {

// Only a part of a longer source line is shown, around the caret.
constexpr std::size_t kShownBytes = 120;

bool continues_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_code_point(c); }));
}

}  // namespace

std::uint32_t Sources::add(std::string label, std::string_view text) {
  texts_.push_back({std::move(label), std::string(text)});
  return static_cast<std::uint32_t>(texts_.size() - 1);
}

void Sources::fail(Where where, std::string_view message, ErrorKind kind, std::string code) {
  if (error_) return;
  std::string out = "kernel '" + kernel_ + "'";
  if (where.text < texts_.size()) {
    const auto& [label, text] = texts_[where.text];
    const std::size_t offset = std::min<std::size_t>(where.offset, text.size());
    const std::size_t newline = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
    std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    std::size_t end = std::min(text.find('\n', offset), text.size());
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
    const std::string_view all = text;
    const std::size_t column = 1 + code_points(all.substr(begin, offset - begin));
    out += ", " + label + ", line " + std::to_string(line) + ", column " + std::to_string(column);
    out += ": ";
    out += message;
    if (offset - begin > kShownBytes / 2) {
      begin = offset - kShownBytes / 2;
      while (begin < offset && continues_code_point(text[begin])) ++begin;
    }
    if (end - begin > kShownBytes) {
      end = begin + kShownBytes;
      while (end > offset && end < text.size() && continues_code_point(text[end])) --end;
    }
    std::string shown(all.substr(begin, end - begin));
    for (char& c : shown)
      if (c == '\r' || c == '\0') c = ' ';
    out += "\n  " + shown + "\n  ";
    for (const char c : all.substr(begin, offset - begin))
      if (!continues_code_point(c)) out += c == '\t' ? '\t' : ' ';
    out += '^';
  } else {
    out += ": ";
    out += message;
  }
  error_ = Error{kind, std::move(code), std::move(out)};
}

}  // namespace arraycore::dialect
