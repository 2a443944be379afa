// Packs series into bytes. Each series has: its number, the number of its values, one byte of
// flags, its steps unless they equal those of the previous series, and its values. Numbers, counts
// and the differences of steps are varints with 7 bits in each byte, the lowest bits first. Values
// are doubles, or floats if every value of the series is exact as a float; both little-endian.
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
  // REQUIRES: as many values as steps, at least one of each; steps in ascending order.
  void add(std::int64_t id, const std::vector<std::int64_t>& steps,
           const std::vector<double>& values);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::vector<std::int64_t> steps_;  // of the series before
};

// Throws SqliteError (SQLITE_CORRUPT) if the bytes do not come from a Packer.
class Unpacker {
 public:
  // `bytes` must outlive this object.
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  // Goes to the next series. Returns false at the end.
  bool next();
  std::int64_t id() const { return id_; }
  const std::vector<std::int64_t>& steps() const { return steps_; }
  std::size_t size() const { return steps_.size(); }
  // The values of the current series, and the last of them.
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
