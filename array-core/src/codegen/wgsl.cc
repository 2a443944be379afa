#include "codegen/wgsl.h"

#include <algorithm>
#include <set>

#include "codegen/wgsl_atomic.h"
#include "codegen/wgsl_body.h"
#include "ir/op_info.h"

namespace arraycore::codegen {
namespace {

using ir::Access;
using ir::Id;
using ir::Kernel;
using ir::kNone;
using ir::Op;
using ir::Param;
using ir::ParamKind;
using From = UniformWord::From;

std::string num(std::uint64_t n) { return std::to_string(n); }

// Whether every way through the block to its end stores to `param`; sets `stopped` where the
// element may return before.
bool always_stores(const Kernel& k, Id block, Id param, bool& stopped) {
  for (const Id id : k.blocks[block]) {
    const ir::Stmt& s = k.stmts[id];
    if (s.kind == ir::StmtKind::store && s.target == param) return true;
    if (s.kind == ir::StmtKind::give || s.kind == ir::StmtKind::leave ||
        s.kind == ir::StmtKind::next) {
      stopped = true;
      return false;
    }
    const bool nested = s.then != kNone || s.otherwise != kNone;
    if (!nested) continue;
    bool inner = false;
    const bool yes = s.then != kNone && always_stores(k, s.then, param, inner);
    const bool no = s.otherwise != kNone && always_stores(k, s.otherwise, param, inner);
    if (s.kind == ir::StmtKind::branch && yes && no) return true;
    // A return inside stops the search: what follows may not run. Inside a loop too.
    if (inner) {
      stopped = true;
      return false;
    }
  }
  return false;
}

class Generator final : public Environment {
 public:
  Generator(const Kernel& kernel, const Plan& plan) : k_(kernel), plan_(plan) {
    words_ = {{From::loop_size, 0, 0, 0},
              {From::bits, 0, 0, 0x7f800000u},
              {From::bits, 0, 0, 0x7fc00000u},
              {From::rows, 0, 0, 0}};
    if (k_.reduction) word(From::row_length);
  }

  Result<WgslProgram> run() {
    const std::string functions = write_functions(k_, *this);
    const std::string body = k_.reduction ? reduction_bodies() : element_body();
    std::vector<std::string> mains;
    if (!k_.reduction) {
      mains.push_back(plan_.quads ? quad_main() : single_main());
    } else if (plan_.rows == Rows::split) {
      mains.push_back(split_main());
      mains.push_back(join_main());
    } else {
      mains.push_back(plan_.rows == Rows::thread ? thread_main() : group_main());
    }
    if (!missing.empty())
      return Error{ErrorKind::not_implemented, "gpu_operation",
                   "kernel '" + k_.name + "': " + missing + " is not computed on a GPU."};
    WgslProgram program;
    if (k_.reduction && plan_.rows == Rows::split) program.scratch_word_pairs_per_row = plan_.parts;
    const std::string shared = privates_ + functions + body + accessors();
    while (words_.size() % 4 != 0) words_.push_back({From::bits, 0, 0, 0});
    for (const std::string& entry : mains) {
      WgslStage stage;
      const std::string code = shared + entry;
      stage.text = declarations(stage) + code + prelude_for(code);
      program.stages.push_back(std::move(stage));
    }
    program.uniforms = words_;
    return program;
  }

  // ---- Environment
  std::string constant(DType dtype, const ir::Scalar& value) override {
    const auto low = static_cast<std::uint32_t>(value.bits);
    if (dtype == DType::complex64) {
      const auto high = static_cast<std::uint32_t>(value.bits >> 32);
      return "vec2<f32>(" + real_word({From::bits, 0, 0, low}) + ", " +
             real_word({From::bits, 0, 0, high}) + ")";
    }
    if (dtype == DType::float16)
      return "ac_half_value(" + word(From::bits, 0, 0, low & 0xffff) + ")";
    return real_word({From::bits, 0, 0, low});
  }

  std::string leaf(const ir::Expr& e) override {
    switch (e.op) {
      case Op::loop_index:
        return "s_number";
      case Op::loop_size:
        return in_post_ ? integer(From::rows) : integer(From::loop_size);
      case Op::reduce_index:
        return "s_inner";
      case Op::axis_index:
        return axis(e.index);
      case Op::param_size:
        return integer(From::count, e.index);
      case Op::param_shape: {
        const auto number = static_cast<std::uint32_t>(k_.exprs[k_.args[e.first_arg]].bits);
        return integer(From::extent, e.index, number);
      }
      default:
        break;
    }
    if (k_.params[e.index].kind == ParamKind::scalar) return scalar(e.index);
    return "p" + num(e.index);
  }

  std::string address(Id param, const std::vector<std::string>& index) override {
    std::string text = "p" + num(param) + "_at(";
    for (std::size_t i = 0; i < index.size(); ++i) text += (i > 0 ? ", " : "") + index[i];
    used_at_.insert(param);
    return text + ")";
  }
  std::string read_at(Id param, const std::string& at) override {
    return "p" + num(param) + "_get(" + at + ")";
  }
  std::string write_at(Id param, const std::string& at, const std::string& value) override {
    used_set_.insert(param);
    return "if (" + integer(From::count, param) + " > 0) { p" + num(param) + "_set(" + at + ", " +
           value + "); }";
  }
  std::string store(Id param, const std::string& value) override {
    return "p" + num(param) + " = " + value + ";";
  }
  std::string atomic(Op op, Id param, const std::string& at,
                     const std::vector<std::string>& values) override {
    used_atomics_.insert({param, op});
    std::string text = "p" + num(param) + "_" + std::string(ir::name_of(op)) + "(" + at;
    for (const std::string& value : values) text += ", " + value;
    return text + ")";
  }

 private:
  const Param& param(Id p) const { return k_.params[p]; }
  const ParamPlan& own(Id p) const { return plan_.params[p]; }
  bool elementwise(Id p) const { return param(p).kind == ParamKind::elementwise; }

  // ---- uniforms
  std::string word(From from, std::uint32_t p = 0, std::uint32_t a = 0, std::uint32_t bits = 0) {
    const UniformWord wanted{from, p, a, bits};
    const auto found = std::find(words_.begin(), words_.end(), wanted);
    const auto index = static_cast<std::size_t>(found - words_.begin());
    if (found == words_.end()) words_.push_back(wanted);
    return "u.w[" + num(index / 4) + "]." + "xyzw"[index % 4];
  }
  std::string integer(From from, std::uint32_t p = 0, std::uint32_t a = 0) {
    return "bitcast<i32>(" + word(from, p, a) + ")";
  }
  std::string real_word(const UniformWord& w) {
    return "bitcast<f32>(" + word(w.from, w.param, w.axis, w.bits) + ")";
  }
  std::string scalar(Id p) {
    const DType d = param(p).dtype;
    const std::string low = word(From::scalar, p, 0);
    if (size_of(d) == 8)
      return from_bits(d, "vec2<u32>(" + low + ", " + word(From::scalar, p, 1) + ")");
    return from_bits(d, low);
  }

  // ---- declarations
  std::string declarations(WgslStage& stage) {
    std::string text = "struct Uniforms { w: array<vec4<u32>, " + num(words_.size() / 4) +
                       "> }\n@group(0) @binding(0) var<uniform> u: Uniforms;\n";
    for (std::size_t s = 0; s < plan_.slots.size(); ++s) {
      const SlotPlan& slot = plan_.slots[s];
      const BindingAccess access = slot.written ? BindingAccess::read_write : BindingAccess::read;
      const char* type = slot.atomic ? "atomic<u32>" : slot.vectors ? "vec4<u32>" : "u32";
      text += "@group(0) @binding(" + num(s + 1) + ") var<storage, " +
              (slot.written ? "read_write" : "read") + "> b" + num(s) + ": array<" + type + ">;\n";
      stage.bindings.push_back({static_cast<std::uint32_t>(s), access});
    }
    if (k_.reduction && plan_.rows == Rows::split) {
      text += "@group(0) @binding(" + num(plan_.slots.size() + 1) +
              ") var<storage, read_write> scratch: array<vec2<u32>>;\n";
      stage.bindings.push_back({kScratch, BindingAccess::read_write});
    }
    return text;
  }

  std::string load_word(std::uint32_t slot, const std::string& at) const {
    const SlotPlan& s = plan_.slots[slot];
    const std::string b = "b" + num(slot);
    if (s.atomic) return "atomicLoad(&" + b + "[" + at + "])";
    if (s.vectors) return b + "[(" + at + ") >> 2u][(" + at + ") & 3u]";
    return b + "[" + at + "]";
  }
  std::string store_word(std::uint32_t slot, const std::string& at,
                         const std::string& value) const {
    const SlotPlan& s = plan_.slots[slot];
    const std::string b = "b" + num(slot);
    if (s.atomic) return "atomicStore(&" + b + "[" + at + "], " + value + ");";
    if (s.vectors) return b + "[(" + at + ") >> 2u][(" + at + ") & 3u] = " + value + ";";
    return b + "[" + at + "] = " + value + ";";
  }

  // ---- element accessors: pN_get(e), pN_set(e, v) with e counted in elements of the binding
  std::string getter(Id p) const {
    const DType d = param(p).dtype;
    const std::uint32_t slot = own(p).slot;
    std::string bits;
    switch (size_of(d)) {
      case 1:
        bits = "((" + load_word(slot, "e >> 2u") + " >> ((e & 3u) * 8u)) & 0xffu)";
        break;
      case 2:
        bits = "((" + load_word(slot, "e >> 1u") + " >> ((e & 1u) * 16u)) & 0xffffu)";
        break;
      case 4:
        bits = load_word(slot, "e");
        break;
      default:
        bits =
            "vec2<u32>(" + load_word(slot, "2u * e") + ", " + load_word(slot, "2u * e + 1u") + ")";
    }
    return "fn p" + num(p) + "_get(e: u32) -> " + register_type(d) + " {\n  return " +
           from_bits(d, bits) + ";\n}\n";
  }

  std::string setter(Id p) const {
    const DType d = param(p).dtype;
    const std::uint32_t slot = own(p).slot;
    std::string text = "fn p" + num(p) + "_set(e: u32, v: " + register_type(d) + ") {\n";
    const std::size_t size = size_of(d);
    if (size == 8) {
      text += "  let bits = " + to_bits(d, "v") + ";\n  " + store_word(slot, "2u * e", "bits.x") +
              "\n  " + store_word(slot, "2u * e + 1u", "bits.y") + "\n";
    } else if (size == 4) {
      text += "  " + store_word(slot, "e", to_bits(d, "v")) + "\n";
    } else {
      const bool bytes = size == 1;
      text += "  let at = e >> " + std::string(bytes ? "2u" : "1u") + ";\n";
      text += "  let shift = (e & " + std::string(bytes ? "3u) * 8u" : "1u) * 16u") + ";\n";
      text += "  let mask = " + std::string(bytes ? "0xffu" : "0xffffu") + " << shift;\n";
      text += "  let bits = " + to_bits(d, "v") + " << shift;\n";
      const std::string b = "b" + num(slot) + "[at]";
      if (plan_.slots[slot].atomic)
        text += "  atomicAnd(&" + b + ", ~mask);\n  atomicOr(&" + b + ", bits);\n";
      else
        text +=
            "  " + store_word(slot, "at", "(" + load_word(slot, "at") + " & ~mask) | bits") + "\n";
    }
    return text + "}\n";
  }

  // Element address of a raw parameter: indices clamped into the array.
  std::string raw_address(Id p) {
    const ParamPlan& plan = own(p);
    const std::string offset = integer(From::offset, p);
    const int dims = param(p).ndim;
    std::string head = "fn p" + num(p) + "_at(";
    std::string body;
    if (dims < 0) {
      head += "i: i32";
      body += "  var rest = clamp(i, 0i, max(" + integer(From::count, p) + " - 1i, 0i));\n";
      if (plan.layout == Layout::contiguous) {
        body += "  return u32(" + offset + " + rest);\n";
      } else {
        body += "  var at = " + offset + ";\n";
        for (int axis = plan.ndim - 1; axis >= 0; --axis) {
          const auto a = static_cast<std::uint32_t>(axis);
          body += "  at += (rest % " + integer(From::extent, p, a) + ") * " +
                  integer(From::stride, p, a) + ";\n";
          if (axis > 0) body += "  rest /= " + integer(From::extent, p, a) + ";\n";
        }
        body += "  return u32(at);\n";
      }
    } else {
      body += "  return u32(" + offset;
      for (int axis = 0; axis < dims; ++axis) {
        const auto a = static_cast<std::uint32_t>(axis);
        head += (axis > 0 ? ", i" : "i") + num(a) + ": i32";
        body += " + clamp(i" + num(a) + ", 0i, max(" + integer(From::extent, p, a) +
                " - 1i, 0i)) * " + integer(From::stride, p, a);
      }
      body += ");\n";
    }
    return head + ") -> u32 {\n" + body + "}\n";
  }

  std::string accessors() {
    std::string text;
    for (Id p = 0; p < k_.params.size(); ++p) {
      if (param(p).kind == ParamKind::scalar) continue;
      text += getter(p);
      const bool sets = elementwise(p) ? param(p).access != Access::read : used_set_.contains(p);
      if (sets) text += setter(p);
      if (used_at_.contains(p)) text += raw_address(p);
    }
    for (const auto& [p, op] : used_atomics_)
      text += atomic_function("p" + num(p) + "_" + std::string(ir::name_of(op)), op, param(p).dtype,
                              "b" + num(own(p).slot), integer(From::count, p));
    return text;
  }

  // ---- addresses of elementwise parameters
  // Code that sets c0, c1, ... to the coordinates of element `number` of the walk.
  std::string coordinates(const std::string& prefix, const std::string& number, int ndim,
                          From extent) {
    std::string text;
    std::string rest = number;
    for (int axis = ndim - 1; axis >= 0; --axis) {
      const auto a = static_cast<std::uint32_t>(axis);
      const std::string c = prefix + num(a);
      if (axis == 0) {
        text += "  let " + c + " = " + rest + ";\n";
      } else {
        text += "  let " + c + " = " + rest + " % " + integer(extent, 0, a) + ";\n";
        text += "  let " + c + "r = " + rest + " / " + integer(extent, 0, a) + ";\n";
        rest = c + "r";
      }
    }
    return text;
  }
  std::string steps(const std::string& prefix, Id p, int ndim, From stride) {
    std::string text;
    for (int axis = 0; axis < ndim; ++axis)
      text += " + " + prefix + num(static_cast<std::uint64_t>(axis)) + " * " +
              integer(stride, p, static_cast<std::uint32_t>(axis));
    return text;
  }

  bool needs_coordinates() const {
    bool any = lower::uses(k_, Op::axis_index);
    for (Id p = 0; p < k_.params.size(); ++p)
      any = any || (elementwise(p) && own(p).layout == Layout::strided);
    return any;
  }

  // The element address of `p` in an elementwise kernel, at loop element `number` (i32).
  std::string place(Id p, const std::string& number) {
    const std::string offset = integer(From::offset, p);
    switch (own(p).layout) {
      case Layout::one:
        return "u32(" + offset + ")";
      case Layout::contiguous:
        return "u32(" + offset + " + " + number + ")";
      case Layout::strided:
        break;
    }
    return "u32(" + offset + steps("c", p, plan_.loop_ndim, From::outer_stride) + ")";
  }

  std::string axis(Id a) {
    uses_axes_ = true;
    return a < plan_.loop_ndim ? "s_c" + num(a) : "0i";
  }

  // ---- elementwise kernels
  bool preloads(Id p) const {
    if (param(p).access != Access::write) return true;
    bool stopped = false;
    return !always_stores(k_, k_.body, p, stopped);
  }
  bool written(Id p) const { return elementwise(p) && param(p).access != Access::read; }

  std::string element_body() {
    if (lower::uses(k_, Op::loop_index)) privates_ += "var<private> s_number: i32;\n";
    for (Id p = 0; p < k_.params.size(); ++p)
      if (elementwise(p))
        privates_ += "var<private> p" + num(p) + ": " + register_type(param(p).dtype) + ";\n";
    const std::string body = write_block(k_, *this, k_.body, {});
    if (uses_axes_)
      for (std::uint32_t a = 0; a < plan_.loop_ndim; ++a)
        privates_ += "var<private> s_c" + num(a) + ": i32;\n";
    return "fn element() {\n" + body + "}\n";
  }

  // Code that runs loop element `number` by itself.
  std::string one_element(const std::string& number) {
    std::string text;
    if (needs_coordinates()) text += coordinates("c", number, plan_.loop_ndim, From::outer_extent);
    if (uses_axes_)
      for (std::uint32_t a = 0; a < plan_.loop_ndim; ++a)
        text += "  s_c" + num(a) + " = c" + num(a) + ";\n";
    if (lower::uses(k_, Op::loop_index)) text += "  s_number = " + number + ";\n";
    for (Id p = 0; p < k_.params.size(); ++p)
      if (elementwise(p) && preloads(p))
        text += "  p" + num(p) + " = p" + num(p) + "_get(" + place(p, number) + ");\n";
    text += "  element();\n";
    for (Id p = 0; p < k_.params.size(); ++p)
      if (written(p)) text += "  p" + num(p) + "_set(" + place(p, number) + ", p" + num(p) + ");\n";
    return text;
  }

  std::string entry(const std::string& body) const {
    return "@compute @workgroup_size(" + num(plan_.workgroup) +
           ")\nfn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) nwg: "
           "vec3<u32>,\n    @builtin(local_invocation_index) lid: u32) {\n  let group = wid.y * "
           "nwg.x + wid.x;\n  let thread = group * " +
           num(plan_.workgroup) + "u + lid;\n" + body + "}\n";
  }

  std::string single_main() {
    return "fn run_one(number: i32) {\n" + one_element("number") + "}\n" +
           entry("  if (thread >= " + word(From::loop_size) +
                 ") { return; }\n  run_one(i32(thread));\n");
  }

  // Words (u32 or vec4<u32>) that hold four neighbouring elements, read at once.
  bool grouped(Id p) const {
    return elementwise(p) && own(p).aligned && size_of(param(p).dtype) <= 4;
  }

  std::string quad_main() {
    std::string text = "fn run_one(number: i32) {\n" + one_element("number") + "}\n";
    const std::string n = word(From::loop_size);
    std::string body = "  let first = thread * 4u;\n  if (first >= " + n + ") { return; }\n";
    body += "  if (first + 4u > " + n + ") {\n    for (var k = first; k < " + n +
            "; k++) { run_one(i32(k)); }\n    return;\n  }\n";
    for (Id p = 0; p < k_.params.size(); ++p) {
      if (!grouped(p)) continue;
      const std::string at = "q" + num(p);
      body += "  let " + at + " = (" + word(From::offset, p) + " + first) * " +
              num(size_of(param(p).dtype)) + "u / 4u;\n";
      if (preloads(p)) body += "  let " + at + "w = " + group_words(p, at) + ";\n";
      if (written(p)) body += "  var " + at + "r: array<u32, 4>;\n";
    }
    for (std::uint32_t k = 0; k < 4; ++k) body += quad_lane(k);
    for (Id p = 0; p < k_.params.size(); ++p)
      if (grouped(p) && written(p)) body += store_group(p);
    return text + entry(body);
  }

  std::string group_words(Id p, const std::string& at) const {
    const std::uint32_t slot = own(p).slot;
    switch (size_of(param(p).dtype)) {
      case 1:
        return load_word(slot, at);
      case 2:
        return "vec2<u32>(" + load_word(slot, at) + ", " + load_word(slot, at + " + 1u") + ")";
      default:
        if (plan_.slots[slot].vectors) return "b" + num(slot) + "[" + at + " >> 2u]";
        return "vec4<u32>(" + load_word(slot, at) + ", " + load_word(slot, at + " + 1u") + ", " +
               load_word(slot, at + " + 2u") + ", " + load_word(slot, at + " + 3u") + ")";
    }
  }

  // Element `k` of the four: its parameters into the private variables, the element, results kept.
  std::string quad_lane(std::uint32_t k) {
    std::string text = "  {\n  let number = i32(first + " + num(k) + "u);\n";
    if (needs_coordinates())
      text += coordinates("c", "number", plan_.loop_ndim, From::outer_extent);
    if (uses_axes_)
      for (std::uint32_t a = 0; a < plan_.loop_ndim; ++a)
        text += "  s_c" + num(a) + " = c" + num(a) + ";\n";
    if (lower::uses(k_, Op::loop_index)) text += "  s_number = number;\n";
    for (Id p = 0; p < k_.params.size(); ++p) {
      if (!elementwise(p) || !preloads(p)) continue;
      const DType d = param(p).dtype;
      std::string value = "p" + num(p) + "_get(" + place(p, "number") + ")";
      if (grouped(p)) {
        const std::string w = "q" + num(p) + "w";
        if (size_of(d) == 4) value = from_bits(d, w + "." + "xyzw"[k]);
        if (size_of(d) == 2)
          value = from_bits(
              d, "((" + w + "." + "xy"[k / 2] + " >> " + num(k % 2 * 16) + "u) & 0xffffu)");
        if (size_of(d) == 1) value = from_bits(d, "((" + w + " >> " + num(k * 8) + "u) & 0xffu)");
      }
      text += "  p" + num(p) + " = " + value + ";\n";
    }
    text += "  element();\n";
    for (Id p = 0; p < k_.params.size(); ++p) {
      if (!written(p)) continue;
      const std::string v = "p" + num(p);
      text += grouped(p)
                  ? "  q" + num(p) + "r[" + num(k) + "] = " + to_bits(param(p).dtype, v) + ";\n"
                  : "  " + v + "_set(" + place(p, "number") + ", " + v + ");\n";
    }
    return text + "  }\n";
  }

  std::string store_group(Id p) const {
    const std::uint32_t slot = own(p).slot;
    const std::string q = "q" + num(p);
    const auto lane = [&](int k) { return q + "r[" + num(static_cast<std::uint64_t>(k)) + "]"; };
    switch (size_of(param(p).dtype)) {
      case 1:
        return "  " +
               store_word(slot, q,
                          lane(0) + " | (" + lane(1) + " << 8u) | (" + lane(2) + " << 16u) | (" +
                              lane(3) + " << 24u)") +
               "\n";
      case 2:
        return "  " + store_word(slot, q, lane(0) + " | (" + lane(1) + " << 16u)") + "\n  " +
               store_word(slot, q + " + 1u", lane(2) + " | (" + lane(3) + " << 16u)") + "\n";
      default:
        break;
    }
    if (plan_.slots[slot].vectors)
      return "  b" + num(slot) + "[" + q + " >> 2u] = vec4<u32>(" + lane(0) + ", " + lane(1) +
             ", " + lane(2) + ", " + lane(3) + ");\n";
    std::string text;
    for (int k = 0; k < 4; ++k)
      text += "  " +
              store_word(slot, q + " + " + num(static_cast<std::uint64_t>(k)) + "u", lane(k)) +
              "\n";
    return text;
  }

  // ---- reductions
  DType reduced_type() const { return k_.locals[k_.reduction->a].type; }

  std::string reduction_bodies() {
    const ir::Reduction& r = *k_.reduction;
    const std::string t = register_type(reduced_type());
    if (lower::uses(k_, Op::axis_index)) missing = "the axes' indices in a reduction";
    privates_ += "var<private> s_number: i32;\nvar<private> s_inner: i32;\n";
    privates_ += "var<private> " + local_name(k_, r.mapped) + ": " + t + ";\n";
    privates_ += "var<private> " + local_name(k_, r.a) + ": " + t + ";\n";
    for (Id p = 0; p < k_.params.size(); ++p)
      if (elementwise(p))
        privates_ += "var<private> p" + num(p) + ": " + register_type(param(p).dtype) + ";\n";
    std::string text = "fn map() {\n" + write_block(k_, *this, k_.body, {r.mapped, r.a}) + "}\n";
    text += "fn combine(x: " + t + ", y: " + t + ") -> " + t + " {\n  let " + local_name(k_, r.a) +
            " = x;\n  let " + local_name(k_, r.b) + " = y;\n" + write_return(k_, *this, r.combine) +
            "}\n";
    in_post_ = true;
    text += "fn post() {\n" + write_block(k_, *this, r.post, {r.mapped, r.a}) + "}\n";
    text += run_map() + run_post();
    return text;
  }

  // The mapped value of element `inner` of row `row`.
  std::string run_map() {
    const ir::Reduction& r = *k_.reduction;
    std::string text =
        "fn mapped(row: i32, inner: i32) -> " + register_type(reduced_type()) + " {\n";
    text += coordinates("c", "row", plan_.loop_ndim, From::outer_extent);
    text += coordinates("d", "inner", plan_.inner_ndim, From::inner_extent);
    text += "  s_inner = inner;\n  s_number = 0i" + both_steps(kNone) + ";\n";
    text += "  " + local_name(k_, r.mapped) + " = " + zero_of(reduced_type()) + ";\n";
    for (Id p = 0; p < k_.params.size(); ++p)
      if (elementwise(p) && param(p).access == Access::read)
        text += "  p" + num(p) + " = p" + num(p) + "_get(u32(" + integer(From::offset, p) +
                both_steps(p) + "));\n";
    return text + "  map();\n  return " + local_name(k_, r.mapped) + ";\n}\n";
  }
  std::string both_steps(Id p) {
    return steps("c", p, plan_.loop_ndim, From::outer_stride) +
           steps("d", p, plan_.inner_ndim, From::inner_stride);
  }

  std::string run_post() {
    const ir::Reduction& r = *k_.reduction;
    std::string text = "fn finish(row: i32, total: " + register_type(reduced_type()) + ") {\n";
    text += coordinates("c", "row", plan_.loop_ndim, From::outer_extent);
    text += "  s_number = row;\n  " + local_name(k_, r.a) + " = total;\n";
    for (Id p = 0; p < k_.params.size(); ++p) {
      if (!written(p)) continue;
      bool stopped = false;
      if (param(p).access == Access::write && always_stores(k_, r.post, p, stopped)) continue;
      text += "  p" + num(p) + " = p" + num(p) + "_get(" + row_place(p) + ");\n";
    }
    text += "  post();\n";
    for (Id p = 0; p < k_.params.size(); ++p)
      if (written(p)) text += "  p" + num(p) + "_set(" + row_place(p) + ", p" + num(p) + ");\n";
    return text + "}\n";
  }
  std::string row_place(Id p) {
    return "u32(" + integer(From::offset, p) + steps("c", p, plan_.loop_ndim, From::outer_stride) +
           ")";
  }

  std::string identity() {
    const Id id = k_.reduction->identity;
    if (id == kNone) return zero_of(reduced_type());
    const ir::Scalar value{k_.exprs[id].bits, k_.exprs[id].bits_high};
    const auto text = literal(reduced_type(), value);
    return text ? *text : constant(reduced_type(), value);
  }

  // Elements first, first + stride, ... below `length` of row `row`, into `total`; `some` says
  // whether there were some.
  std::string strided_sum(const std::string& first, const std::string& stride) {
    return "  let length = " + integer(From::row_length) + ";\n  var total = " + identity() +
           ";\n  let some = " + first + " < length;\n  if (some) {\n    total = mapped(row, " +
           first + ");\n    for (var j = " + first + " + " + stride +
           "; j < length; j += " + stride + ") { total = combine(total, mapped(row, j)); }\n  }\n";
  }

  std::string thread_main() {
    return entry("  if (thread >= " + word(From::rows) +
                 ") { return; }\n  let row = i32(thread);\n" + strided_sum("0i", "1i") +
                 "  finish(row, total);\n");
  }

  // The workgroup's totals, of which the first `valid` count, joined into lane 0's `total`.
  std::string tree(const std::string& valid) const {
    const std::string half = num(plan_.workgroup / 2);
    return "  lanes[lid] = total;\n  workgroupBarrier();\n  for (var step = " + half +
           "u; step > 0u; step >>= 1u) {\n    if (lid < step && lid + step < " + valid +
           ") { lanes[lid] = combine(lanes[lid], lanes[lid + step]); }\n    workgroupBarrier();\n  "
           "}\n";
  }
  std::string lanes() const {
    return "var<workgroup> lanes: array<" + register_type(reduced_type()) + ", " +
           num(plan_.workgroup) + ">;\n";
  }

  std::string group_main() {
    const std::string w = num(plan_.workgroup);
    return lanes() +
           entry("  if (group >= " + word(From::rows) + ") { return; }\n  let row = i32(group);\n" +
                 strided_sum("i32(lid)", w + "i") + "  let valid = min(" + w +
                 "u, u32(length));\n" + tree("valid") +
                 "  if (lid == 0u) { finish(row, lanes[0]); }\n");
  }

  std::string split_main() {
    const std::string w = num(plan_.workgroup);
    const std::string parts = num(plan_.parts);
    const DType d = reduced_type();
    const std::string bits =
        size_of(d) == 8 ? to_bits(d, "lanes[0]") : "vec2<u32>(" + to_bits(d, "lanes[0]") + ", 0u)";
    // Rows are long here (see make_plan), so every invocation of every part has an element.
    return lanes() +
           entry("  if (group >= " + word(From::rows) + " * " + parts +
                 "u) { return; }\n  let row = i32(group / " + parts +
                 "u);\n  let start = i32((group % " + parts + "u) * " + w + "u + lid);\n" +
                 strided_sum("start", num(plan_.parts * plan_.workgroup) + "i") + tree(w + "u") +
                 "  if (lid == 0u) { scratch[group] = " + bits + "; }\n");
  }

  std::string join_main() {
    const std::string parts = num(plan_.parts);
    const DType d = reduced_type();
    const std::string word_pair = "scratch[group * " + parts + "u + lid]";
    const std::string value = from_bits(d, size_of(d) == 8 ? word_pair : word_pair + ".x");
    return lanes() +
           entry("  if (group >= " + word(From::rows) + ") { return; }\n  var total = " +
                 identity() + ";\n  if (lid < " + parts + "u) { total = " + value + "; }\n" +
                 "  for (var j = lid + " + num(plan_.workgroup) + "u; j < " + parts +
                 "u; j += " + num(plan_.workgroup) + "u) {\n    total = combine(total, " +
                 from_bits(d, size_of(d) == 8 ? "scratch[group * " + parts + "u + j]"
                                              : "scratch[group * " + parts + "u + j].x") +
                 ");\n  }\n" + tree("min(" + num(plan_.workgroup) + "u, " + parts + "u)") +
                 "  if (lid == 0u) { finish(i32(group), lanes[0]); }\n");
  }

  const Kernel& k_;
  const Plan& plan_;
  std::vector<UniformWord> words_;
  std::string privates_;
  bool uses_axes_ = false;
  bool in_post_ = false;
  std::set<Id> used_at_;
  std::set<Id> used_set_;
  std::set<std::pair<Id, Op>> used_atomics_;
};

}  // namespace

Result<WgslProgram> generate(const Kernel& kernel, const Plan& plan) {
  return Generator(kernel, plan).run();
}

std::vector<std::uint32_t> WgslProgram::uniform_words(const Kernel& kernel,
                                                      const Launch& launch) const {
  const Walks walks = make_walks(kernel, launch);
  std::vector<std::uint32_t> words;
  words.reserve(uniforms.size());
  for (const UniformWord& w : uniforms) {
    std::int64_t value = 0;
    const auto a = static_cast<int>(w.axis);
    const bool has_param = w.param < kernel.params.size();
    const std::int64_t item =
        has_param ? static_cast<std::int64_t>(size_of(kernel.params[w.param].dtype)) : 1;
    const auto walked = [&](const lower::Walk& walk) {
      const int operand = w.param == kNone ? walks.virtual_index : walks.operand[w.param];
      return walk.strides[static_cast<std::size_t>(operand)][a] / (w.param == kNone ? 1 : item);
    };
    const View* view = has_param ? &launch.operands[w.param].view : nullptr;
    switch (w.from) {
      case From::bits:
        value = w.bits;
        break;
      case From::loop_size:
        value = walks.outer.count() * walks.inner.count();
        break;
      case From::rows:
        value = walks.outer.count();
        break;
      case From::row_length:
        value = walks.inner.count();
        break;
      case From::outer_extent:
        value = walks.outer.shape[a];
        break;
      case From::inner_extent:
        value = walks.inner.shape[a];
        break;
      case From::outer_stride:
        value = walked(walks.outer);
        break;
      case From::inner_stride:
        value = walked(walks.inner);
        break;
      case From::offset:
        value = view->offset / item;
        break;
      case From::extent:
        value = a < view->ndim() ? view->shape[a] : 1;
        break;
      case From::stride:
        value = view->strides[a] / item;
        break;
      case From::count:
        value = view->count();
        break;
      case From::scalar: {
        const std::uint64_t bits = launch.operands[w.param].scalar.bits;
        value = static_cast<std::int64_t>((w.axis == 0 ? bits : bits >> 32) & 0xffffffffu);
        break;
      }
    }
    words.push_back(static_cast<std::uint32_t>(value));
  }
  return words;
}

std::uint64_t WgslProgram::scratch_bytes(const Launch& launch) const {
  std::uint64_t rows = 1;
  for (int axis = 0; axis < launch.loop.size(); ++axis)
    if ((launch.reduced >> axis & 1) == 0) rows *= static_cast<std::uint64_t>(launch.loop[axis]);
  return rows * scratch_word_pairs_per_row * 8;
}

std::array<std::uint32_t, 3> grid(const Kernel& kernel, const Plan& plan, const Launch& launch,
                                  std::size_t stage) {
  const Walks walks = make_walks(kernel, launch);
  const std::int64_t rows = walks.outer.count();
  std::int64_t threads = plan.quads ? (rows + 3) / 4 : rows;
  if (plan.rows == Rows::group) threads *= plan.workgroup;
  if (plan.rows == Rows::split) threads *= plan.workgroup * (stage == 0 ? plan.parts : 1);
  const std::int64_t groups = (threads + plan.workgroup - 1) / plan.workgroup;
  if (groups == 0) return {0, 0, 0};
  const std::int64_t limit = plan.limits.groups;
  if (groups <= limit) return {static_cast<std::uint32_t>(groups), 1, 1};
  const std::int64_t y = (groups + limit - 1) / limit;
  const std::int64_t x = (groups + y - 1) / y;
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 1};
}

}  // namespace arraycore::codegen
