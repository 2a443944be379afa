// The interface between a connection and the site that it serves. The connection passes the head of
// a request and gets a plan. If the plan asks for the body, the connection reads it. Then it passes
// head and body to the site.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "http/core/message.h"

namespace hyperflock::http {

struct Plan {
  enum class Kind {
    answer,     // `response` is the answer; the body is not read
    handle,     // read at most `body_limit` bytes of body, then handle()
    upload,     // stream the body into open_upload()
    websocket,  // upgrade
  };
  Kind kind = Kind::answer;
  Response response;
  std::uint64_t body_limit = 0;
};

// Sends the response. Call it once, on any thread.
using Reply = std::function<void(Response)>;

// A body that is stored while it arrives. Members are called one after the other on threads that
// may block.
class Upload {
 public:
  virtual ~Upload() = default;
  virtual Status append(std::string_view bytes) = 0;
  virtual Response finish() = 0;
};

class Site {
 public:
  virtual ~Site() = default;
  // Plans the answer. It checks the credential, so that a stranger's body is never read. Runs on
  // the connection's strand and never blocks.
  virtual Plan plan(Request& request) = 0;
  // Answers the request. Runs on a thread that may block. `reply` may be kept and called later.
  virtual void handle(std::shared_ptr<const Request> request, Reply reply) = 0;
  // Runs on a thread that may block.
  virtual Result<std::unique_ptr<Upload>> open_upload(const Request& request) = 0;
};

}  // namespace hyperflock::http
