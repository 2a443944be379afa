// Series as bytes. One after the other, each series has: its number, how many values it has, one
// byte of flags, its steps unless they are those of the series before it, and its values. Numbers,
// counts and the differences of steps are varints of 7 bits a byte, the lowest first. Values are
// doubles, or floats if every value of the series is one; both little-endian.
//
//   Packer packer;
//   packer.add(id, steps, values);
//   for (Unpacker all(packer.bytes()); all.next();) use(all.id(), all.steps(), all.values());
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hyperflock::storage::sqlite {

class Packer {
 public:
  // REQUIRES: as many values as steps, at least one; steps grow.
  void add(std::int64_t id, const std::vector<std::int64_t>& steps,
           const std::vector<double>& values);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::vector<std::int64_t> steps_;  // of the series before
};

// Throws SqliteError (SQLITE_CORRUPT) for bytes that a Packer has not made.
class Unpacker {
 public:
  // `bytes` must outlive it.
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  // Goes to the next series. Returns false at the end.
  bool next();
  std::int64_t id() const { return id_; }
  const std::vector<std::int64_t>& steps() const { return steps_; }
  std::size_t size() const { return steps_.size(); }
  // The values of this series, and its last one.
  const std::vector<double>& values();
  double last_value() const { return value(steps_.size() - 1); }

 private:
  std::uint64_t varint();
  std::string_view take(std::size_t bytes);
  double value(std::size_t place) const;

  std::string_view left_;
  std::string_view packed_values_;
  std::int64_t id_ = 0;
  bool floats_ = false;
  std::vector<std::int64_t> steps_;
  std::vector<double> values_;
};

}  // namespace hyperflock::storage::sqlite
