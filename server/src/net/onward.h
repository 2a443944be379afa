// What a spare does with its connections in place of serving them: it passes them on to the server
// that has the database (net/relay/relay.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "hub/executor.h"
#include "net/connections.h"
#include "net/proxy/forwarded.h"

namespace hyperflock::net {

class Stream;

// A link to the server of an epoch.
struct Link {
  std::unique_ptr<Stream> stream{};  // null: no server can be reached now
  std::int64_t epoch = 0;
};

class Onward {
 public:
  virtual ~Onward() = default;

  // Opens a link for this client to the server that has the database. `named`: a PROXY header named
  // the client. Calls `done` once, on the strand.
  virtual void open(const hub::Strand& strand, const Client& client, bool named,
                    std::function<void(Link)> done) = 0;
  // Carries bytes between the client and the link until one of them ends. `begun` are bytes of the
  // client that were read already. On the strand of both streams.
  virtual void carry(std::unique_ptr<Stream> client, Link link, ConnectionSlot slot,
                     std::string begun) = 0;
};

// Whether each server itself answers the request with which a connection begins: /healthz, /readyz
// and /metrics/own are about the server that is asked.
enum class Answers : unsigned char { itself, maybe, not_itself };

// `maybe`: the first bytes do not show it yet. Pure.
inline Answers who_answers(std::string_view first_bytes) {
  bool is_open = false;
  for (const std::string_view own :
       {"GET /healthz", "HEAD /healthz", "GET /readyz", "HEAD /readyz", "GET /metrics/own"}) {
    if (first_bytes.size() <= own.size()) {
      is_open = is_open || own.starts_with(first_bytes);
    } else if (first_bytes.starts_with(own)) {
      const char next = first_bytes[own.size()];
      return next == ' ' || next == '?' ? Answers::itself : Answers::not_itself;
    }
  }
  return is_open ? Answers::maybe : Answers::not_itself;
}

}  // namespace hyperflock::net
