// Finds the functions of ac_call's operations by their numbers (arraycore/operations.h). A function
// reads its words and checks them (words.end()) before it does anything else. The code that decodes
// the words is generated (array-core/calls). Python's thread only.
#pragma once

#include <cstdint>

#include "abi/calls/context.h"
#include "abi/calls/words.h"
#include "base/result.h"

namespace arraycore::calls {

// Executes one operation. Returns an array's id, or another number that the operation defines.
using Call = Result<std::int32_t> (*)(Context& context, Words& words);

// find_frequent() and find_rare() look up an operation's function in one table each. They return
// nullptr if the table does not have it. find() looks in both tables.
Call find_frequent(std::int32_t operation);
Call find_rare(std::int32_t operation);
inline Call find(std::int32_t operation) {
  if (const Call call = find_frequent(operation)) return call;
  return find_rare(operation);
}

}  // namespace arraycore::calls
