// The code with which a server answers while another one has its database.
#pragma once

#include <memory>
#include <string>

#include "app/spare/spare.h"
#include "storage/postgres/open.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {

inline std::string code_of_spare() {
  class Held final : public storage::ShardWatch {
    Result<storage::ShardSeen> look() override { return storage::ShardSeen{.server = "another"}; }
  };
  ServeConfig config;
  config.compute.port = config.console.port = 0;
  const auto spare = Spare::start(config, std::make_unique<Held>());
  return code_of(net::http_request(spare.value()->console_port(), "GET", "/readyz"));
}

}  // namespace hyperflock::app
