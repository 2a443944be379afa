// The error of a program that is built without libpq.
#pragma once

#include <string>

#include "base/result.h"

namespace hyperflock::storage {

// `instead` continues the sentence, as in ", or leave --database out".
inline Error postgres_not_built(const std::string& instead = {}) {
  return Error{"postgres_not_built",
               "This hyperflock-server is built without PostgreSQL: take the one of the Debian "
               "package or of the container image" +
                   instead + "."};
}

}  // namespace hyperflock::storage
