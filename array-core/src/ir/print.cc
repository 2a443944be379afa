#include "ir/print.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "ir/op_info.h"
#include "ir/value.h"

namespace arraycore::ir {
namespace {

std::string hex(std::uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(bits));
  return text;
}

// Returns the shortest decimal that reads back as the same value.
std::string number(double value, bool single) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    const double back = std::strtod(text, nullptr);
    if (single ? static_cast<float>(back) == static_cast<float>(value) : back == value) break;
  }
  return text;
}

template <typename T>
std::string text_of(T value) {
  if constexpr (kIsBool<T>) {
    return value ? "true" : "false";
  } else if constexpr (kIsComplex<T>) {
    return "(" + text_of(value.re) + ", " + text_of(value.im) + ")";
  } else if constexpr (kIsInteger<T>) {
    return std::to_string(value);
  } else {
    const auto wide =
        static_cast<double>(static_cast<std::conditional_t<kIsHalf<T>, float, T>>(value));
    if (std::isinf(wide)) return wide > 0 ? "inf" : "-inf";
    if (std::isnan(wide)) return "nan:" + hex(put(value).bits);
    return number(wide, sizeof(T) <= 4);
  }
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : k_(kernel) {}

  std::string run() {
    out_ = "kernel " + k_.name + "(";
    for (std::size_t i = 0; i < k_.params.size(); ++i) {
      if (i > 0) out_ += ", ";
      param(k_.params[i]);
    }
    out_ += ")\n";
    for (const Function& f : k_.functions) {
      out_ += "function " + f.name + "(";
      for (std::size_t i = 0; i < f.arguments.size(); ++i)
        out_ += (i > 0 ? ", " : "") + declaration(f.arguments[i]);
      out_ += ")";
      if (f.result) out_ += " -> " + std::string(name_of(*f.result));
      out_ += "\n";
      block(f.body, 1);
    }
    for (Id i = 0; i < k_.locals.size(); ++i) out_ += "local " + declaration(i) + "\n";
    out_ += "body\n";
    block(k_.body, 1);
    if (k_.reduction) reduction(*k_.reduction);
    return std::move(out_);
  }

 private:
  void param(const Param& p) {
    switch (p.kind) {
      case ParamKind::elementwise:
        break;
      case ParamKind::raw:
        out_ += "raw ";
        break;
      case ParamKind::scalar:
        out_ += "scalar ";
        break;
    }
    if (p.atomic) out_ += "atomic ";
    if (p.access == Access::write) out_ += "out ";
    if (p.access == Access::read_write) out_ += "inout ";
    out_ += std::string(name_of(p.dtype)) + " " + p.name;
    if (p.ndim >= 0) out_ += "[" + std::to_string(p.ndim) + "d]";
  }

  std::string local_name(Id id) const { return k_.locals[id].name + "." + std::to_string(id); }
  std::string declaration(Id id) const {
    const Local& local = k_.locals[id];
    std::string text = std::string(name_of(local.type)) + " " + local_name(id);
    if (local.length > 0) text += "[" + std::to_string(local.length) + "]";
    return text;
  }

  std::string indices(Id first, std::uint32_t count) const {
    std::string text = "[";
    for (std::uint32_t i = 0; i < count; ++i)
      text += (i > 0 ? ", " : "") + expression(k_.args[first + i]);
    return text + "]";
  }

  std::string expression(Id id) const {
    const Expr& e = k_.exprs[id];
    const std::string type(name_of(e.type));
    switch (e.op) {
      case Op::constant:
        return type + ":" + to_text(e.type, {e.bits, e.bits_high});
      case Op::local:
        return local_name(e.index);
      case Op::local_at:
        return local_name(e.index) + indices(e.first_arg, e.count);
      case Op::param:
        return k_.params[e.index].name;
      case Op::param_at:
        return k_.params[e.index].name + indices(e.first_arg, e.count);
      case Op::param_size:
        return "size(" + k_.params[e.index].name + ")";
      case Op::param_shape:
        return "shape(" + k_.params[e.index].name + ", " +
               std::to_string(k_.exprs[k_.args[e.first_arg]].bits) + ")";
      case Op::axis_index:
        return "axis_index(" + std::to_string(e.index) + ")";
      default:
        break;
    }
    std::string text(name_of(e.op));
    if (e.op == Op::convert || e.op == Op::bitcast) text += "<" + type + ">";
    if (e.op == Op::call) text = k_.functions[e.index].name;
    if (is_atomic(e.op)) text += " " + k_.params[e.index].name;
    if (info(e.op).shape == Shape::leaf) return text;
    text += "(";
    for (std::uint32_t i = 0; i < e.count; ++i)
      text += (i > 0 ? ", " : "") + expression(k_.args[e.first_arg + i]);
    return text + ")";
  }

  void line(int depth, const std::string& text) {
    out_.append(static_cast<std::size_t>(depth) * 2, ' ');
    out_ += text + "\n";
  }

  void block(Id id, int depth) {
    for (const Id stmt : k_.blocks[id]) statement(k_.stmts[stmt], depth);
  }

  void statement(const Stmt& s, int depth) {
    const std::string value = s.value == kNone ? "" : expression(s.value);
    switch (s.kind) {
      case StmtKind::assign:
        return line(depth, local_name(s.target) + " = " + value);
      case StmtKind::assign_at:
        return line(depth, local_name(s.target) + indices(s.first_arg, s.count) + " = " + value);
      case StmtKind::store:
        return line(depth, k_.params[s.target].name + " := " + value);
      case StmtKind::store_at:
        return line(depth,
                    k_.params[s.target].name + indices(s.first_arg, s.count) + " := " + value);
      case StmtKind::branch:
        line(depth, "if " + value);
        if (s.then != kNone) block(s.then, depth + 1);
        if (s.otherwise == kNone) return;
        line(depth, "else");
        return block(s.otherwise, depth + 1);
      case StmtKind::loop:
      case StmtKind::loop_until: {
        const bool until = s.kind == StmtKind::loop_until;
        line(depth, until ? "do" : "while " + (value.empty() ? "true" : value));
        block(s.then, depth + 1);
        if (s.otherwise != kNone) {
          line(depth, "step");
          block(s.otherwise, depth + 1);
        }
        if (until) line(depth, "while " + (value.empty() ? "true" : value));
        return;
      }
      case StmtKind::leave:
        return line(depth, "break");
      case StmtKind::next:
        return line(depth, "continue");
      case StmtKind::give:
        return line(depth, value.empty() ? "return" : "return " + value);
      case StmtKind::evaluate:
        return line(depth, value);
    }
  }

  void reduction(const Reduction& r) {
    for (const Accumulator& value : r.values) {
      out_ += (r.running() ? "scan " : "reduce ") + local_name(value.mapped) + " by " +
              local_name(value.a) + ", " + local_name(value.b) + " -> " + expression(value.combine);
      if (value.identity != kNone) out_ += " from " + expression(value.identity);
      out_ += "\n";
    }
    out_ += "post\n";
    block(r.post, 1);
  }

  const Kernel& k_;
  std::string out_;
};

}  // namespace

std::string to_text(DType dtype, const Scalar& scalar) {
  return visit(dtype, [&](auto zero) { return text_of(get<decltype(zero)>(scalar)); });
}

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace arraycore::ir
