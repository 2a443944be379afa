// Cases for every kind of kernel for products of matrices and convolutions, with the problem of its
// self-test.
#include <algorithm>

#include "case_writer.h"
#include "gemm/self_test.h"
#include "gemm/wgsl.h"
#include "ir/builder.h"

namespace arraycore::wgsl_cases {

void WgslWriter::add_product(const gemm::Variant& variant, const gemm::Stages& stages) {
  const gemm::SelfTest test = gemm::self_test(variant, stages);
  const auto [x, y] = gemm::grid_of(variant, test.problem);
  const auto buffer = [&](int slot, std::vector<float> before, std::vector<float> after) {
    for (std::vector<float>* values : {&before, &after})
      while (values->size() % 4 != 0) values->push_back(0);
    const auto bytes = [&](const std::vector<float>& values) {
      return blob(reinterpret_cast<const std::byte*>(values.data()), values.size() * 4);
    };
    return nlohmann::json{
        {"slot", slot}, {"before", bytes(before)}, {"after", bytes(after)}, {"dtype", "float32"}};
  };
  // `written` is the slot of the result. The other slots are only read.
  const auto stage = [](const std::string& text, const std::vector<int>& slots, int written,
                        std::array<std::uint32_t, 3> grid) {
    nlohmann::json bindings = nlohmann::json::array();
    for (const int slot : slots) bindings.push_back({{"slot", slot}, {"write", slot == written}});
    return nlohmann::json{{"text", text}, {"bindings", bindings}, {"grid", grid}};
  };
  constexpr int kScratch = -1;
  constexpr int kOperands = 3;  // the slot of the first operand
  const bool split = test.choice.splits > 1;
  const gemm::Stages of_product = gemm::stages_of_product(variant, test.stages);
  std::vector<int> slots{0, 1, split ? kScratch : 2};
  std::vector<int> join{kScratch, 2};
  for (int i = 0; i < of_product.prologue.operands() + of_product.epilogue.operands(); ++i)
    slots.push_back(kOperands + i);
  for (int i = 0; i < test.stages.epilogue.operands(); ++i)
    join.push_back(kOperands + test.stages.prologue.operands() + i);
  nlohmann::json one;
  one["name"] = "product " + variant.name() + (stages.any() ? " with stages" : "");
  one["uniforms"] = gemm::uniform_words(test.problem, test.choice, 0, test.stages);
  one["scratch"] = split ? test.choice.splits * test.want.size() * 4 : 0;
  one["stages"].push_back(stage(*gemm::generate(variant, of_product), slots, split ? kScratch : 2,
                                {x, y, test.choice.splits}));
  if (split)
    one["stages"].push_back(stage(
        *gemm::generate_join(variant.axes, gemm::stages_of_join(test.stages)), join, 2, {1, 1, 1}));
  for (std::size_t i = 0; i < test.operands.size(); ++i)
    one["buffers"].push_back(
        buffer(kOperands + static_cast<int>(i), test.operands[i], test.operands[i]));
  one["buffers"].push_back(buffer(0, test.a, test.a));
  one["buffers"].push_back(buffer(1, test.b, test.b));
  one["buffers"].push_back(buffer(2, std::vector<float>(test.want.size(), -7), test.want));
  one["ulp"] = 0;
  one["floor"] = 0;
  cases_.push_back(std::move(one));
}

namespace {

void add_windows(WgslWriter& writer) {
  using gemm::Kind;
  using gemm::Load;
  for (const std::uint8_t axes : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}})
    for (const Load a : {Load::outer, Load::terms4, Load::terms})
      for (const Kind kind : {Kind::direct, Kind::tiled}) {
        gemm::Variant variant{.kind = kind, .tile = gemm::tiles()[3], .a = a, .b = Load::window};
        variant.axes = axes;
        variant.three = a != Load::terms;
        variant.store4 = a == Load::terms4;
        writer.add_product(variant);
        if (kind == Kind::direct) continue;
        variant.split = true;
        writer.add_product(variant);
        variant.prefetch = true;
        writer.add_product(variant);
        variant.three = false;
        variant.prefetch = a == Load::terms;
        variant.b = Load::window_terms;
        variant.split = a == Load::outer;
        writer.add_product(variant);
      }
  for (const bool split : {false, true})
    for (const std::uint8_t axes : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
      gemm::Variant variant;
      variant.a = Load::outer;
      variant.b = Load::window;
      variant.axes = axes;
      variant.split = split;
      writer.add_product(variant);
    }
}

// The stages of the tested products: the prologue computes x * factor + shift, and the epilogue
// computes max(0, sum + bias). Both are exact for small integers.
ir::Kernel scale_and_shift() {
  ir::Builder builder("scale_and_shift");
  const ir::ParamRef x = builder.in("x", DType::float32);
  const ir::ParamRef factor = builder.in("factor", DType::float32);
  const ir::ParamRef shift = builder.in("shift", DType::float32);
  const ir::ParamRef out = builder.out("out", DType::float32);
  builder.store(out, builder.read(x) * builder.read(factor) + builder.read(shift));
  return builder.take();
}
ir::Kernel add_and_cut() {
  ir::Builder builder("add_and_cut");
  const ir::ParamRef sum = builder.in("sum", DType::float32);
  const ir::ParamRef bias = builder.in("bias", DType::float32);
  const ir::ParamRef out = builder.out("out", DType::float32);
  builder.store(out, builder.apply(ir::Op::maximum, {builder.read(sum) + builder.read(bias),
                                                     builder.constant(DType::float32, 0)}));
  return builder.take();
}

void add_stages(WgslWriter& writer) {
  using gemm::Kind;
  using gemm::Load;
  static const ir::Kernel prologue = scale_and_shift();
  static const ir::Kernel epilogue = add_and_cut();
  gemm::Stages stages;
  stages.prologue.kernel = &prologue;
  stages.epilogue.kernel = &epilogue;
  for (const Kind kind : {Kind::plain, Kind::direct, Kind::tiled, Kind::rows, Kind::columns})
    for (const Load b :
         {Load::terms4, Load::lines4, Load::terms, Load::window, Load::window_terms}) {
      const bool vector = kind == Kind::rows || kind == Kind::columns;
      if (vector && b != Load::terms) continue;
      if (kind == Kind::plain && b != Load::terms && b != Load::window) continue;
      if (kind != Kind::tiled && b == Load::window_terms) continue;
      gemm::Variant variant{.kind = kind, .tile = gemm::tiles()[3], .a = Load::terms, .b = b};
      if (kind == Kind::columns) variant.a = Load::lines;
      if (b == Load::window || b == Load::window_terms) {
        variant.a = Load::outer;
        variant.axes = 2;
      }
      writer.add_product(variant, stages);
      if (kind == Kind::direct) continue;
      variant.split = true;
      writer.add_product(variant, stages);
    }
}

}  // namespace

void add_product_cases(WgslWriter& writer) {
  using gemm::Kind;
  using gemm::Load;
  gemm::Variant variant;
  writer.add_product(variant);
  for (const Load a : {Load::terms4, Load::lines4, Load::terms, Load::lines})
    for (const Load b : {Load::terms4, Load::lines4, Load::terms, Load::lines})
      for (const Kind kind : {Kind::direct, Kind::tiled}) {
        variant = {.kind = kind, .tile = gemm::tiles()[3], .a = a, .b = b};
        variant.store4 = a == b;
        writer.add_product(variant);
      }
  for (const gemm::Tile& tile : gemm::tiles()) {
    if (tile.threads() > gemm::Device{.invocations = 256}.invocations) continue;
    variant = {.kind = Kind::tiled, .tile = tile, .a = Load::terms4, .b = Load::lines4};
    variant.store4 = true;
    writer.add_product(variant);
    variant.prefetch = true;
    writer.add_product(variant);
    variant.split = true;
    writer.add_product(variant);
  }
  for (const bool split : {false, true})
    for (const Load a : {Load::terms4, Load::terms, Load::lines}) {
      variant = {};
      variant.kind = a == Load::lines ? Kind::columns : Kind::rows;
      variant.a = a;
      variant.split = split;
      writer.add_product(variant);
    }
  add_windows(writer);
  add_stages(writer);
}

}  // namespace arraycore::wgsl_cases
