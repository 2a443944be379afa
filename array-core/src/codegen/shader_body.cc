#include "codegen/shader_body.h"

#include <algorithm>

#include "ir/op_info.h"

namespace arraycore::codegen {
namespace {

using ir::Expr;
using ir::Id;
using ir::Kernel;
using ir::kNone;
using ir::Op;
using ir::Stmt;
using ir::StmtKind;

std::string safe(const std::string& name) {
  std::string text;
  for (const char c : name)
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) text += c;
  return text;
}

class Writer {
 public:
  Writer(const Kernel& kernel, Environment& environment) : k_(kernel), env_(environment) {
    lazy_.assign(k_.exprs.size(), false);
    for (Id id = 0; id < k_.exprs.size(); ++id) {
      const Expr& e = k_.exprs[id];
      lazy_[id] = e.op == Op::call || ir::is_atomic(e.op);
      for (std::uint32_t i = 0; i < e.count; ++i)
        lazy_[id] = lazy_[id] || lazy_[k_.args[e.first_arg + i]];
    }
  }

  std::string take() { return std::move(out_); }
  void indent(int depth) { depth_ = depth; }

  void block(Id id) {
    for (const Id stmt : k_.blocks[id]) {
      statement(k_.stmts[stmt]);
      const StmtKind kind = k_.stmts[stmt].kind;
      if (kind == StmtKind::leave || kind == StmtKind::next || kind == StmtKind::give) return;
    }
  }

  void give_back(Id expr) {
    memo_.clear();
    const std::string value = value_of(expr);
    line("return " + value + ";");
  }

  // Marks the locals that the block uses.
  void locals_of(Id block, std::vector<bool>& used) const {
    for (const Id id : k_.blocks[block]) {
      const Stmt& s = k_.stmts[id];
      if (s.kind == StmtKind::assign || s.kind == StmtKind::assign_at) used[s.target] = true;
      if (s.value != kNone) locals_in(s.value, used);
      for (std::uint32_t i = 0; i < s.count; ++i) locals_in(k_.args[s.first_arg + i], used);
      if (s.then != kNone) locals_of(s.then, used);
      if (s.otherwise != kNone) locals_of(s.otherwise, used);
    }
  }

  void declare(const std::vector<bool>& used, const std::vector<Id>& shared) {
    for (Id id = 0; id < used.size(); ++id) {
      if (!used[id] || std::find(shared.begin(), shared.end(), id) != shared.end()) continue;
      const ir::Local& local = k_.locals[id];
      std::string type = register_type(local.type);
      if (local.length > 0) type = "array<" + type + ", " + std::to_string(local.length) + ">";
      line("var " + local_name(k_, id) + ": " + type + ";");
    }
  }

  void line(const std::string& text) {
    out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    out_ += text;
    out_ += '\n';
  }

  bool ends(Id block) const {
    return !k_.blocks[block].empty() && k_.stmts[k_.blocks[block].back()].kind == StmtKind::give;
  }

 private:
  using Memo = std::unordered_map<Id, std::string>;

  void locals_in(Id expr, std::vector<bool>& used) const {
    std::vector<Id> todo{expr};
    std::unordered_map<Id, bool> seen;
    while (!todo.empty()) {
      const Id id = todo.back();
      todo.pop_back();
      if (!seen.emplace(id, true).second) continue;
      const Expr& e = k_.exprs[id];
      if (e.op == Op::local || e.op == Op::local_at) used[e.index] = true;
      for (std::uint32_t i = 0; i < e.count; ++i) todo.push_back(k_.args[e.first_arg + i]);
    }
  }

  // ---- expressions
  Id arg(const Expr& e, std::uint32_t i) const { return k_.args[e.first_arg + i]; }

  std::string fresh() { return "e" + std::to_string(names_++); }

  std::string bind(const std::string& type, const std::string& text) {
    const std::string name = fresh();
    line("let " + name + ": " + type + " = " + text + ";");
    return name;
  }
  std::string bind(DType type, const std::string& text) { return bind(register_type(type), text); }
  std::string bind_address(const std::string& text) { return bind("u32", text); }

  std::string value_of(Id id) {
    if (const auto found = memo_.find(id); found != memo_.end()) return found->second;
    const std::string name = compute(id);
    memo_[id] = name;
    return name;
  }

  std::string slot_of(Id array, const std::string& index) const {
    return local_name(k_, array) + "[clamp(" + index + ", 0i, " +
           std::to_string(k_.locals[array].length - 1) + "i)]";
  }

  std::string compute(Id id) {
    const Expr& e = k_.exprs[id];
    switch (e.op) {
      case Op::constant: {
        const auto text = literal(e.type, {e.bits, e.bits_high});
        return bind(e.type, text ? *text : env_.constant(e.type, {e.bits, e.bits_high}));
      }
      case Op::local:
        return bind(e.type, local_name(k_, e.index));
      case Op::local_at:
        return bind(e.type, slot_of(e.index, value_of(arg(e, 0))));
      case Op::param_at: {
        std::vector<std::string> index;
        for (std::uint32_t i = 0; i < e.count; ++i) index.push_back(value_of(arg(e, i)));
        return bind(e.type, env_.read_at(e.index, bind_address(env_.address(e.index, index))));
      }
      case Op::select:
        return choose(e, value_of(arg(e, 0)), arg(e, 1), arg(e, 2));
      case Op::logical_and:
      case Op::logical_or:
        return decide(e);
      case Op::call:
        return bind(e.type, call_text(e));
      default:
        break;
    }
    if (ir::info(e.op).shape == ir::Shape::leaf) return bind(e.type, env_.leaf(e));
    if (ir::is_atomic(e.op)) return bind(e.type, atomic(e));
    std::vector<std::string> x;
    for (std::uint32_t i = 0; i < e.count; ++i) x.push_back(value_of(arg(e, i)));
    const auto text = operation(e.op, k_.exprs[arg(e, 0)].type, e.type, x);
    if (!text) {
      env_.missing =
          std::string(name_of(e.op)) + " of " + std::string(name_of(k_.exprs[arg(e, 0)].type));
      return zero_of(e.type);
    }
    return bind(e.type, *text);
  }

  std::string call_text(const Expr& e) {
    std::string text;
    for (std::uint32_t i = 0; i < e.count; ++i) text += (i > 0 ? ", " : "") + value_of(arg(e, i));
    return function_name(k_, e.index) + "(" + text + ")";
  }

  // Returns code for a choice of two expressions. If one has an effect or may take long, the code
  // evaluates only the chosen one.
  std::string choose(const Expr& e, const std::string& condition, Id then, Id otherwise) {
    if (!lazy_[then] && !lazy_[otherwise]) {
      const std::string yes = value_of(then);
      const std::string no = value_of(otherwise);
      return bind(e.type, "select(" + no + ", " + yes + ", " + condition + ")");
    }
    const std::string name = fresh();
    line("var " + name + ": " + register_type(e.type) + ";");
    const Memo before = memo_;
    line("if (" + condition + ") {");
    side(name, then);
    memo_ = before;
    line("} else {");
    side(name, otherwise);
    memo_ = before;
    line("}");
    return name;
  }

  std::string decide(const Expr& e) {
    const std::string first = value_of(arg(e, 0));
    const bool both = e.op == Op::logical_and;
    if (!lazy_[arg(e, 1)])
      return bind(e.type, "(" + first + (both ? " && " : " || ") + value_of(arg(e, 1)) + ")");
    const std::string name = fresh();
    line("var " + name + ": bool = " + first + ";");
    const Memo before = memo_;
    line("if (" + std::string(both ? "" : "!") + name + ") {");
    side(name, arg(e, 1));
    memo_ = before;
    line("}");
    return name;
  }

  void side(const std::string& name, Id id) {
    ++depth_;
    const std::string value = value_of(id);
    line(name + " = " + value + ";");
    --depth_;
  }

  std::string atomic(const Expr& e) {
    const ir::Param& p = k_.params[e.index];
    const std::uint32_t dims = p.ndim < 0 ? 1u : static_cast<std::uint32_t>(p.ndim);
    std::vector<std::string> index;
    std::vector<std::string> values;
    for (std::uint32_t i = 0; i < e.count; ++i)
      (i < dims ? index : values).push_back(value_of(arg(e, i)));
    return env_.atomic(e.op, e.index, bind_address(env_.address(e.index, index)), values);
  }

  // ---- statements
  void nested(Id block_id) {
    ++depth_;
    block(block_id);
    --depth_;
  }

  void loop(const Stmt& s) {
    const bool until = s.kind == StmtKind::loop_until;
    line("loop {");
    ++depth_;
    memo_.clear();
    if (!until && s.value != kNone) {
      const std::string condition = value_of(s.value);
      line("if (!" + condition + ") { break; }");
    }
    block(s.then);
    if (s.otherwise != kNone || (until && s.value != kNone)) {
      line("continuing {");
      ++depth_;
      if (s.otherwise != kNone) block(s.otherwise);
      if (until && s.value != kNone) {
        memo_.clear();
        const std::string condition = value_of(s.value);
        line("break if !" + condition + ";");
      }
      --depth_;
      line("}");
    }
    --depth_;
    line("}");
  }

  void statement(const Stmt& s) {
    memo_.clear();
    switch (s.kind) {
      case StmtKind::assign:
        line(local_name(k_, s.target) + " = " + value_of(s.value) + ";");
        return;
      case StmtKind::assign_at: {
        const std::string index = value_of(k_.args[s.first_arg]);
        const std::string value = value_of(s.value);
        line(slot_of(s.target, index) + " = " + value + ";");
        return;
      }
      case StmtKind::store: {
        const std::string value = value_of(s.value);
        line(env_.store(s.target, value));
        return;
      }
      case StmtKind::store_at: {
        std::vector<std::string> index;
        for (std::uint32_t i = 0; i < s.count; ++i)
          index.push_back(value_of(k_.args[s.first_arg + i]));
        const std::string address = bind_address(env_.address(s.target, index));
        const std::string value = value_of(s.value);
        line(env_.write_at(s.target, address, value));
        return;
      }
      case StmtKind::branch: {
        const std::string condition = value_of(s.value);
        line("if (" + condition + ") {");
        if (s.then != kNone) nested(s.then);
        if (s.otherwise != kNone) {
          line("} else {");
          nested(s.otherwise);
        }
        line("}");
        return;
      }
      case StmtKind::loop:
      case StmtKind::loop_until:
        loop(s);
        return;
      case StmtKind::leave:
        line("break;");
        return;
      case StmtKind::next:
        line("continue;");
        return;
      case StmtKind::give:
        if (s.value == kNone) return line("return;");
        return give_back(s.value);
      case StmtKind::evaluate: {
        const Expr& e = k_.exprs[s.value];
        if (e.op == Op::call && !k_.functions[e.index].result)
          line(call_text(e) + ";");
        else
          value_of(s.value);
        return;
      }
    }
  }

  const Kernel& k_;
  Environment& env_;
  std::string out_;
  int depth_ = 1;
  std::uint32_t names_ = 0;
  Memo memo_;
  // For each expression: whether it has an effect or calls a function. Such an expression may be
  // evaluated only if its value is needed.
  std::vector<bool> lazy_;
};

}  // namespace

std::string local_name(const Kernel& kernel, Id local) {
  return "v" + std::to_string(local) + "_" + safe(kernel.locals[local].name);
}
std::string function_name(const Kernel& kernel, Id function) {
  return "f" + std::to_string(function) + "_" + safe(kernel.functions[function].name);
}

std::string write_block(const Kernel& kernel, Environment& environment, Id block,
                        const std::vector<Id>& shared) {
  Writer writer(kernel, environment);
  std::vector<bool> used(kernel.locals.size(), false);
  writer.locals_of(block, used);
  writer.declare(used, shared);
  writer.block(block);
  return writer.take();
}

std::string write_return(const Kernel& kernel, Environment& environment, Id expr) {
  Writer writer(kernel, environment);
  writer.give_back(expr);
  return writer.take();
}

std::string write_functions(const Kernel& kernel, Environment& environment) {
  std::string out;
  for (Id id = 0; id < kernel.functions.size(); ++id) {
    const ir::Function& f = kernel.functions[id];
    out += "fn " + function_name(kernel, id) + "(";
    for (std::size_t i = 0; i < f.arguments.size(); ++i)
      out += (i > 0 ? ", a" : "a") + std::to_string(i) + ": " +
             register_type(kernel.locals[f.arguments[i]].type);
    out += ")";
    if (f.result) out += " -> " + register_type(*f.result);
    out += " {\n";
    Writer writer(kernel, environment);
    std::vector<bool> used(kernel.locals.size(), false);
    writer.locals_of(f.body, used);
    for (const Id argument : f.arguments) used[argument] = true;
    writer.declare(used, {});
    for (std::size_t i = 0; i < f.arguments.size(); ++i)
      writer.line(local_name(kernel, f.arguments[i]) + " = a" + std::to_string(i) + ";");
    writer.block(f.body);
    if (f.result && !writer.ends(f.body)) writer.line("return " + zero_of(*f.result) + ";");
    out += writer.take() + "}\n";
  }
  return out;
}

}  // namespace arraycore::codegen
