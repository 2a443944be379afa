// The file descriptors of this process and how many connections they allow. Without a reserve, a
// flood of connections would leave none for the database, uploads and webhooks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace hyperflock::app {

struct ConnectionBudgets {
  std::size_t compute = 0;
  std::size_t console = 0;
  bool operator==(const ConnectionBudgets&) const = default;
};

// Raises the limit of open files as far as the system allows. Returns the limit.
std::uint64_t raise_descriptor_limit();

// Returns the wanted budgets if they fit under the limit. Otherwise the console origin gets at most
// an eighth of the usable descriptors, and the compute origin at most the others. Pure. Error:
// `few_descriptors`, if the server could not work.
Result<ConnectionBudgets> fit_budgets(std::uint64_t limit, const ConnectionBudgets& wanted);

}  // namespace hyperflock::app
