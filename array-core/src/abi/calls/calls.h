// Finds the operations of ac_call by their numbers (arraycore/operations.h). Each reads its words,
// checks them (words.end()) and then works. The code that decodes them is generated
// (array-core/calls). Python's thread only.
#pragma once

#include <cstdint>

#include "abi/calls/context.h"
#include "abi/calls/words.h"
#include "base/result.h"

namespace arraycore::calls {

// Executes one operation. Returns an array's id, or another number that the operation defines.
using Call = Result<std::int32_t> (*)(Context& context, Words& words);

// These functions return the function of an operation; nullptr if their table does not have it.
Call find_frequent(std::int32_t operation);
Call find_rare(std::int32_t operation);
inline Call find(std::int32_t operation) {
  if (const Call call = find_frequent(operation)) return call;
  return find_rare(operation);
}

}  // namespace arraycore::calls
