// A kernel's machines, one for each thread of the thread pool: launches that are large enough to be
// worth waking the others are shared out among them. What is computed does not depend on their
// number. One caller at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cpu/machine.h"
#include "cpu/program.h"

namespace arraycore::cpu {

class ThreadedProgram {
 public:
  // `program` outlives it and stays where it is.
  explicit ThreadedProgram(const Program& program) : program_(program) { add(); }

  // Error: those of a launch (ir::check_launch); device, "thread_lost".
  Status run(const ir::Launch& launch);
  // For a caller that shares out the work itself.
  Machine& machine() { return *machines_.front(); }

 private:
  static void part(void* task, std::int64_t part, int thread);
  void add() { machines_.push_back(std::make_unique<Machine>(program_)); }

  const Program& program_;
  std::vector<std::unique_ptr<Machine>> machines_;  // by thread
  std::int64_t units_ = 0;                          // of the launch under way
  std::int64_t units_of_part_ = 0;
};

}  // namespace arraycore::cpu
