// The whole server in one object: storage, dispatcher, both listeners and their threads. main.cc
// runs one server; tests run several.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/config.h"
#include "base/result.h"
#include "storage/storage.h"

namespace hyperflock::app {

// stop() takes at most this long, in addition to ServeConfig::drain_ms.
inline constexpr Millis kLongestCloseMs = 10'000;

// The secrets that the first start with a state folder creates, and the file that contains them.
struct FirstStart {
  std::string admin_token;
  std::string researcher_token;
  std::string enrolment_code;
  std::string credentials_file;
};

// What a server that shares its database with others does around its time.
struct Turn {
  // Is called just before the server listens. What listens there so far must end.
  std::function<void()> before_listening{};
  // Is called once, on any thread, when another server has taken the database over. From then on
  // this server stores nothing; it should be stopped. It must not block.
  std::function<void()> lost{};
};

class Server {
 public:
  // Opens the state folder, listens, and serves from then on. Tests may pass `storage` in place of
  // the database. Errors: one sentence for the operator.
  static Result<std::unique_ptr<Server>> start(const ServeConfig& config,
                                               std::unique_ptr<storage::Storage> storage = nullptr,
                                               const Turn& turn = {});
  virtual ~Server() = default;

  virtual std::uint16_t compute_port() const = 0;
  virtual std::uint16_t console_port() const = 0;
  virtual std::string compute_origin() const = 0;  // as volunteers see it
  virtual std::string console_origin() const = 0;
  virtual const std::optional<FirstStart>& first_start() const = 0;

  // Reads the certificate again. Open connections keep theirs. Without TLS nothing is read. Any
  // thread. Error: `bad_tls`, which is also logged; the old certificate stays.
  virtual Status reload() = 0;

  // Asks the threads that serve connections, the hub and the writer for an answer.
  // threads_answered() returns whether all of them have given it. One thread. REQUIRES:
  // ServeConfig::answer_ms is not 0.
  virtual void ask_threads() = 0;
  virtual bool threads_answered() const = 0;

  // Stops leasing, waits for a limited time until all proposed transitions are committed, closes
  // every connection and ends the threads. Leases stay in the database. Further calls do nothing;
  // the destructor calls it.
  virtual void stop() = 0;
};

}  // namespace hyperflock::app
