// Makes the Tracer that --otlp-endpoint asks for: it posts spans to a collector of OpenTelemetry
// (OTLP/HTTP with JSON). server/docs/log.md says which spans there are.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "telemetry/metrics.h"
#include "telemetry/tracer.h"

namespace hyperflock::traces {

struct ExporterSettings {
  std::string endpoint;  // such as http://127.0.0.1:4318; /v1/traces is added. Empty: no traces
  double sample = 0.01;
  std::string version;
};

// Returns why no collector can be at this URL, in one sentence; an empty text if one can.
std::string endpoint_fault(const std::string& url);

// Returns nullptr if no traces are wanted. The metrics outlive the tracer. Error: `bad_flag`.
Result<std::unique_ptr<telemetry::Tracer>> make_tracer(const ExporterSettings& settings,
                                                       telemetry::Metrics& metrics);

}  // namespace hyperflock::traces
