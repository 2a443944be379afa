#include "fuse/batch.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "dtype/dtype.h"

namespace arraycore::fuse {

namespace {

using ir::Access;
using ir::Block;
using ir::Expr;
using ir::Id;
using ir::Kernel;
using ir::kNone;
using ir::Op;
using ir::Param;
using ir::ParamKind;
using ir::Stmt;
using ir::StmtKind;

constexpr std::size_t kMostArrays = 6;
constexpr std::size_t kMostScalars = 16;
// The number of a launch's 256 uniform words that segments may use. The kernel's own scalars and
// the buffers' extents use the rest.
constexpr std::uint32_t kSegmentWords = 192;

bool asks_where(Op op) {
  return op == Op::loop_index || op == Op::loop_size || op == Op::axis_index ||
         op == Op::param_shape || op == Op::param_size;
}

bool is_array(const Param& param) { return param.kind != ParamKind::scalar; }

std::size_t arrays_of(const Kernel& kernel) {
  return static_cast<std::size_t>(std::ranges::count_if(kernel.params, is_array));
}

// Adds expressions and statements to a complete kernel.
struct Writer {
  Kernel& k;

  Id expr(Op op, DType type, Id index = 0, std::initializer_list<Id> operands = {}) {
    Expr made;
    made.op = op;
    made.type = type;
    made.index = index;
    made.first_arg = static_cast<Id>(k.args.size());
    made.count = static_cast<std::uint32_t>(operands.size());
    k.args.insert(k.args.end(), operands);
    k.exprs.push_back(made);
    return static_cast<Id>(k.exprs.size() - 1);
  }
  Id stmt(Stmt made) {
    k.stmts.push_back(made);
    return static_cast<Id>(k.stmts.size() - 1);
  }
  Id assign(Id local, Id value) {
    return stmt({.kind = StmtKind::assign, .target = local, .value = value});
  }
  Id local(std::string name, DType type) {
    k.locals.push_back({std::move(name), type, 0});
    return static_cast<Id>(k.locals.size() - 1);
  }
  Id scalar(std::string name) {
    k.params.push_back({.name = std::move(name), .dtype = DType::int32, .kind = ParamKind::scalar});
    return static_cast<Id>(k.params.size() - 1);
  }
  Id block(Block made) {
    k.blocks.push_back(std::move(made));
    return static_cast<Id>(k.blocks.size() - 1);
  }
};

struct Segment {
  Id end = kNone;          // Param
  std::vector<Id> places;  // Param, one for each array
};

// Adds code that finds the element's segment by bisection and copies the segment's places to the
// locals `places`. Returns the root block of the tree of comparisons.
Id find_segment(Writer& w, const std::vector<Segment>& segments, const std::vector<Id>& places,
                std::size_t first, std::size_t last) {
  if (last - first == 1) {
    Block chosen;
    for (std::size_t a = 0; a < places.size(); ++a)
      chosen.push_back(
          w.assign(places[a], w.expr(Op::param, DType::int32, segments[first].places[a])));
    return w.block(std::move(chosen));
  }
  const std::size_t middle = (first + last) / 2;
  const Id then = find_segment(w, segments, places, first, middle);
  const Id otherwise = find_segment(w, segments, places, middle, last);
  const Id number = w.expr(Op::loop_index, DType::int32);
  const Id end = w.expr(Op::param, DType::int32, segments[middle - 1].end);
  const Id before = w.expr(Op::less, DType::boolean, 0, {number, end});
  return w.block(
      {w.stmt({.kind = StmtKind::branch, .value = before, .then = then, .otherwise = otherwise})});
}

}  // namespace

bool can_batch(const Kernel& kernel) {
  const std::size_t arrays = arrays_of(kernel);
  if (kernel.reduction || !kernel.functions.empty() || arrays == 0 || arrays > kMostArrays ||
      kernel.params.size() - arrays > kMostScalars)
    return false;
  const auto fits = [](const Param& param) {
    return param.kind == ParamKind::scalar ||
           (param.kind == ParamKind::elementwise && !param.atomic && size_of(param.dtype) == 4);
  };
  return std::ranges::all_of(kernel.params, fits) &&
         std::ranges::none_of(kernel.exprs, [](const Expr& e) { return asks_where(e.op); }) &&
         std::ranges::none_of(kernel.stmts, [](const Stmt& s) { return s.kind == StmtKind::give; });
}

std::uint32_t most_segments(const Kernel& kernel) {
  return kSegmentWords / static_cast<std::uint32_t>(arrays_of(kernel) + 1);
}

Kernel batch(const Kernel& kernel, std::uint32_t segments) {
  Kernel made = kernel;
  made.name = kernel.name + "_batch";
  Writer w{made};
  const std::size_t own = kernel.params.size();

  // The body reads and writes locals instead of the elements of arrays.
  std::vector<Id> value(own, kNone);
  for (Id p = 0; p < own; ++p)
    if (is_array(kernel.params[p]))
      value[p] = w.local("item_" + kernel.params[p].name, kernel.params[p].dtype);
  for (Expr& e : made.exprs)
    if (e.op == Op::param && value[e.index] != kNone) {
      e.op = Op::local;
      e.index = value[e.index];
    }
  for (Stmt& s : made.stmts)
    if (s.kind == StmtKind::store) {
      s.kind = StmtKind::assign;
      s.target = value[s.target];
    }

  std::vector<Id> places;  // Local, one for each array
  for (Id p = 0; p < own; ++p) {
    if (value[p] == kNone) continue;
    Param& param = made.params[p];
    param.kind = ParamKind::raw;
    if (param.access == Access::write) param.access = Access::read_write;
    places.push_back(w.local("place_" + param.name, DType::int32));
  }
  std::vector<Segment> list(segments);
  for (std::uint32_t s = 0; s < segments; ++s) {
    list[s].end = w.scalar("end" + std::to_string(s));
    for (std::size_t a = 0; a < places.size(); ++a)
      list[s].places.push_back(w.scalar("at" + std::to_string(s) + "_" + std::to_string(a)));
  }

  const Id tree = find_segment(w, list, places, 0, segments);
  Block body = made.blocks[tree];
  // The tree's root becomes the beginning of the body, so it is no block of its own.
  made.blocks.pop_back();
  const auto item = [&](std::size_t a) {
    const Id place = w.expr(Op::local, DType::int32, places[a]);
    const Id number = w.expr(Op::loop_index, DType::int32);
    return w.expr(Op::add, DType::int32, 0, {place, number});
  };
  std::size_t a = 0;
  for (Id p = 0; p < own; ++p) {
    if (value[p] == kNone) continue;
    const Id at = item(a++);
    body.push_back(w.assign(value[p], w.expr(Op::param_at, kernel.params[p].dtype, p, {at})));
  }
  const Block& old = kernel.blocks[kernel.body];
  body.insert(body.end(), old.begin(), old.end());
  a = 0;
  for (Id p = 0; p < own; ++p) {
    if (value[p] == kNone) continue;
    const std::size_t number = a++;
    if (kernel.params[p].access == Access::read) continue;
    const Id at = item(number);
    const auto first = static_cast<Id>(made.args.size());
    made.args.push_back(at);
    body.push_back(w.stmt({.kind = StmtKind::store_at,
                           .target = p,
                           .value = w.expr(Op::local, kernel.params[p].dtype, value[p]),
                           .first_arg = first,
                           .count = 1}));
  }
  made.blocks[kernel.body] = std::move(body);
  return made;
}

}  // namespace arraycore::fuse
