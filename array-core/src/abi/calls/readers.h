// Reads those arguments of ac_call that take several words. array-core/calls/kinds.toml describes
// the words of each. As in Words, a wrong word is reported by words.end() only. The functions named
// find_ and those with a Context look up arrays; call them after all words were read. Python's
// thread only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/calls/context.h"
#include "abi/calls/words.h"
#include "view/index.h"

namespace arraycore::calls {

// ---- arrays. Error: value, "array_freed". For masks also: type, "where_dtype".

// Returns the array of an id, or nullptr for id 0.
inline Result<const Array*> array_or_none(const Context& context, ArrayId id) {
  if (id == 0) return static_cast<const Array*>(nullptr);
  return context.get(id);
}
Result<const Array*> mask_of(const Context& context, ArrayId id);
inline Result<const Array*> mask_or_none(const Context& context, ArrayId id) {
  if (id == 0) return static_cast<const Array*>(nullptr);
  return mask_of(context, id);
}

// ---- numbers

inline std::optional<DType> read_optional_dtype(Words& words) {
  const std::int32_t number = words.below(static_cast<std::int32_t>(kDTypes) + 1);
  if (number == 0) return std::nullopt;
  return static_cast<DType>(number - 1);
}
std::optional<Dims> read_optional_dims(Words& words);
std::vector<std::int64_t> read_integers(Words& words);
std::optional<std::vector<std::int64_t>> read_optional_axes(Words& words);
std::vector<std::uint32_t> read_uint32s(Words& words);
std::vector<std::uint64_t> read_bits(Words& words);
std::string read_text(Words& words);
ops::UFuncId read_combining_ufunc(Words& words);
std::uint32_t read_tile(Words& words);

// ---- scalars and operands

// Reads the words of a scalar after its first word, `kind`.
UFuncOperand read_scalar(Words& words, std::int32_t kind);

struct Operands {
  std::array<UFuncOperand, ops::kMaxOperands> values;
  std::array<ArrayId, ops::kMaxOperands> ids{};  // 0: a scalar
  std::size_t count = 0;
};
Operands read_operands(Words& words, ops::UFuncId ufunc);
Status find_operands(const Context& context, Operands& operands);

using OperandDTypes = std::array<DType, ops::kMaxOperands>;
OperandDTypes read_operand_dtypes(Words& words, ops::UFuncId ufunc);

// The id of an array, or a scalar, as read from the words.
struct ValueWords {
  std::optional<ArrayId> id;
  UFuncOperand scalar;
};
ValueWords read_value(Words& words);
std::optional<ValueWords> read_optional_value(Words& words);
Result<UFuncOperand> operand_of(const Context& context, const ValueWords& value);
Result<std::optional<UFuncOperand>> optional_operand_of(const Context& context,
                                                        const std::optional<ValueWords>& value);

// ---- reductions

// Reads which operation reduces: sets only `reduction` or only `ufunc` of the result.
ReductionCall read_reducer(Words& words);

struct Initial {
  std::optional<UFuncOperand> value;
  bool has_identity = true;
};
Initial read_initial(Words& words);

// ---- keys

// Reads an item of an index after its first word, `head`, which is below kItemHeads.
inline constexpr std::int32_t kItemHeads = 32;
Index read_item(Words& words, std::int32_t head);
std::vector<Index> read_items(Words& words);

// An item of a key before its array is looked up.
struct KeyWords {
  std::int32_t head = 0;  // the first word: that of an item of an index, or a KeyHead
  Index basic;
  ArrayId id = 0;
  int axes = 1;
  std::int64_t outside = 0;
  Dims mask_shape;
};
std::vector<KeyWords> read_key(Words& words);
Result<std::vector<KeyItem>> key_of(const Context& context, const std::vector<KeyWords>& words);

// ---- arguments of users' kernels

struct Arguments {
  std::vector<KernelArgument> values;
  std::vector<std::optional<ArrayId>> ids;  // none: the argument is a number
};
Arguments read_arguments(Words& words);
Status find_arguments(const Context& context, Arguments& arguments);
std::optional<std::vector<std::uint32_t>> read_uniforms(Words& words);

// ---- networks

// The words of a convolution. `space` is set for gradients only: the extents of their spatial
// axes.
struct ConvolutionWords {
  ConvolutionGeometry how;
  Dims space;
};
ConvolutionWords read_convolution(Words& words);

struct PoolingWords {
  PoolGeometry how;
  Dims space;
};
PoolingWords read_pooling(Words& words);

}  // namespace arraycore::calls
