#include "app/machine/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "net/connections.h"

namespace hyperflock::app {
namespace {

// Descriptors for the database, listeners, uploads, webhooks and files that are read.
constexpr std::uint64_t kReserve = 1'024;
constexpr std::uint64_t kSmallestReserve = 64;
constexpr std::uint64_t kFewest = 8;  // connections of an origin

}  // namespace

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

Result<ConnectionBudgets> fit_budgets(std::uint64_t limit, const ConnectionBudgets& wanted) {
  // An origin may exceed its budget by a few connections for a moment, until the connections that
  // new ones have displaced are closed.
  const auto cost = [](std::uint64_t connections) {
    return connections + std::min<std::uint64_t>(connections, net::Connections::kDisplacedAtOnce);
  };
  const std::uint64_t reserve = std::clamp(limit / 4, kSmallestReserve, kReserve);
  const std::uint64_t usable = limit > reserve ? limit - reserve : 0;
  if (cost(wanted.compute) + cost(wanted.console) <= usable) return wanted;
  // The console origin gets at most an eighth, and the compute origin gets the others, except some
  // (at most half of them) that stay free for connections that are being displaced.
  const std::uint64_t console = std::min<std::uint64_t>(wanted.console, usable / 8);
  const std::uint64_t left = usable - std::min(usable, cost(console));
  const std::uint64_t spare = std::min<std::uint64_t>(left / 2, net::Connections::kDisplacedAtOnce);
  const std::uint64_t compute = std::min<std::uint64_t>(wanted.compute, left - spare);
  if (console < std::min<std::uint64_t>(kFewest, wanted.console) ||
      compute < std::min<std::uint64_t>(kFewest, wanted.compute)) {
    return Error{"few_descriptors", "The system allows only " + std::to_string(limit) +
                                        " open files, which is too few for the server; raise the "
                                        "limit (ulimit -n, LimitNOFILE=)."};
  }
  return ConnectionBudgets{static_cast<std::size_t>(compute), static_cast<std::size_t>(console)};
}

}  // namespace hyperflock::app
