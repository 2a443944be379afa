// A span of a trace, and how spans are written for a collector (OTLP/HTTP, JSON). Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "telemetry/request_context.h"

namespace hyperflock::telemetry {

struct Span {
  // The numbers are OTLP's.
  enum class Kind { internal = 1, server = 2, client = 3 };
  using Value = std::variant<std::string, std::int64_t>;

  RequestContext context;    // its trace and its own id
  std::uint64_t parent = 0;  // the span that caused it; 0: it begins the trace
  Kind kind = Kind::internal;
  std::string name;
  std::int64_t start_ns = 0;  // since 1970
  std::int64_t end_ns = 0;
  std::vector<std::pair<std::string, Value>> attributes{};
  std::vector<RequestContext> links{};  // other spans that it has to do with
  std::string error{};                  // a code; empty: the work succeeded
};

// Returns nanoseconds since 1970 by this machine's clock.
std::int64_t wall_ns();

// Returns the JSON text of an ExportTraceServiceRequest with the spans.
std::string otlp_json(const std::vector<Span>& spans, const std::string& version);

}  // namespace hyperflock::telemetry
