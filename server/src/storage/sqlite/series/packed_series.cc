// See packed_series.h.
#include "storage/sqlite/series/packed_series.h"

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {
namespace {

constexpr char kFloats = 1;
constexpr char kStepsOfTheSeriesBefore = 2;
constexpr int kMostVarintBytes = 10;

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(0x80 | (value & 0x7f));
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// Returns whether a float can hold the value exactly. This is true for every NaN, although a float
// may lose bits of its payload.
bool is_float(double value) {
  return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value;
}

template <typename Number>
void append_number(std::string& out, double value) {
  const auto number = static_cast<Number>(value);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename Number>
double number_at(std::string_view bytes, std::size_t place) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + place * sizeof(Number), sizeof(Number));
  return static_cast<double>(number);
}

static_assert(std::endian::native == std::endian::little, "values are stored little-endian");

[[noreturn]] void corrupt() { throw SqliteError(SQLITE_CORRUPT, "a series cannot be unpacked"); }

}  // namespace

void Packer::add(std::int64_t id, const std::vector<std::int64_t>& steps,
                 const std::vector<double>& values) {
  const bool floats = std::ranges::all_of(values, is_float);
  const bool same = steps == steps_;
  append_varint(bytes_, static_cast<std::uint64_t>(id));
  append_varint(bytes_, steps.size());
  bytes_ += static_cast<char>((floats ? kFloats : 0) | (same ? kStepsOfTheSeriesBefore : 0));
  if (!same) {
    std::int64_t before = 0;
    for (const std::int64_t step : steps) {
      append_varint(bytes_, static_cast<std::uint64_t>(step - before));
      before = step;
    }
    steps_ = steps;
  }
  for (const double value : values) {
    floats ? append_number<float>(bytes_, value) : append_number<double>(bytes_, value);
  }
}

bool Unpacker::next() {
  if (left_.empty()) return false;
  id_ = static_cast<std::int64_t>(varint());
  const std::uint64_t count = varint();
  const char flags = take(1).front();
  if ((flags & kStepsOfTheSeriesBefore) != 0) {
    if (count != steps_.size()) corrupt();
  } else {
    if (count > left_.size()) corrupt();
    steps_.resize(count);
    std::uint64_t step = 0;
    for (std::int64_t& one : steps_) one = static_cast<std::int64_t>(step += varint());
  }
  if (count == 0) corrupt();
  floats_ = (flags & kFloats) != 0;
  packed_values_ = take(steps_.size() * (floats_ ? sizeof(float) : sizeof(double)));
  return true;
}

const std::vector<double>& Unpacker::values() {
  values_.resize(steps_.size());
  for (std::size_t place = 0; place < values_.size(); ++place) values_[place] = value(place);
  return values_;
}

double Unpacker::value(std::size_t place) const {
  return floats_ ? number_at<float>(packed_values_, place)
                 : number_at<double>(packed_values_, place);
}

std::uint64_t Unpacker::varint() {
  std::uint64_t value = 0;
  for (int i = 0; i < kMostVarintBytes; ++i) {
    const auto byte = static_cast<unsigned char>(take(1).front());
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return value;
  }
  corrupt();
}

std::string_view Unpacker::take(std::size_t bytes) {
  if (bytes > left_.size()) corrupt();
  const std::string_view taken = left_.substr(0, bytes);
  left_.remove_prefix(bytes);
  return taken;
}

}  // namespace hyperflock::storage::sqlite
