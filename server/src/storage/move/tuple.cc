// See tuple.h.
#include "storage/move/tuple.h"

#include <bit>
#include <charconv>
#include <stdexcept>

#include "blobs/sha256.h"

namespace hyperflock::storage::move {
namespace {

constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kWordDigits = 16;

// 11 bytes of a signature, 4 of flags and 4 of the length of an extension.
constexpr std::string_view kHeader{"PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19};
constexpr std::string_view kTrailer{"\377\377", 2};

template <typename Number>
void append_number(std::string& out, Number number) {
  for (int shift = 8 * (static_cast<int>(sizeof number) - 1); shift >= 0; shift -= 8)
    out += static_cast<char>((static_cast<std::uint64_t>(number) >> shift) & 0xff);
}

template <typename Number>
Number number_at(std::string_view text) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value = value << 8 | static_cast<unsigned char>(text[i]);
  return static_cast<Number>(value);
}

[[noreturn]] void malformed() { throw std::runtime_error("a row of COPY is malformed"); }

// Returns the length of the whole tuple at the beginning of a text; 0: more has to come.
std::size_t tuple_length(std::string_view text) {
  if (text.size() < 2) return 0;
  const auto fields = number_at<std::int16_t>(text);
  if (fields < 0) malformed();
  std::size_t length = 2;
  for (std::int16_t i = 0; i < fields; ++i) {
    if (text.size() < length + 4) return 0;
    const auto bytes = number_at<std::int32_t>(text.substr(length));
    length += 4 + (bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  }
  return text.size() < length ? 0 : length;
}

}  // namespace

void begin_tuple(std::string& out, std::size_t fields) {
  append_number(out, static_cast<std::int16_t>(fields));
}
void append_null(std::string& out) { append_number(out, std::int32_t{-1}); }
void append_integer(std::string& out, std::int64_t value) {
  append_number(out, std::int32_t{8});
  append_number(out, value);
}
void append_real(std::string& out, double value) {
  append_integer(out, std::bit_cast<std::int64_t>(value));
}
void append_bytes(std::string& out, std::string_view bytes) {
  append_number(out, static_cast<std::int32_t>(bytes.size()));
  out += bytes;
}

std::string_view copy_header() { return kHeader; }
std::string_view copy_trailer() { return kTrailer; }

std::int64_t integer_of(const Field& field) {
  if (field.bytes.size() != sizeof(std::int64_t)) malformed();
  return number_at<std::int64_t>(field.bytes);
}
double real_of(const Field& field) { return std::bit_cast<double>(integer_of(field)); }

Fields::Fields(std::string_view tuple) : rest_(tuple) {
  if (tuple_length(tuple) != tuple.size()) malformed();
  count_ = static_cast<std::size_t>(number_at<std::int16_t>(tuple));
  rest_.remove_prefix(2);
}

bool Fields::next(Field& field) {
  if (read_ == count_) return false;
  ++read_;
  const auto length = number_at<std::int32_t>(rest_);
  rest_.remove_prefix(4);
  field.null = length < 0;
  field.bytes = rest_.substr(0, field.null ? 0 : static_cast<std::size_t>(length));
  rest_.remove_prefix(field.bytes.size());
  return true;
}

void CopyStream::feed(std::string_view piece, const std::function<void(std::string_view)>& use) {
  left_ += piece;
  std::string_view rest = left_;
  if (!has_header_) {
    if (rest.size() < kHeader.size()) return;
    const auto extension = number_at<std::uint32_t>(rest.substr(kHeader.size() - 4));
    if (rest.size() < kHeader.size() + extension) return;
    rest.remove_prefix(kHeader.size() + extension);
    has_header_ = true;
  }
  while (!ended_) {
    if (rest.starts_with(kTrailer)) {
      ended_ = true;
      rest.remove_prefix(kTrailer.size());
      break;
    }
    const std::size_t length = tuple_length(rest);
    if (length == 0) break;
    use(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  left_.erase(0, left_.size() - rest.size());
}

void RowSum::add(std::string_view tuple) {
  ++rows_;
  const std::string hash = blobs::sha256_hex(tuple);
  if (hash.size() != kHashDigits) throw std::logic_error("not a SHA-256");
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    std::uint64_t word = 0;
    const char* from = hash.data() + kWordDigits * i;
    std::from_chars(from, from + kWordDigits, word, 16);
    sum_[i] += word;
  }
}

}  // namespace hyperflock::storage::move
