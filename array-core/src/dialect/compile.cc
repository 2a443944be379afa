// Compiles both kinds of kernels from their texts.
#include "dialect/dialect.h"
#include "dialect/lower.h"
#include "dialect/parser.h"
#include "dialect/types.h"

namespace arraycore::dialect {
namespace {

// The data that both kinds of compilation need: the sources, the types and the preamble.
struct Compilation {
  Compilation(const std::string& name, const BoundTypes& bound)
      : sources(name), types(bound), tokenizer(sources) {
    kernel.name = name;
  }

  std::unordered_set<std::string_view> letters() const {
    std::unordered_set<std::string_view> out;
    for (const auto& [letter, dtype] : types.letters) out.insert(letter);
    return out;
  }
  // Returns the widest floating type of the parameters, and at least float32.
  DType floating() const {
    bool wide = false;
    const auto look = [&](const std::vector<BoundParam>& params) {
      for (const BoundParam& p : params)
        wide = wide || p.dtype == DType::float64 || p.dtype == DType::complex128;
    };
    look(types.in);
    look(types.out);
    return wide ? DType::float64 : DType::float32;
  }
  std::vector<Token> tokens(const char* label, const std::string& text) {
    return tokenizer.run(sources.add(label, text));
  }

  Sources sources;
  const BoundTypes& types;
  Tokenizer tokenizer;
  Tree tree;
  ir::Kernel kernel;
};

bool fits(const std::vector<ParamSpec>& specs, const std::vector<BoundParam>& bound) {
  return specs.size() == bound.size();
}

Error mismatched(const std::string& name) {
  return {ErrorKind::internal, "kernel_binding",
          "kernel '" + name + "': the types were bound from other parameters"};
}

Symbol of_kind(Symbol::Kind kind) {
  Symbol symbol;
  symbol.kind = kind;
  return symbol;
}

Symbol hidden(std::string why) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::hidden;
  symbol.why = std::move(why);
  return symbol;
}

}  // namespace

Result<ir::Kernel> compile_elementwise(const ElementwiseText& text, const BoundTypes& types) {
  if (!fits(text.in_params, types.in) || !fits(text.out_params, types.out))
    return mismatched(text.name);
  Compilation c(text.name, types);
  Parser parser(c.sources, c.tree, c.letters());
  const auto preamble = parser.parse_preamble(c.tokens("preamble", text.preamble));
  const auto prep = parser.parse_statements(c.tokens("loop_prep", text.loop_prep));
  const auto operation = parser.parse_statements(c.tokens("operation", text.operation));
  const auto after = parser.parse_statements(c.tokens("after_loop", text.after_loop));
  if (c.sources.failed()) return c.sources.error();

  Lowering lowering(c.sources, c.tree, c.kernel, c.floating());
  lowering.add_letters(types);
  lowering.add_preamble(preamble);
  lowering.declare("i", of_kind(Symbol::Kind::loop_index));
  lowering.declare("n", of_kind(Symbol::Kind::loop_size));
  lowering.declare("_ind", of_kind(Symbol::Kind::indexer));
  lowering.declare("_j", hidden("'_j' counts a reduction's elements; here it is 'i'"));
  const auto add = [&](const std::vector<ParamSpec>& specs, const std::vector<BoundParam>& bound,
                       bool is_output) {
    for (std::size_t k = 0; k < specs.size(); ++k)
      lowering.declare_param(specs[k].name, lowering.add_param(specs[k], bound[k], is_output),
                             is_output);
  };
  add(text.in_params, types.in, false);
  add(text.out_params, types.out, true);
  c.kernel.body = lowering.block_of([&] {
    lowering.open_scope();
    lowering.statements(prep);
    lowering.open_scope();
    lowering.operation(operation, !after.empty());
    lowering.close_scope();
    lowering.statements(after);
    lowering.close_scope();
  });
  if (c.sources.failed()) return c.sources.error();
  lowering.finish_params();
  return std::move(c.kernel);
}

Result<ir::Kernel> compile_reduction(const ReductionText& text, const BoundTypes& types) {
  if (!fits(text.in_params, types.in) || !fits(text.out_params, types.out))
    return mismatched(text.name);
  Compilation c(text.name, types);
  Parser parser(c.sources, c.tree, c.letters());
  const auto preamble = parser.parse_preamble(c.tokens("preamble", text.preamble));
  const NodeId map = parser.parse_expression(c.tokens("map_expr", text.map_expr));
  const NodeId reduce = parser.parse_expression(c.tokens("reduce_expr", text.reduce_expr));
  const NodeId post = parser.parse_expression(c.tokens("post_map_expr", text.post_map_expr));
  const bool has_identity = text.identity.find_first_not_of(" \t\n") != std::string::npos;
  const NodeId identity =
      has_identity ? parser.parse_expression(c.tokens("identity", text.identity)) : kNoNode;
  const std::uint32_t type_text = c.sources.add("reduce_type", text.reduce_type);
  const std::uint32_t out_text = c.sources.add("out_params", "");
  if (c.sources.failed()) return c.sources.error();

  Lowering lowering(c.sources, c.tree, c.kernel, c.floating());
  lowering.add_letters(types);
  lowering.add_preamble(preamble);

  DType type = DType::float32;
  if (!text.reduce_type.empty()) {
    const auto named = lowering.named_type(text.reduce_type);
    const auto found = named ? named : builtin_type(text.reduce_type);
    if (!found) c.sources.fail({type_text, 0}, "this is not a type");
    type = found.value_or(type);
  } else if (!types.out.empty()) {
    type = types.out[0].dtype;
  } else {
    c.sources.fail({out_text, 0}, "a reduction has an output");
  }
  if (type == DType::float16) type = DType::float32;

  // Each text of a reduction sees only its own names. For example, post_map_expr does not see the
  // elements. So the inputs get no names here.
  std::vector<ir::Id> in;
  std::vector<ir::Id> out;
  for (std::size_t k = 0; k < text.in_params.size(); ++k)
    in.push_back(lowering.add_param(text.in_params[k], types.in[k], false));
  for (std::size_t k = 0; k < text.out_params.size(); ++k)
    out.push_back(lowering.add_param(text.out_params[k], types.out[k], true));
  ir::Accumulator reduction;
  reduction.mapped = lowering.new_local("mapped", type);
  reduction.a = lowering.new_local("a", type);
  reduction.b = lowering.new_local("b", type);
  const auto declare_accumulator = [&](const char* name, ir::Id local, bool is_const) {
    Symbol symbol;
    symbol.place.target = local;
    symbol.place.type = type;
    symbol.place.is_const = is_const;
    lowering.declare(name, std::move(symbol));
  };
  const auto close = [](const NodeId node, const Tree& tree) { return tree.nodes[node].where; };

  c.kernel.body = lowering.block_of([&] {
    lowering.open_scope();
    lowering.declare("_j", of_kind(Symbol::Kind::reduce_index));
    lowering.declare("_in_ind", of_kind(Symbol::Kind::indexer));
    lowering.declare("i", hidden("'i' is not known in map_expr: '_j' counts the elements"));
    for (std::size_t k = 0; k < in.size(); ++k)
      lowering.declare_param(text.in_params[k].name, in[k], false);
    for (const ParamSpec& spec : text.out_params)
      lowering.declare(spec.name, hidden("outputs exist in post_map_expr only"));
    const Value mapped = lowering.expression(map);
    lowering.assign(reduction.mapped, lowering.convert(mapped, type, close(map, c.tree)));
    lowering.close_scope();
  });

  const ir::Id effects = lowering.block_of([&] {
    lowering.open_scope();
    declare_accumulator("a", reduction.a, true);
    declare_accumulator("b", reduction.b, true);
    const Value combined = lowering.expression(reduce);
    reduction.combine = lowering.convert(combined, type, close(reduce, c.tree)).expr;
    lowering.close_scope();
  });
  if (!c.kernel.blocks[effects].empty())
    c.sources.fail(close(reduce, c.tree),
                   "reduce_expr has effects: it may only compute from a "
                   "and b");

  if (has_identity) {
    const Value value =
        lowering.convert(lowering.expression(identity), type, close(identity, c.tree));
    if (!c.sources.failed() && !lowering.is_constant(value))
      c.sources.fail(close(identity, c.tree), "the identity is not a constant");
    reduction.identity = value.expr;
  }

  const ir::Id results = lowering.block_of([&] {
    lowering.open_scope();
    lowering.declare("i", of_kind(Symbol::Kind::loop_index));
    lowering.declare("n", of_kind(Symbol::Kind::loop_size));
    lowering.declare("_j", hidden("'_j' is known in map_expr only"));
    declare_accumulator("a", reduction.a, true);
    for (std::size_t k = 0; k < in.size(); ++k) {
      if (types.in[k].kind == ir::ParamKind::elementwise)
        lowering.declare(text.in_params[k].name, hidden("elements of '" + text.in_params[k].name +
                                                        "' are known in map_expr only"));
      else
        lowering.declare_param(text.in_params[k].name, in[k], false);
    }
    for (std::size_t k = 0; k < out.size(); ++k)
      lowering.declare_param(text.out_params[k].name, out[k], true);
    lowering.discard(post);
    lowering.close_scope();
  });
  if (c.sources.failed()) return c.sources.error();
  ir::Reduction& made = c.kernel.reduction.emplace();
  made.values.push_back(reduction);
  made.post = results;
  lowering.finish_params();
  return std::move(c.kernel);
}

}  // namespace arraycore::dialect
