// Makes the spans of commits: one for each batch with a sampled request in it, and one for each
// sampled attempt, from the commit of its lease to that of its result or its end. An attempt's
// trace is its own, with links to the sessions that got the lease and sent the result, because it
// lives longer than any request. Attempts that began before this process have no span.
//
// An object belongs to the writer thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "storage/storage.h"
#include "telemetry/tracer.h"

namespace hyperflock::hub {

class CommitSpans {
 public:
  // The tracer outlives this object.
  explicit CommitSpans(telemetry::Tracer& tracer) : tracer_(tracer) {}

  // Notes a batch that was written, or that was refused, from `start_ns` to now. `requests` has the
  // request of each transition.
  void note(std::span<const storage::Transition> batch,
            const std::vector<telemetry::RequestContext>& requests,
            const Result<std::vector<storage::Outcome>>& outcomes, std::int64_t start_ns);

  // Returns how many sampled attempts have not ended.
  std::size_t running() const { return running_.size(); }

 private:
  struct Begun {
    telemetry::RequestContext context;  // of the attempt
    telemetry::RequestContext lease;    // the session that got it
    std::int64_t start_ns = 0;
    TrialKey trial{};
    std::string device_class;
  };

  void note_batch(std::span<const storage::Transition> batch,
                  const std::vector<telemetry::RequestContext>& requests,
                  const Result<std::vector<storage::Outcome>>& outcomes, std::int64_t start_ns,
                  std::int64_t end_ns);
  void begin(const storage::StartAttempt& start, const telemetry::RequestContext& request,
             std::int64_t now_ns);
  void end(AttemptId attempt, std::string_view outcome, const telemetry::RequestContext& request,
           std::int64_t now_ns);

  telemetry::Tracer& tracer_;
  std::unordered_map<AttemptId, Begun> running_;  // those that are sampled
};

}  // namespace hyperflock::hub
