// Reads the only part of a trial's attributes that the server needs: its constraints (R57). Pure;
// any thread.
#pragma once

#include <string_view>

namespace hyperflock::protocol {

// Returns whether a trial with these attributes (JSON text of a result, or empty) meets its
// constraints: each of them is at most 0. The objective sets them as the attributes of Optuna 5,
// `system["constraints:<name>"]`, or of Optuna 4, the list `system.constraints`. A trial without
// constraints meets them. A constraint that is not a number is not met.
bool meets_constraints(std::string_view attrs);

}  // namespace hyperflock::protocol
