// Runs a program on the threads of the thread pool. Only a large launch is divided among them,
// because it takes time to wake threads. Each thread has a machine. The result does not depend on
// the number of threads. One caller at a time.
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
  // `program` must outlive this object, at the same address.
  explicit ThreadedProgram(const Program& program) : program_(program) { add(); }

  // Runs a launch. Errors: those of ir::check_launch; device, "thread_lost".
  Status run(const ir::Launch& launch);
  // Returns the machine of the calling thread, for a caller that divides the work itself.
  Machine& machine() { return *machines_.front(); }

 private:
  static void part(void* task, std::int64_t part, int thread);
  void add() { machines_.push_back(std::make_unique<Machine>(program_)); }

  const Program& program_;
  std::vector<std::unique_ptr<Machine>> machines_;  // by thread
  std::int64_t units_ = 0;                          // of the launch that is running
  std::int64_t units_of_part_ = 0;
};

}  // namespace arraycore::cpu
