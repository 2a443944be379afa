// Which request a thread works for. Each HTTP request and each WebSocket has an id of 128 bits,
// which is also the id of its trace. It stands in every log line that is written while a
// RequestScope is open in the thread. Whoever passes work to another thread keeps
// current_request() with the work and opens a scope there: hub::ReaderPool, hub::Inbox and
// hub::CommitItem do so.
//
// A scope must end before a coroutine waits, because the coroutine may go on in another thread.
//
//   const RequestScope scope(new_request());
//   log(LogLevel::info, "device_joined", {{"device", id}});  // has the field "request"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hyperflock::telemetry {

struct RequestContext {
  std::uint64_t high = 0;  // of the id
  std::uint64_t low = 0;
  std::uint64_t span = 0;  // of the trace, in which the work happens (telemetry/tracer.h)
  bool sampled = false;    // whether the trace is exported

  // Returns whether there is a request.
  explicit operator bool() const { return (high | low) != 0; }
  // Returns the id as 32 hexadecimal digits.
  std::string id() const;
  bool operator==(const RequestContext&) const = default;
};

// Returns `bits` as 16 hexadecimal digits.
std::string hex(std::uint64_t bits);

// Returns random bits that nobody can foresee, and never 0. Any thread.
std::uint64_t random_bits();

// Returns a context with a new id and a new span. Any thread.
RequestContext new_request();

// Returns the same request with a new span. Any thread.
RequestContext child_of(const RequestContext& request);

// Reads the header `traceparent` of W3C's Trace Context (version 00, or the part of a later version
// that 00 has). Its span is that of the sender. Returns nullopt if it is invalid. Use it only for a
// header from somebody who may choose ids.
std::optional<RequestContext> parse_traceparent(std::string_view header);

// Returns the request for which this thread works now; false as a bool if there is none.
const RequestContext& current_request();

// While it lives, this thread works for the request.
class RequestScope {
 public:
  explicit RequestScope(const RequestContext& request);
  ~RequestScope();
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;

 private:
  const RequestContext before_;
};

}  // namespace hyperflock::telemetry
