#include "operations/indexing/index_kernels.h"

#include <optional>
#include <utility>

#include "ir/builder.h"

namespace arraycore {

namespace {

using ir::Builder;
using ir::LocalRef;
using ir::Op;
using ir::ParamRef;
using ir::Value;

Value zero(Builder& k) { return k.integer(DType::int32, 0); }

// Returns an index as a number in [0, extent). Nearly every index is in this range already, or
// counts from the end. Only other indices need a division. The whole index is tested, because
// the low 32 bits of a 64-bit index may look valid although the index is not.
Value wrapped(Builder& k, Value index, Value extent, const std::string& name) {
  if (size_of(index.type) < 4) index = k.convert(DType::int32, index);
  const DType dtype = index.type;
  const LocalRef at = k.local(name, k.convert(DType::int32, index));
  if (kind_of(dtype) == Kind::signed_integer)
    k.if_(k.read(at) < zero(k), [&] { k.set(at, k.read(at) + extent); });
  Value good = k.apply(Op::logical_and, {k.read(at) >= zero(k), k.read(at) < extent});
  if (size_of(dtype) > 4)
    good =
        k.apply(Op::logical_and, {good, k.convert(dtype, k.convert(DType::int32, index)) == index});
  k.if_(!good, [&] {
    k.set(at, k.convert(DType::int32, k.apply(Op::modulo, {index, k.convert(dtype, extent)})));
  });
  return k.read(at);
}

// The parameters that describe the picked places. They follow the parameters of arrays.
struct Where {
  std::vector<ParamRef> picks;
  std::vector<ParamRef> extents;
  std::optional<ParamRef> kept;
};

Where add_where(Builder& k, const IndexSignature& signature) {
  Where where;
  for (std::size_t i = 0; i < signature.picks.size(); ++i)
    where.picks.push_back(k.in("index" + std::to_string(i), signature.picks[i].dtype));
  for (std::size_t i = 0; i < signature.picks.size(); ++i)
    where.extents.push_back(k.scalar("extent" + std::to_string(i), DType::int32));
  if (signature.spread) where.kept = k.scalar("kept", DType::int32);
  return where;
}

// Returns the C-order number of the picked place among the picked axes.
Value picked(Builder& k, const IndexSignature& signature, const Where& where) {
  std::optional<Value> at;
  for (std::size_t i = 0; i < signature.picks.size(); ++i) {
    const Value extent = k.read(where.extents[i]);
    const Value index = k.read(where.picks[i]);
    const Value one = signature.picks[i].checked
                          ? k.convert(DType::int32, index)
                          : wrapped(k, index, extent, "at" + std::to_string(i));
    at = at ? *at * extent + one : one;
  }
  return *at;
}

// Returns the C-order number of the array's element for this iteration of the loop: place * kept
// plus the iteration's number among the `kept` elements of each place.
Value element_of(Builder& k, const Where& where, Value place) {
  if (!where.kept) return place;
  const Value kept = k.read(*where.kept);
  return place * kept + k.loop_index() % kept;
}

// Returns the IR's atomic operation for an update.
Op atomic_of(IndexTask task) {
  if (task == IndexTask::add) return Op::atomic_add;
  return task == IndexTask::minimum ? Op::atomic_min : Op::atomic_max;
}

DType unsigned_of(std::size_t bytes) {
  if (bytes == 1) return DType::uint8;
  if (bytes == 2) return DType::uint16;
  return bytes == 4 ? DType::uint32 : DType::uint64;
}

// Updates the element by compare-and-exchange, which is repeated until no other update came in
// between. The CPU runs the loop in order, so it also updates an element in that order.
void apply(Builder& k, const IndexSignature& signature, ParamRef array, Value at, Value operand) {
  const DType bits = array.type;
  const bool widen = signature.ufunc->half == ops::UFunc::Half::in_float32 &&
                     signature.loop.operands[0] == DType::float16;
  const auto taken = [&](Value value, DType type) {
    const Value converted = k.convert(type, value);
    return widen ? k.convert(DType::float32, converted) : converted;
  };
  const LocalRef place = k.local("place", at);
  const LocalRef seen = k.local("seen", k.read_at(array, {k.read(place)}));
  const LocalRef old = k.local("old", bits);
  k.do_while(
      [&] {
        k.set(old, k.read(seen));
        const Value element = signature.array == DType::boolean
                                  ? k.convert(DType::boolean, k.read(old))
                                  : k.bitcast(signature.array, k.read(old));
        ops::Values x{taken(element, signature.loop.operands[0])};
        if (signature.ufunc->operands == 2) x.push_back(taken(operand, signature.loop.operands[1]));
        const Value y = k.convert(signature.loop.results[0], signature.ufunc->body(k, x)[0]);
        const Value stored = k.convert(signature.array, y);
        const Value stored_bits =
            signature.array == DType::boolean ? k.convert(bits, stored) : k.bitcast(bits, stored);
        k.set(seen, k.atomic(Op::atomic_compare_exchange, array,
                             {k.read(place), k.read(old), stored_bits}));
      },
      k.read(seen) != k.read(old));
}

const char* name_of(IndexTask task) {
  switch (task) {
    case IndexTask::gather:
      return "gather";
    case IndexTask::scatter:
      return "scatter";
    case IndexTask::mark:
      return "scatter_mark";
    case IndexTask::claim:
      return "scatter_claim";
    case IndexTask::add:
      return "scatter_add";
    case IndexTask::minimum:
      return "scatter_min";
    case IndexTask::maximum:
      return "scatter_max";
    case IndexTask::apply:
      return "scatter_apply";
  }
  return "";
}

}  // namespace

std::string IndexSignature::key() const {
  std::string text;
  const auto add = [&text](auto number) { text += static_cast<char>(number); };
  add(task);
  add(array);
  add(value);
  add(value_is_scalar | spread << 1 | skips << 2 | winners << 3 | negated << 4);
  for (const PickSignature& pick : picks) add(static_cast<int>(pick.dtype) * 2 + pick.checked);
  if (ufunc != nullptr) {
    text += ufunc->name;
    for (const DType dtype : loop.operands) add(dtype);
    add(loop.results[0]);
  }
  return text;
}

ir::Kernel make_index_kernel(const IndexSignature& signature) {
  const IndexTask task = signature.task;
  Builder k(task == IndexTask::apply ? std::string(signature.ufunc->name) + "_at" : name_of(task));
  const bool gathers = task == IndexTask::gather;
  const bool updates = task != IndexTask::gather && task != IndexTask::scatter;
  const DType held =
      task == IndexTask::apply ? unsigned_of(size_of(signature.array)) : signature.array;
  const ParamRef array = k.raw("array", held,
                               gathers   ? ir::Access::read
                               : updates ? ir::Access::read_write
                                         : ir::Access::write);
  const bool valued = !gathers && task != IndexTask::mark && task != IndexTask::claim;
  std::optional<ParamRef> value;
  if (valued)
    value = signature.value_is_scalar ? k.scalar("value", signature.value)
                                      : k.in("value", signature.value);
  const Where where = add_where(k, signature);
  std::optional<ParamRef> winners;
  if (signature.winners) winners = k.raw("winners", DType::int32);

  const auto run = [&] {
    const Value place = picked(k, signature, where);
    const Value at = element_of(k, where, place);
    switch (task) {
      case IndexTask::gather:
        return k.store(k.out("out", signature.array), k.read_at(array, {at}));
      case IndexTask::scatter: {
        const auto store = [&] {
          k.store_at(array, {at}, k.convert(signature.array, k.read(*value)));
        };
        if (!winners) return store();
        const Value row = where.kept ? k.loop_index() / k.read(*where.kept) : k.loop_index();
        return k.if_(k.read_at(*winners, {place}) == row, store);
      }
      case IndexTask::mark:
        return k.store_at(array, {at}, k.integer(DType::int32, -1));
      case IndexTask::claim:
        return k.evaluate(k.atomic(Op::atomic_max, array, {at, k.loop_index()}));
      case IndexTask::apply:
        return apply(k, signature, array, at, k.read(*value));
      case IndexTask::add:
      case IndexTask::minimum:
      case IndexTask::maximum:
        break;
    }
    const Value operand = k.convert(signature.array, k.read(*value));
    k.evaluate(k.atomic(atomic_of(task), array, {at, signature.negated ? -operand : operand}));
  };
  if (signature.skips)
    k.if_(k.read(where.picks[0]) >= k.integer(signature.picks[0].dtype, 0), run);
  else
    run();
  return k.take();
}

Result<KernelRef> IndexKernels::get(const IndexSignature& signature) {
  std::string key = signature.key();
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  auto made = launcher_.prepare(make_index_kernel(signature));
  if (made) known_.emplace(std::move(key), *made);
  return made;
}

}  // namespace arraycore
