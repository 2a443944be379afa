// Views and reshapes as ac_call takes them: AC_CALL_INDEX to AC_CALL_IMAG, AC_CALL_AS_STRIDED. Each
// gives the id of a new array over the same storage (RESHAPE and IMAG: where NumPy gives a view).
// Python's thread only.
//
// Words of each call, in order. `axes`, `shape` and `items` go to the end of the words; a number
// without another note is an int64 of two words.
//
//   INDEX         array (one word), items
//   RESHAPE       array, mode, order (one word each), shape; one extent may be -1
//                 mode: ReshapeMode. order: 0 C, 1 F, 2 A (F for what is F- and not C-contiguous)
//   TRANSPOSE     array, 0 | array, 1, axes (one word each but axes); 0: all axes reversed
//   SWAP_AXES     array (one word), axis, axis
//   MOVE_AXES     array, count (one word each), `count` sources, destinations
//   FLIP          array, 0 | array, 1, axes; 0: along every axis
//   SQUEEZE       array, 0 | array, 1, axes; 0: every axis of extent 1
//   EXPAND_DIMS   array (one word), axes
//   BROADCAST_TO  array (one word), shape
//   DIAGONAL      array (one word), offset, axis, axis
//   REINTERPRET   array, dtype (one word each)
//   REAL, IMAG    array (one word). IMAG of a real dtype: new zeros
//   AS_STRIDED    array (one word), shape, strides in bytes: each a count (one word) and as many
//
// An item of an index is a head word, kind + 4 * given (kind: 0 integer, 1 slice, 2 newaxis, 3
// ellipsis), and after it an integer's position, or those of a slice's start, stop and step that
// `given` has a bit for (1, 2, 4).
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
  any = 0,    // a view where strides can say it, else a copy
  ravel = 1,  // a view only of what is contiguous in the order, else a copy
  copy = 2,   // always a copy
  never = 3,  // a view or an error: value, "reshape_needs_copy"
};

// An item of an index whose head word was read; heads are below kItemHeads.
inline constexpr std::int32_t kItemHeads = 32;
Index read_item(Words& words, std::int32_t head);

// The items of an index, to the end of the words.
std::vector<Index> read_items(Words& words);

// As many 64-bit integers as there are, to the end of the words.
std::vector<std::int64_t> read_integers(Words& words);

// The array of an id that `items` leave of it. Error: value, "array_freed"; basic_index's.
Result<Array> indexed(const Context& context, ArrayId id, const std::vector<Index>& items);

}  // namespace arraycore::calls
