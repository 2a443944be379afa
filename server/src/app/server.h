// The whole server in one object: storage, dispatcher, both listeners and their threads. main.cc
// runs one; tests run several.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/config.h"
#include "base/result.h"
#include "storage/storage.h"

namespace hyperflock::app {

// What the first start of a state folder made; shown once.
struct FirstStart {
  std::string admin_token;
  std::string researcher_token;
  std::string enrolment_code;
};

class Server {
 public:
  // Opens the state folder, listens, and serves from then on. `storage` replaces the database
  // (tests). Errors: one sentence for the operator.
  static Result<std::unique_ptr<Server>> start(const ServeConfig& config,
                                               std::unique_ptr<storage::Storage> storage = nullptr);
  virtual ~Server() = default;

  virtual std::uint16_t compute_port() const = 0;
  virtual std::uint16_t console_port() const = 0;
  virtual std::string compute_origin() const = 0;  // as volunteers see it
  virtual std::string console_origin() const = 0;
  virtual const std::optional<FirstStart>& first_start() const = 0;

  // Reads the certificate again; connections that are open keep theirs. Any thread. Error:
  // `bad_tls`, which is logged too; the certificate that was there stays.
  virtual Status reload() = 0;

  // Leases nothing more, waits (bounded) until what is under way is committed, closes every
  // connection, ends the threads. Leases survive in the database. Idempotent; the destructor calls
  // it.
  virtual void stop() = 0;
};

}  // namespace hyperflock::app
