// A Kernel compiled for the blocked CPU interpreter: registers of kLanes values, steps over them,
// and the structure of the statements. A compiled program never changes, and any thread may run it,
// because each run has its own registers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cpu/loops.h"
#include "ir/interpret.h"
#include "ir/ir.h"

namespace arraycore::cpu {

using Register = std::uint32_t;
inline constexpr Register kNoRegister = 0xffffffff;

struct Node;

struct Step {
  enum class Kind : std::uint8_t {
    compute,     // runs loop over d, a, b, c
    select,      // d = a ? b : c
    raw_read,    // d = params[target][index]
    array_read,  // d = array a [index]
    call,        // runs body; the result is in d
    lazy,        // where a is true (`negated`: false), runs body and moves its result to d
    atomic,  // applies op to params[target][index] with operands b and c; the old value goes to d
  };
  Kind kind = Kind::compute;
  Loop loop = nullptr;
  DType type = DType::int32;
  ir::Op op = ir::Op::constant;
  bool negated = false;
  std::uint32_t length = 0;  // for array_read
  ir::Id target = ir::kNone;
  Register d = kNoRegister, a = kNoRegister, b = kNoRegister, c = kNoRegister;
  std::vector<Register> index;
  std::vector<Step> steps;     // for lazy
  std::vector<Node> body;      // for call
  std::vector<Register> zero;  // for call: the function's own locals
};

struct Node {
  ir::StmtKind kind = ir::StmtKind::evaluate;
  ir::Id target = ir::kNone;
  DType type = DType::int32;
  std::uint32_t length = 0;
  std::vector<Step> steps;  // compute `value` and `index`; in a loop, its condition
  Register value = kNoRegister;
  Register to = kNoRegister;  // the local, the parameter's register or the function's result
  std::vector<Register> index;
  std::vector<Node> then;
  std::vector<Node> otherwise;
};

struct RegisterInfo {
  DType type = DType::int32;
  std::uint32_t length = 1;  // an array has so many consecutive registers
};

struct Fill {  // a register that holds one value throughout a run
  Register to = kNoRegister;
  ir::Scalar value;
};

class Program {
 public:
  // Compiles a kernel. REQUIRES: verify(kernel) passed.
  static Program compile(const ir::Kernel& kernel);

  const ir::Kernel& kernel() const { return kernel_; }
  // Returns whether elements (in a reduction, rows) may be computed at the same time: none writes
  // what another one may read or write.
  bool is_independent() const { return independent_; }
  // Runs the program on a new machine. If a program runs often, keep a Machine (machine.h).
  Status run(const ir::Launch& launch) const;

 private:
  friend class Compiler;
  friend class Machine;

  ir::Kernel kernel_;
  bool independent_ = true;
  std::int64_t work_ = 1;  // operations on an element, each loop counted once
  std::vector<RegisterInfo> registers_;
  std::vector<Fill> constants_;
  std::vector<Register> params_;  // elementwise and scalar parameters' values
  std::vector<Register> locals_;
  std::vector<ir::Id> zeroed_;  // locals that must be 0 when an element's body begins
  Register loop_index_ = kNoRegister, loop_size_ = kNoRegister, reduce_index_ = kNoRegister;
  std::vector<std::pair<ir::Id, Register>> axes_;
  std::vector<std::pair<ir::Id, Register>> sizes_;                      // param_size
  std::vector<std::pair<std::pair<ir::Id, ir::Id>, Register>> shapes_;  // param_shape (param, axis)
  std::vector<Node> body_;
  std::vector<Node> post_;
  std::vector<Step> combine_;
  std::vector<Register> combined_;  // by accumulator
};

}  // namespace arraycore::cpu
