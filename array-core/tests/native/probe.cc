// Gives the dtypes and views of array-core to array_core_fuzz/probe.py, as plain integers and
// pointers. A dtype is the number of the DType. Any thread.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "cast.h"
#include "dtype/promotion.h"
#include "program.h"
#include "view/overlap.h"
#include "view/shape.h"

namespace {

using namespace arraycore;

// Writes a text to a caller's buffer, with a zero byte at its end.
void put_text(const std::string& text, char* out, std::int64_t capacity) {
  if (capacity <= 0) return;
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(capacity - 1));
  std::memcpy(out, text.data(), length);
  out[length] = 0;
}

View read_view(probe::Words& words) {
  View view;
  view.offset = words.next();
  const std::int64_t ndim = words.next();
  for (std::int64_t i = 0; i < ndim; ++i) view.shape.push_back(words.next());
  for (std::int64_t i = 0; i < ndim; ++i) view.strides.push_back(words.next());
  return view;
}

}  // namespace

extern "C" {

std::int32_t probe_promote(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(promote(static_cast<DType>(a), static_cast<DType>(b)));
}

// A scalar is a dtype, or -1, -2, -3 for Python's int, float, complex.
std::int32_t probe_result_type(std::int32_t mode, const std::int64_t* arrays,
                               std::int64_t array_count, const std::int64_t* scalars,
                               std::int64_t scalar_count) {
  std::vector<DType> dtypes;
  dtypes.reserve(static_cast<std::size_t>(array_count));
  for (std::int64_t i = 0; i < array_count; ++i) dtypes.push_back(static_cast<DType>(arrays[i]));
  std::vector<ScalarOperand> operands;
  operands.reserve(static_cast<std::size_t>(scalar_count));
  for (std::int64_t i = 0; i < scalar_count; ++i)
    operands.push_back(scalars[i] < 0
                           ? ScalarOperand::of(static_cast<PythonScalar>(-1 - scalars[i]))
                           : ScalarOperand::of(static_cast<DType>(scalars[i])));
  return static_cast<std::int32_t>(result_type(static_cast<PromotionMode>(mode), dtypes, operands));
}

std::int32_t probe_can_cast(std::int32_t from, std::int32_t to, std::int32_t casting) {
  return can_cast(static_cast<DType>(from), static_cast<DType>(to), static_cast<Casting>(casting))
             ? 1
             : 0;
}

// Returns 0. On an error, returns the number of its kind and writes its message to `message`.
std::int32_t probe_check_fits(std::int32_t negative, std::uint64_t magnitude, std::int32_t beyond,
                              std::int32_t dtype, char* message, std::int64_t capacity) {
  const Status status =
      check_fits({negative != 0, magnitude, beyond != 0}, static_cast<DType>(dtype));
  if (status.ok()) return 0;
  put_text(status.error().message, message, capacity);
  return static_cast<std::int32_t>(status.error().kind);
}

void probe_cast(std::int32_t from, const std::byte* src, std::int64_t src_stride, std::int32_t to,
                std::byte* dst, std::int64_t dst_stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    probe::cast_element(static_cast<DType>(from), src + i * src_stride, static_cast<DType>(to),
                        dst + i * dst_stride);
}

// `words` has the ranks and then the extents of `count` shapes. Returns 0 and the result (its rank,
// its extents), or the error's kind with its message.
std::int32_t probe_broadcast_shapes(const std::int64_t* words, std::int64_t word_count,
                                    std::int64_t count, std::int64_t* result, char* message,
                                    std::int64_t capacity) {
  probe::Words reader(std::span(words, static_cast<std::size_t>(word_count)));
  std::vector<Dims> shapes(static_cast<std::size_t>(count));
  for (Dims& shape : shapes) {
    const std::int64_t ndim = reader.next();
    for (std::int64_t i = 0; i < ndim; ++i) shape.push_back(reader.next());
  }
  const auto common = broadcast_shapes(shapes);
  if (!common.ok()) {
    put_text(common.error().message, message, capacity);
    return static_cast<std::int32_t>(common.error().kind);
  }
  *result++ = common->size();
  std::copy(common->begin(), common->end(), result);
  return 0;
}

// Compares views. `words` has, for each pair, the offset, rank, extents, strides and item size of
// both views. `answers` gets the numbers of Overlap.
void probe_overlap(const std::int64_t* words, std::int64_t word_count, std::int64_t pairs,
                   std::int64_t max_work, std::uint8_t* answers) {
  probe::Words reader(std::span(words, static_cast<std::size_t>(word_count)));
  for (std::int64_t i = 0; i < pairs; ++i) {
    const View a = read_view(reader);
    const auto a_size = static_cast<std::size_t>(reader.next());
    const View b = read_view(reader);
    const auto b_size = static_cast<std::size_t>(reader.next());
    answers[i] = static_cast<std::uint8_t>(overlap(a, a_size, b, b_size, max_work));
  }
}

// Runs `programs` programs (program.h), which follow one another in `words`. sizes[0] and sizes[1]
// are the capacities of `results` (words) and `contents` (bytes), and afterwards the sizes written.
// Returns -1 if they are too small, or if the words are invalid.
std::int32_t probe_run(const std::int64_t* words, std::int64_t word_count, std::int64_t programs,
                       std::int64_t* results, std::byte* contents, std::int64_t* sizes) {
  probe::Words reader(std::span(words, static_cast<std::size_t>(word_count)));
  probe::Machine machine;
  std::vector<std::int64_t> all_results;
  std::vector<std::byte> all_contents;
  for (std::int64_t i = 0; i < programs; ++i) machine.run(reader, all_results, all_contents);
  if (reader.broken() || all_results.size() > static_cast<std::size_t>(sizes[0]) ||
      all_contents.size() > static_cast<std::size_t>(sizes[1]))
    return -1;
  std::copy(all_results.begin(), all_results.end(), results);
  std::copy(all_contents.begin(), all_contents.end(), contents);
  sizes[0] = static_cast<std::int64_t>(all_results.size());
  sizes[1] = static_cast<std::int64_t>(all_contents.size());
  return 0;
}

// Writes the message of the last error of one program, or an empty text.
void probe_message(const std::int64_t* words, std::int64_t word_count, char* message,
                   std::int64_t capacity) {
  probe::Words reader(std::span(words, static_cast<std::size_t>(word_count)));
  probe::Machine machine;
  std::vector<std::int64_t> results;
  std::vector<std::byte> contents;
  machine.run(reader, results, contents);
  put_text(machine.last_message(), message, capacity);
}

}  // extern "C"
