#include "program.h"

#include <optional>

#include "cast.h"
#include "view/reinterpret.h"
#include "view/reshape.h"
#include "view/shape.h"

namespace arraycore::probe {
namespace {

std::byte pattern(std::uint64_t position) {
  const auto mixed = static_cast<std::uint32_t>(position) * 2654435761U;
  return static_cast<std::byte>(mixed >> 13);
}

using List = std::vector<std::int64_t>;

// Reads a list; nullopt if its length is -1.
std::optional<List> read_list(Words& words) {
  const std::int64_t length = words.next();
  if (length < 0) return std::nullopt;
  List list;
  for (std::int64_t i = 0; i < length && !words.broken(); ++i) list.push_back(words.next());
  return list;
}

std::vector<Index> read_indices(Words& words) {
  const std::int64_t count = words.next();
  std::vector<Index> indices;
  for (std::int64_t i = 0; i < count && !words.broken(); ++i) {
    switch (static_cast<Index::Kind>(words.next())) {
      case Index::Kind::integer:
        indices.push_back(Index::at(words.next()));
        break;
      case Index::Kind::slice: {
        const std::int64_t given = words.next();
        const auto part = [&](std::int64_t bit) -> std::optional<std::int64_t> {
          const std::int64_t value = words.next();
          return (given & bit) != 0 ? std::optional(value) : std::nullopt;
        };
        const auto start = part(1);
        const auto stop = part(2);
        const auto step = part(4);
        indices.push_back(Index::slice(start, stop, step));
        break;
      }
      case Index::Kind::newaxis:
        indices.push_back(Index::newaxis());
        break;
      case Index::Kind::ellipsis:
        indices.push_back(Index::ellipsis());
        break;
    }
  }
  return indices;
}

Error broken_program() {
  return {ErrorKind::internal, "broken_program", "the words make no sense"};
}

}  // namespace

Result<Machine::Array> Machine::fresh(DType dtype, const Dims& shape) {
  const auto bytes = checked_bytes(shape, size_of(dtype));
  if (!bytes.ok()) return bytes.error();
  storages_.emplace_back(static_cast<std::size_t>(*bytes));
  return Array{storages_.size() - 1, dtype, contiguous(shape, size_of(dtype))};
}

Result<Machine::Array> Machine::create(Words& words) {
  const auto dtype = static_cast<DType>(words.next());
  const auto seed = static_cast<std::uint64_t>(words.next());
  const auto shape = read_list(words);
  if (!shape || shape->size() > static_cast<std::size_t>(kMaxDims)) return broken_program();
  auto made = fresh(dtype, Dims(*shape));
  if (!made.ok()) return made;
  std::vector<std::byte>& bytes = storages_.back();
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(seed + i);
  return made;
}

// Returns a new array of `shape` with the source's elements in C order.
Result<Machine::Array> Machine::copied(const Array& source, DType dtype, const Dims& shape) {
  auto target = fresh(dtype, shape);
  if (!target.ok()) return target;
  const View dense = contiguous(source.view.shape, size_of(dtype));
  cast_view(storages_[target->storage].data(), dense, dtype, storages_[source.storage].data(),
            source.view, source.dtype);
  return target;
}

Status Machine::assign(const Array& target, const Array& source) {
  const auto from = broadcast_for_assignment(source.view, target.view.shape);
  if (!from.ok()) return from.error();
  cast_view(storages_[target.storage].data(), target.view, target.dtype,
            storages_[source.storage].data(), *from, source.dtype);
  return Done{};
}

Result<Machine::Array> Machine::step(StepOp op, Words& words) {
  if (op == StepOp::create) return create(words);
  const auto number = static_cast<std::size_t>(words.next());
  if (number >= arrays_.size()) return broken_program();
  const Array source = arrays_[number];
  const View& view = source.view;
  const auto of = [&](const Result<View>& result) -> Result<Array> {
    if (!result.ok()) return result.error();
    return Array{source.storage, source.dtype, *result};
  };
  const auto reshaped = [&](const Reshaped& result) -> Result<Array> {
    if (result.view) return Array{source.storage, source.dtype, *result.view};
    return copied(source, source.dtype, result.shape);
  };
  switch (op) {
    case StepOp::create:
      break;
    case StepOp::index:
      return of(basic_index(view, read_indices(words)));
    case StepOp::transpose: {
      const auto axes = read_list(words);
      return of(axes ? transpose(view, *axes) : transpose(view));
    }
    case StepOp::swap_axes: {
      const std::int64_t axis1 = words.next();
      return of(swap_axes(view, axis1, words.next()));
    }
    case StepOp::move_axes: {
      const auto from = read_list(words);
      const auto to = read_list(words);
      if (!from || !to) return broken_program();
      return of(move_axes(view, *from, *to));
    }
    case StepOp::reshape: {
      const auto shape = read_list(words);
      if (!shape) return broken_program();
      const auto result = reshape(view, *shape, size_of(source.dtype));
      if (!result.ok()) return result.error();
      return reshaped(*result);
    }
    case StepOp::ravel:
      return reshaped(ravel(view, size_of(source.dtype)));
    case StepOp::broadcast: {
      const auto shape = read_list(words);
      if (!shape || shape->size() > static_cast<std::size_t>(kMaxDims)) return broken_program();
      return of(broadcast_to(view, Dims(*shape)));
    }
    case StepOp::squeeze: {
      const auto axes = read_list(words);
      return of(axes ? squeeze(view, *axes) : squeeze(view));
    }
    case StepOp::expand_dims: {
      const auto axes = read_list(words);
      if (!axes) return broken_program();
      return of(expand_dims(view, *axes));
    }
    case StepOp::diagonal: {
      const std::int64_t offset = words.next();
      const std::int64_t axis1 = words.next();
      return of(diagonal(view, offset, axis1, words.next()));
    }
    case StepOp::flip: {
      const auto axes = read_list(words);
      return of(axes ? flip(view, *axes) : flip(view));
    }
    case StepOp::reinterpret: {
      const auto dtype = static_cast<DType>(words.next());
      auto result = of(reinterpret(view, source.dtype, dtype));
      if (result.ok()) result->dtype = dtype;
      return result;
    }
    case StepOp::real:
    case StepOp::imag: {
      const View part =
          op == StepOp::real ? real_part(view, source.dtype) : imag_part(view, source.dtype);
      return Array{source.storage, part_dtype(source.dtype), part};
    }
    case StepOp::copy:
      return copied(source, source.dtype, view.shape);
    case StepOp::astype:
      return copied(source, static_cast<DType>(words.next()), view.shape);
    case StepOp::assign: {
      const auto from = static_cast<std::size_t>(words.next());
      if (from >= arrays_.size()) return broken_program();
      const Status done = assign(source, arrays_[from]);
      if (!done.ok()) return done.error();
      return source;
    }
  }
  return broken_program();
}

void Machine::describe(const Array& array, std::vector<std::int64_t>& results) const {
  const View& view = array.view;
  const bool empty = view.count() == 0;
  results.push_back(view.ndim());
  results.insert(results.end(), view.shape.begin(), view.shape.end());
  for (int axis = 0; axis < view.ndim(); ++axis)
    results.push_back(empty || view.shape[axis] < 2 ? 0 : view.strides[axis]);
  const std::size_t size = size_of(array.dtype);
  results.push_back((is_c_contiguous(view, size) ? 1 : 0) + (is_f_contiguous(view, size) ? 2 : 0));
}

void Machine::run(Words& words, std::vector<std::int64_t>& results,
                  std::vector<std::byte>& contents) {
  storages_.clear();
  arrays_.clear();
  last_message_.clear();
  const std::int64_t steps = words.next();
  for (std::int64_t i = 0; i < steps && !words.broken(); ++i) {
    const auto op = static_cast<StepOp>(words.next());
    const std::size_t storages = storages_.size();
    auto result = step(op, words);
    if (result.ok()) {
      const auto bytes = static_cast<std::int64_t>(storages_[result->storage].size());
      const Status inside = check_view(result->view, size_of(result->dtype), bytes);
      if (!inside.ok())
        result = Error{ErrorKind::internal, inside.error().code, inside.error().message};
    }
    if (!result.ok()) {
      last_message_ = result.error().message;
      results.push_back(static_cast<std::int64_t>(result.error().kind));
      continue;
    }
    results.push_back(0);
    if (op == StepOp::assign) continue;
    describe(*result, results);
    results.push_back(storages_.size() > storages && result->view.count() > 0 ? 1 : 0);
    arrays_.push_back(*result);
  }
  for (const Array& array : arrays_) {
    const std::size_t size = size_of(array.dtype);
    const std::size_t at = contents.size();
    contents.resize(at + static_cast<std::size_t>(array.view.count()) * size);
    if (contents.size() == at) continue;
    cast_view(contents.data() + at, contiguous(array.view.shape, size), array.dtype,
              storages_[array.storage].data(), array.view, array.dtype);
  }
  for (const auto& storage : storages_)
    contents.insert(contents.end(), storage.begin(), storage.end());
}

}  // namespace arraycore::probe
