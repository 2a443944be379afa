// wgsl_cases FOLDER [RANDOM [FIRST_SEED]]: writes cases.json and data.bin for run_wgsl.mjs.
#include <cstdlib>
#include <iostream>

#include "case_writer.h"

int main(int argc, char** argv) {
  using namespace arraycore::wgsl_cases;
  if (argc < 2) die("usage: wgsl_cases FOLDER [RANDOM [FIRST_SEED]]");
  WgslWriter writer;
  add_operation_cases(writer);
  add_layout_cases(writer);
  add_reduction_cases(writer);
  add_product_cases(writer);
  add_surface_cases(writer);
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200;
  add_random_cases(writer, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1, count);
  writer.write(argv[1]);
  std::cout << writer.size() << " cases\n";
}
