// What one listener serves. The connection asks for a plan with the head of a request, brings the
// body that the plan wants, and hands both back.
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

// May be called from any thread, once.
using Reply = std::function<void(Response)>;

// A body that is stored while it arrives. Members are called one after the other, on threads that
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
  // On the connection's strand: never blocks. Checks the credential, so that the body of a stranger
  // is never read.
  virtual Plan plan(Request& request) = 0;
  // On a thread that may block. `reply` may be kept and called later.
  virtual void handle(std::shared_ptr<const Request> request, Reply reply) = 0;
  // On a thread that may block.
  virtual Result<std::unique_ptr<Upload>> open_upload(const Request& request) = 0;
};

}  // namespace hyperflock::http
