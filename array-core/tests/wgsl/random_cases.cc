// Cases from random kernels.
#include <iostream>
#include <string>

#include "case_writer.h"
#include "ir/random_kernel.h"

namespace arraycore::wgsl_cases {

void add_random_cases(CaseWriter& writer, std::uint64_t first, std::uint64_t count) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    ir::RandomCase one = ir::random_case(seed, ir::Subset::gpu);
    std::vector<CaseArgument> arguments;
    for (const ir::RandomArgument& a : one.arguments)
      arguments.push_back({a.bytes, a.view, a.scalar, -1});
    if (writer.add("random " + std::to_string(seed), one.kernel, one.loop, one.reduced, arguments))
      continue;
    ++refused;
    if (writer.refusal().kind != ErrorKind::not_implemented)
      die("random " + std::to_string(seed) + ": " + writer.refusal().message);
    std::cout << "seed " << seed << " refused: " << writer.refusal().message << '\n';
  }
  if (refused * 20 > count) die("over 5 % of the random kernels were refused");
}

}  // namespace arraycore::wgsl_cases
