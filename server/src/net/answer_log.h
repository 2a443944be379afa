// Decides on the ids of HTTP requests, and counts, traces and logs their answers. The log has
// `request_failed` (5xx, a warning), `request_refused` (4xx of a person with a valid token, so that
// an operator finds the id that the person was shown), and `request` for all others at the level
// debug. A line names the route's pattern and never the path, which may hold a code. Any thread.
#pragma once

#include <chrono>
#include <string>

#include "http/core/message.h"
#include "telemetry/allowance.h"
#include "telemetry/metrics.h"
#include "telemetry/tracer.h"

namespace hyperflock::net {

class AnswerLog {
 public:
  // Without a tracer there are no traces.
  AnswerLog(telemetry::Metrics& metrics, telemetry::Tracer* tracer)
      : metrics_(metrics), tracer_(tracer) {}

  // Returns the context of a new request.
  telemetry::RequestContext begin() const;
  // Returns the context of a request that goes on with the trace of its client. The client is
  // trusted with that.
  telemetry::RequestContext go_on(const telemetry::RequestContext& client);

  // Notes an answer that is about to be sent. Call it in the scope of its request.
  void note(const http::Request& request, int status, const std::string& error,
            std::chrono::duration<double> spent);

 private:
  void trace(const http::Request& request, int status, const std::string& error,
             std::chrono::duration<double> spent);

  telemetry::Metrics& metrics_;
  telemetry::Tracer* const tracer_;
  // Clients can cause such lines without end.
  telemetry::Allowance failed_{50, 200};
  telemetry::Allowance refused_{50, 200};
};

}  // namespace hyperflock::net
