// Runs kernels that users write: CuPy's elementwise and reduction texts, programs that Python
// compiled (arraycore.jit), and WGSL. Each distinct
// text has one entry. The kernel that is compiled for the types of a call is kept and found again
// by a key of small integers. Python's thread only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "dialect/dialect.h"
#include "ir/ir.h"
#include "operations/ufunc_call.h"
#include "runtime/launcher.h"
#include "wgsl/raw_module.h"

namespace arraycore {

// An array, or a number that is converted to the parameter's type.
struct KernelArgument {
  UFuncOperand value;
  // True: the array is a temporary copy of other memory, so a write to it would be lost.
  bool borrowed = false;
};

// The kind that a kernel is added as. A program (a kernel that Python wrote in the representation)
// becomes an elementwise kernel or a reduction, and is called as one.
enum class KernelKind : std::uint8_t { elementwise = 0, reduction = 1, raw = 2, program = 3 };
using KernelNumber = std::int32_t;

class UserKernels {
 public:
  explicit UserKernels(Launcher& launcher);
  UserKernels(const UserKernels&) = delete;
  UserKernels& operator=(const UserKernels&) = delete;

  // Adds a kernel and returns its number; for texts that were added before, returns their old
  // number. `texts` are fields that each end with a zero byte (abi/calls/kernels.h). Numbers are at
  // least 0, and differ from those of other instances. Errors: value, "kernel_params"; compile,
  // "raw_text"; internal, "bad_call", "bad_kernel".
  Result<KernelNumber> add(KernelKind kind, std::string_view texts);

  // Returns the kind of a kernel; never `program`. Error: value, "unknown_kernel", if the number is
  // of a library that is closed.
  Result<KernelKind> kind_of(KernelNumber kernel) const;

  // Each run() returns the outputs that the caller did not pass, in order. `out` has every output
  // or none. Errors of all: type, "kernel_arguments"; compile, "kernel_text" and similar; value,
  // "loop_undecided", "loop_too_long", "shapes_do_not_broadcast", "out_shape", "read_only",
  // "scalar_out_of_bounds"; those of allocating and launching. REQUIRES: the kernel has the kind of
  // the call.

  struct Elementwise {
    KernelNumber kernel = 0;
    std::optional<std::int64_t> size;  // the size of the loop, if every array is raw
    std::span<const KernelArgument> in;
    std::span<const Array* const> out;
  };
  // Runs an elementwise kernel. Error: value, "kernel_size".
  Result<std::vector<Array>> run(const Elementwise& call);

  struct Reduction {
    KernelNumber kernel = 0;
    std::optional<Dims> axes;  // none: all axes
    bool keep_dims = false;
    std::span<const KernelArgument> in;
    std::span<const Array* const> out;
  };
  // Runs a reduction. Error: value, "axis_out_of_bounds", "repeated_axis", "empty_reduction".
  Result<std::vector<Array>> run(const Reduction& call);

  struct Raw {
    KernelNumber kernel = 0;
    std::array<std::uint32_t, 3> groups{1, 1, 1};
    // The words of the uniform block, if the caller gives its bytes. Otherwise the numbers among
    // the arguments fill the block.
    std::optional<std::span<const std::uint32_t>> uniforms;
    std::span<const KernelArgument> arguments;  // arrays in the order of the text's bindings
  };
  // Runs WGSL. Error: not_implemented, "no_raw_kernels"; value, "kernel_overlap", "uniform_size".
  Status run(const Raw& call);

  // The ids of a call's outputs except the first, until Python fetches them (see
  // abi/calls/kernels.h).
  std::vector<ArrayId> further_results;

 private:
  // An elementwise or reduction kernel compiled for the types of a call.
  struct Compiled {
    std::vector<std::uint64_t> types;  // the key: 4 bits for each parameter
    KernelRef kernel = 0;
    std::vector<DType> dtypes;  // the dtypes of the inputs, then of the outputs
    bool has_identity = true;
  };
  struct Kernel {
    KernelKind kind = KernelKind::elementwise;
    std::string name;
    dialect::ElementwiseText elementwise;
    dialect::ReductionText reduction;
    // The kernel itself, if it was added as a program. The texts then have only the parameters.
    std::optional<ir::Kernel> program;
    std::vector<Compiled> compiled;
    wgsl::RawModule raw;
    std::optional<KernelId> raw_kernel;

    const std::vector<dialect::ParamSpec>& in_params() const {
      return kind == KernelKind::elementwise ? elementwise.in_params : reduction.in_params;
    }
    const std::vector<dialect::ParamSpec>& out_params() const {
      return kind == KernelKind::elementwise ? elementwise.out_params : reduction.out_params;
    }
  };

  static Error bad_arguments(const Kernel& kernel, const std::string& why) {
    return {ErrorKind::type, "kernel_arguments", "kernel '" + kernel.name + "': " + why};
  }
  Kernel& at(KernelNumber kernel) { return kernels_[static_cast<std::size_t>(kernel - first_)]; }
  static Status read_program(const std::string& text, Kernel& kernel);
  static Result<ir::Kernel> body_of(const Kernel& kernel, const dialect::BoundTypes& bound);
  Result<const Compiled*> compiled(Kernel& kernel, std::span<const KernelArgument> in,
                                   std::span<const Array* const> out);
  Result<Compiled> compile(const Kernel& kernel, std::span<const KernelArgument> in,
                           std::span<const Array* const> out);
  Status launch(const Kernel& kernel, const Compiled& compiled, const Dims& loop,
                std::uint32_t reduced, std::span<const KernelArgument> in,
                std::span<const Array* const> out, bool into_given = false);
  Status fill_uniforms(const Kernel& kernel, const Raw& call);
  Status bind(const Kernel& kernel, std::span<const Array* const> arrays);

  Launcher& launcher_;
  KernelNumber first_;
  std::vector<Kernel> kernels_;
  std::unordered_map<std::string, KernelNumber> by_text_;
  // Data of the current call. They are members so that their memory is reused.
  std::vector<std::uint64_t> types_;
  std::vector<Operand> operands_;
  RawLaunch raw_launch_;
};

}  // namespace arraycore
