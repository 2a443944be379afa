// Rows as PostgreSQL's COPY has them in its binary format, and what identifies the rows of a table.
// Pure.
//
//   tuple: number of fields (2 bytes), then for each field its length (4 bytes, -1: NULL) and its
//   bytes; all numbers with the most significant byte first
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hyperflock::storage::move {

// Appends a tuple's parts to a text.
void begin_tuple(std::string& out, std::size_t fields);
void append_null(std::string& out);
void append_integer(std::string& out, std::int64_t value);
void append_real(std::string& out, double value);
void append_bytes(std::string& out, std::string_view bytes);

// What COPY sends before the first tuple and after the last.
std::string_view copy_header();
std::string_view copy_trailer();

struct Field {
  bool null = true;
  std::string_view bytes{};
};
std::int64_t integer_of(const Field& field);
double real_of(const Field& field);

// Reads the fields of a whole tuple. Throws std::runtime_error if it is malformed.
class Fields {
 public:
  explicit Fields(std::string_view tuple);
  // Returns false after the last field.
  bool next(Field& field);
  std::size_t count() const { return count_; }

 private:
  std::string_view rest_;
  std::size_t count_ = 0;
  std::size_t read_ = 0;
};

// Splits what COPY sends into tuples, wherever its pieces end.
class CopyStream {
 public:
  void feed(std::string_view piece, const std::function<void(std::string_view)>& use);
  // Returns whether the trailer came, after which nothing comes.
  bool ended() const { return ended_; }

 private:
  std::string left_;
  bool has_header_ = false;
  bool ended_ = false;
};

// How many rows there are, and the sum of their SHA-256. Two tables with the same sum have the same
// rows, in whatever order they were read.
class RowSum {
 public:
  void add(std::string_view tuple);
  std::int64_t rows() const { return rows_; }
  bool operator==(const RowSum&) const = default;

 private:
  std::int64_t rows_ = 0;
  std::array<std::uint64_t, 4> sum_{};  // each modulo 2^64
};

}  // namespace hyperflock::storage::move
