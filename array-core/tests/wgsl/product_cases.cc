// Every kind of kernel for products of matrices, on the problem of its start-up check.
#include <algorithm>

#include "case_writer.h"
#include "gemm/self_test.h"
#include "gemm/wgsl.h"

namespace arraycore::wgsl_cases {

void CaseWriter::add_product(const gemm::Variant& variant) {
  const gemm::SelfTest test = gemm::self_test(variant);
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
  const auto stage = [](const std::string& text, std::initializer_list<int> slots,
                        std::array<std::uint32_t, 3> grid) {
    nlohmann::json bindings = nlohmann::json::array();
    for (const int slot : slots)
      bindings.push_back({{"slot", slot}, {"write", bindings.size() + 1 == slots.size()}});
    return nlohmann::json{{"text", text}, {"bindings", bindings}, {"grid", grid}};
  };
  constexpr int kScratch = -1;
  const bool split = test.choice.splits > 1;
  nlohmann::json one;
  one["name"] = "product " + variant.name();
  one["uniforms"] = gemm::uniform_words(test.problem, test.choice, 0);
  one["scratch"] = split ? test.choice.splits * test.want.size() * 4 : 0;
  one["stages"].push_back(
      stage(gemm::generate(variant), {0, 1, split ? kScratch : 2}, {x, y, test.choice.splits}));
  if (split) one["stages"].push_back(stage(gemm::generate_join(), {kScratch, 2}, {1, 1, 1}));
  one["buffers"].push_back(buffer(0, test.a, test.a));
  one["buffers"].push_back(buffer(1, test.b, test.b));
  one["buffers"].push_back(buffer(2, std::vector<float>(test.want.size(), -7), test.want));
  one["ulp"] = 0;
  one["floor"] = 0;
  cases_.push_back(std::move(one));
}

void add_product_cases(CaseWriter& writer) {
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
}

}  // namespace arraycore::wgsl_cases
