// Views and reshapes as ac_call takes them: AC_CALL_INDEX to AC_CALL_IMAG, AC_CALL_AS_STRIDED. Each
// returns the id of a new array over the same storage (RESHAPE and IMAG only where NumPy gives a
// view). Python's thread only.
//
// Words of each call, in order. `axes`, `shape` and `items` are the remaining words. A number
// without another note is an int64 of two words.
//
//   INDEX         array (one word), items
//   RESHAPE       array, mode, order (one word each), shape; one extent may be -1
//                 mode: ReshapeMode. order: 0 C, 1 F, 2 A (F for an array that is F- and not
//                 C-contiguous)
//   TRANSPOSE     array, 0 | array, 1, axes (one word each but axes); 0: reverses all axes
//   SWAP_AXES     array (one word), axis, axis
//   MOVE_AXES     array, count (one word each), `count` sources, destinations
//   FLIP          array, 0 | array, 1, axes; 0: along every axis
//   SQUEEZE       array, 0 | array, 1, axes; 0: every axis of extent 1
//   EXPAND_DIMS   array (one word), axes
//   BROADCAST_TO  array (one word), shape
//   DIAGONAL      array (one word), offset, axis, axis
//   REINTERPRET   array, dtype (one word each)
//   REAL, IMAG    array (one word). IMAG of a real dtype gives new zeros
//   AS_STRIDED    array (one word), shape, strides in bytes: each a count (one word) and the
//   numbers
//
// An item of an index is a head word, kind + 4 * given (kind: 0 integer, 1 slice, 2 newaxis, 3
// ellipsis). After it comes an integer's position, or those of a slice's start, stop and step for
// which `given` has a bit (1, 2, 4).
#pragma once

#include <cstdint>
#include <vector>

#include "abi/calls/context.h"
#include "abi/calls/words.h"
#include "base/result.h"
#include "runtime/array_table.h"
#include "view/index.h"
#include "view/view.h"

namespace arraycore::calls {

enum class ReshapeMode : std::uint8_t {
  any = 0,    // a view where strides can express it, otherwise a copy
  ravel = 1,  // a view only if the array is contiguous in the order, otherwise a copy
  copy = 2,   // always a copy
  never = 3,  // a view or an error: value, "reshape_needs_copy"
};

// An item of an index after its head word. Heads are below kItemHeads.
inline constexpr std::int32_t kItemHeads = 32;
Index read_item(Words& words, std::int32_t head);

// Reads the items of an index, up to the end of the words.
std::vector<Index> read_items(Words& words);

// Reads 64-bit integers up to the end of the words.
std::vector<std::int64_t> read_integers(Words& words);

// Returns `array[items]` of an id. Error: value, "array_freed"; those of basic_index.
Result<Array> indexed(const Context& context, ArrayId id, const std::vector<Index>& items);

}  // namespace arraycore::calls
