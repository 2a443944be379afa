#include "ir/read.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/op_info.h"

namespace arraycore::ir {
namespace {

constexpr std::array<std::string_view, 11> kStatements{
    "assign",     "assign_at", "store", "store_at", "branch",  "loop",
    "loop_until", "leave",     "next",  "give",     "evaluate"};
constexpr std::array<std::string_view, 3> kKinds{"elementwise", "raw", "scalar"};
constexpr std::array<std::string_view, 3> kAccesses{"read", "write", "read_write"};
constexpr std::array<std::string_view, 2> kUpdates{"plain", "atomic"};
constexpr int kMaxDims = 32;

// The words of one line. A word that is missing or wrong sets `ok` to false.
class Line {
 public:
  explicit Line(std::string_view text) : left_(text) { skip(); }

  bool ok() const { return ok_; }
  void reject() { ok_ = false; }
  bool more() const { return !left_.empty(); }
  std::string_view word() {
    const std::string_view out = left_.substr(0, left_.find(' '));
    if (out.empty()) ok_ = false;
    left_.remove_prefix(out.size());
    skip();
    return out;
  }
  template <typename T>
  T number() {
    const std::string_view text = word();
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) ok_ = false;
    return value;
  }
  Id id() {
    if (left_.substr(0, left_.find(' ')) != "-") return number<Id>();
    word();
    return kNone;
  }
  template <std::size_t N>
  std::size_t one_of(const std::array<std::string_view, N>& names) {
    const auto found = std::ranges::find(names, word());
    if (found == names.end()) {
      ok_ = false;
      return 0;
    }
    return static_cast<std::size_t>(found - names.begin());
  }
  DType dtype() {
    const auto found = dtype_named(word());
    if (!found) ok_ = false;
    return found.value_or(DType::int32);
  }
  void finish() {
    if (more()) ok_ = false;
  }

 private:
  void skip() { left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size())); }

  std::string_view left_;
  bool ok_ = true;
};

class Reader {
 public:
  explicit Reader(std::string name) { out_.kernel.name = std::move(name); }

  Result<ReadKernel> run(std::string_view text) {
    if (text.size() > kMaxProgramBytes) return wrong("is larger than 4 MiB");
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      Line words(line);
      record(words);
      words.finish();
      if (!words.ok()) return wrong("cannot be read in line " + std::to_string(number));
    }
    if (out_.inputs > k_.params.size()) return wrong("has fewer parameters than inputs");
    return std::move(out_);
  }

 private:
  Error wrong(const std::string& what) const {
    return {ErrorKind::internal, "bad_kernel",
            "kernel '" + k_.name + "': its program " + what + "."};
  }

  // Appends the remaining words to Kernel::args, and returns their position and number.
  std::pair<Id, std::uint32_t> arguments(Line& line) {
    const auto first = static_cast<Id>(k_.args.size());
    while (line.more() && line.ok()) k_.args.push_back(line.number<Id>());
    return {first, static_cast<std::uint32_t>(k_.args.size() - first)};
  }
  static std::vector<Id> ids(Line& line) {
    std::vector<Id> out;
    while (line.more() && line.ok()) out.push_back(line.number<Id>());
    return out;
  }
  static Op op(Line& line) {
    const std::string_view name = line.word();
    const auto found = std::ranges::find(kOpInfo, name, &OpInfo::name);
    if (found != kOpInfo.end()) return found->op;
    line.reject();
    return Op::constant;
  }

  void record(Line& line) {
    const std::string_view kind = line.word();
    if (kind == "expr") return expression(line);
    if (kind == "stmt") return statement(line);
    if (kind == "block") return k_.blocks.push_back(ids(line));
    if (kind == "local") return local(line);
    if (kind == "param") return param(line);
    if (kind == "function") return function(line);
    if (kind == "accumulator") return accumulator(line);
    if (kind == "inputs") {
      out_.inputs = line.number<std::uint32_t>();
    } else if (kind == "body") {
      k_.body = line.id();
    } else if (kind == "post") {
      reduction().post = line.id();
    } else {
      line.reject();
    }
  }

  void expression(Line& line) {
    Expr e;
    e.op = op(line);
    e.type = line.dtype();
    e.index = line.id();
    e.bits = line.number<std::uint64_t>();
    e.bits_high = line.number<std::uint64_t>();
    std::tie(e.first_arg, e.count) = arguments(line);
    k_.exprs.push_back(e);
  }

  void statement(Line& line) {
    Stmt s;
    s.kind = static_cast<StmtKind>(line.one_of(kStatements));
    s.target = line.id();
    s.value = line.id();
    s.then = line.id();
    s.otherwise = line.id();
    std::tie(s.first_arg, s.count) = arguments(line);
    k_.stmts.push_back(s);
  }

  void local(Line& line) {
    Local l;
    l.name = line.word();
    l.type = line.dtype();
    l.length = line.number<std::uint32_t>();
    if (l.length > kMaxLocalLength) line.reject();
    k_.locals.push_back(std::move(l));
  }

  void param(Line& line) {
    Param p;
    p.name = line.word();
    p.dtype = line.dtype();
    p.kind = static_cast<ParamKind>(line.one_of(kKinds));
    p.access = static_cast<Access>(line.one_of(kAccesses));
    p.atomic = line.one_of(kUpdates) == 1;
    p.ndim = line.number<std::int8_t>();
    if (p.ndim < -1 || p.ndim == 0 || p.ndim > kMaxDims) line.reject();
    k_.params.push_back(std::move(p));
  }

  void function(Line& line) {
    Function f;
    f.name = line.word();
    const std::string_view result = line.word();
    if (result != "-") {
      f.result = dtype_named(result);
      if (!f.result) line.reject();
    }
    f.body = line.id();
    f.arguments = ids(line);
    k_.functions.push_back(std::move(f));
  }

  void accumulator(Line& line) {
    Accumulator a;
    a.mapped = line.id();
    a.a = line.id();
    a.b = line.id();
    a.combine = line.id();
    a.identity = line.id();
    reduction().values.push_back(a);
  }

  Reduction& reduction() {
    if (!k_.reduction) k_.reduction.emplace();
    return *k_.reduction;
  }

  ReadKernel out_;
  Kernel& k_ = out_.kernel;
};

}  // namespace

Result<ReadKernel> read_kernel(std::string name, std::string_view text) {
  return Reader(std::move(name)).run(text);
}

}  // namespace arraycore::ir
