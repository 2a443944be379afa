#include "runtime/capture/compare.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace arraycore::capture {

namespace {

bool same_window(const gemm::Window& a, const gemm::Window& b) {
  if (a.used != b.used) return false;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    const gemm::WindowAxis& x = a.axes[i];
    const gemm::WindowAxis& y = b.axes[i];
    if (x.columns != y.columns || x.terms != y.terms || x.column_step != y.column_step ||
        x.term_step != y.term_step || x.origin != y.origin || x.extent != y.extent ||
        x.b_stride != y.b_stride || x.out_stride != y.out_stride)
      return false;
  }
  return true;
}

bool same_problem(const gemm::Problem& a, const gemm::Problem& b) {
  return a.dtype == b.dtype && a.m == b.m && a.n == b.n && a.k == b.k && a.batch == b.batch &&
         a.a == b.a && a.b == b.b && a.out == b.out &&
         a.window.has_value() == b.window.has_value() &&
         (!a.window || same_window(*a.window, *b.window));
}

bool same_operand(const gemm::OperandLayout& a, const gemm::OperandLayout& b) {
  return a.offset == b.offset && a.row_stride == b.row_stride &&
         a.column_stride == b.column_stride && a.batch_stride == b.batch_stride;
}

bool same_stage(const gemm::Stage& a, const gemm::Stage& b) {
  return a.kernel == b.kernel && a.number == b.number;
}

class Comparer {
 public:
  Comparer(const Tape& first, const Tape& second) : first_(first), second_(second) {}

  Comparison run() {
    for (const Tape* const tape : {&first_, &second_})
      if (tape->refusal()) {
        comparison_.mismatch = Mismatch{tape->refusal()->error, tape->refusal()->command};
        return std::move(comparison_);
      }
    const std::size_t count = std::min(first_.commands().size(), second_.commands().size());
    for (at_ = 0; at_ < count && !comparison_.mismatch; ++at_) command();
    if (!comparison_.mismatch && first_.commands().size() != second_.commands().size()) {
      const bool more = second_.commands().size() > count;
      const Command& extra = (more ? second_ : first_).commands()[count];
      refuse("capture_operations", "The step launches " + extra.operation->name + " only " +
                                       (more ? "in its second run." : "in its first run."));
    }
    return std::move(comparison_);
  }

 private:
  void refuse(const char* code, std::string message) {
    if (!comparison_.mismatch)
      comparison_.mismatch = Mismatch{{ErrorKind::value, code, std::move(message)}, here()};
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(at_); }
  const std::string& operation() const { return second_.commands()[at_].operation->name; }

  void command() {
    const Command& a = first_.commands()[at_];
    const Command& b = second_.commands()[at_];
    if (a.side != b.side || a.operation != b.operation || a.action.index() != b.action.index())
      return refuse("capture_operations", "The step launches " + a.operation->name +
                                              ", and in its second run " + b.operation->name +
                                              " in its place.");
    if (const auto* const launch = std::get_if<Launch>(&a.action))
      launches(*launch, std::get<Launch>(b.action));
    else if (const auto* const product = std::get_if<GemmLaunch>(&a.action))
      products(*product, std::get<GemmLaunch>(b.action));
    else if (const auto* const raw = std::get_if<RawLaunch>(&a.action))
      raws(*raw, std::get<RawLaunch>(b.action));
    else if (const auto* const batch = std::get_if<BatchLaunch>(&a.action))
      batches(*batch, std::get<BatchLaunch>(b.action));
    else if (const auto* const upload = std::get_if<Upload>(&a.action))
      uploads(*upload, std::get<Upload>(b.action));
    else
      same_storage(std::get<Zero>(a.action).storage, std::get<Zero>(b.action).storage);
  }

  void same_storage(Name a, Name b) {
    const std::size_t side = second_.commands()[at_].side;
    if (is_made(b)) {
      const Tape::Made& was = first_.made()[number_of(b)];
      if (a == b && was.bytes == second_.made()[number_of(b)].bytes) return;
    } else if (is_carried(b)) {
      // The step before made this storage. It must always correspond to the same storage of the
      // first recording.
      const auto known = carried_.try_emplace(b, a);
      if (!is_made(a) && known.first->second == a) return;
    } else if (a == b) {
      const Tape::Outside& was = first_.outside(side, a);
      const Tape::Outside& is = second_.outside(side, b);
      if (was.serial == is.serial && is.alive) return;
    }
    refuse("capture_arrays",
           operation() +
               " works on another array in the second run of the step: hand over what "
               "changes as an argument, and write what stays in place.");
  }

  void other_shapes() {
    refuse("capture_shapes",
           operation() + " works on other shapes, or parts of arrays, in the second run.");
  }

  void launches(const Launch& a, const Launch& b) {
    if (a.kernel != b.kernel || a.loop != b.loop || a.reduced != b.reduced ||
        a.arguments.size() != b.arguments.size())
      return other_shapes();
    for (std::size_t i = 0; i < a.arguments.size(); ++i) {
      if (a.arguments[i].index() != b.arguments[i].index()) return other_shapes();
      if (const auto* const array = std::get_if<ArrayArgument>(&a.arguments[i])) {
        const auto& other = std::get<ArrayArgument>(b.arguments[i]);
        if (array->view != other.view) return other_shapes();
        same_storage(array->storage, other.storage);
        continue;
      }
      const auto& before = std::get<ir::Scalar>(a.arguments[i]);
      const auto& after = std::get<ir::Scalar>(b.arguments[i]);
      if (before == after) continue;
      comparison_.differences.push_back({here(), static_cast<std::uint32_t>(i),
                                         second_.commands()[at_].operation->parameters[i], before,
                                         after});
    }
  }

  void products(const GemmLaunch& a, const GemmLaunch& b) {
    if (!same_problem(a.problem, b.problem)) return other_shapes();
    const auto same = [](const gemm::OperandLayout& x, const gemm::OperandLayout& y) {
      return same_operand(x, y);
    };
    if (!same_stage(a.stages.prologue, b.stages.prologue) ||
        !same_stage(a.stages.epilogue, b.stages.epilogue) ||
        !std::equal(a.stages.prologue_layouts.begin(), a.stages.prologue_layouts.end(),
                    b.stages.prologue_layouts.begin(), same) ||
        !std::equal(a.stages.epilogue_layouts.begin(), a.stages.epilogue_layouts.end(),
                    b.stages.epilogue_layouts.begin(), same))
      return other_shapes();
    same_storage(a.a, b.a);
    same_storage(a.b, b.b);
    same_storage(a.out, b.out);
    for (std::size_t i = 0; i < a.operands.size(); ++i)
      if (a.operands[i] != 0 || b.operands[i] != 0) same_storage(a.operands[i], b.operands[i]);
  }

  void batches(const BatchLaunch& a, const BatchLaunch& b) {
    if (a.kernel != b.kernel || a.segments.size() != b.segments.size()) return other_shapes();
    for (std::size_t s = 0; s < a.segments.size(); ++s) {
      const BatchSegment& x = a.segments[s];
      const BatchSegment& y = b.segments[s];
      if (x.count != y.count) return other_shapes();
      for (std::size_t i = 0; i < x.arrays.size(); ++i) {
        if (x.arrays[i].view != y.arrays[i].view) return other_shapes();
        same_storage(x.arrays[i].storage, y.arrays[i].storage);
      }
    }
    const Operation& operation = *second_.commands()[at_].operation;
    for (std::size_t i = 0; i < a.scalars.size(); ++i) {
      if (a.scalars[i] == b.scalars[i]) continue;
      const std::uint32_t place = operation.scalars[i];
      comparison_.differences.push_back(
          {here(), place, operation.parameters[place], a.scalars[i], b.scalars[i]});
    }
  }

  void raws(const RawLaunch& a, const RawLaunch& b) {
    if (a.kernel != b.kernel || a.groups != b.groups || a.bindings.size() != b.bindings.size() ||
        a.uniforms.size() != b.uniforms.size())
      return other_shapes();
    for (std::size_t i = 0; i < a.bindings.size(); ++i) same_storage(a.bindings[i], b.bindings[i]);
    for (std::size_t i = 0; i < a.uniforms.size(); ++i)
      if (a.uniforms[i] != b.uniforms[i])
        comparison_.differences.push_back({here(), static_cast<std::uint32_t>(i), std::nullopt,
                                           ir::put(a.uniforms[i]), ir::put(b.uniforms[i])});
  }

  void uploads(const Upload& a, const Upload& b) {
    if (a.offset != b.offset || a.bytes.size() != b.bytes.size()) return other_shapes();
    same_storage(a.storage, b.storage);
    if (a.bytes != b.bytes)
      refuse("capture_uploads",
             "The step brings " + std::to_string(b.bytes.size()) +
                 " bytes from the host that are others in its second run: hand them over as an "
                 "argument, or draw them on the device.");
  }

  const Tape& first_;
  const Tape& second_;
  std::size_t at_ = 0;
  std::map<Name, Name> carried_;
  Comparison comparison_;
};

}  // namespace

Comparison compare(const Tape& first, const Tape& second) { return Comparer(first, second).run(); }

}  // namespace arraycore::capture
