// A server that waits while another one has the database (--wait-for-shard). It listens where it
// will serve, and looks at the shard. It passes connections on to the server that has the database,
// if that server takes them (--peer). Otherwise it says that it lives and is not ready. main.cc
// starts the server itself when the shard may be taken.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "settings/serve_config.h"
#include "storage/postgres/open.h"

namespace hyperflock::app {

class Spare {
 public:
  // Listens. Errors: those of net::Listener::open(), `bad_tls`.
  static Result<std::unique_ptr<Spare>> start(const settings::ServeConfig& config,
                                              std::unique_ptr<storage::ShardWatch> watch);
  virtual ~Spare() = default;

  virtual std::uint16_t compute_port() const = 0;
  virtual std::uint16_t console_port() const = 0;

  // Returns whether nobody has the shard any more. It is found out on a thread of the spare's own,
  // twice a second.
  virtual bool may_take() const = 0;
  // Reads the certificate again, as Server::reload().
  virtual void reload() = 0;
  // Ends every connection and frees the addresses. Further calls do nothing; the destructor calls
  // it.
  virtual void stop() = 0;
};

}  // namespace hyperflock::app
