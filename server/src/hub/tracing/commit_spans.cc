#include "hub/tracing/commit_spans.h"

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/names.h"

namespace hyperflock::hub {

using storage::Applied;
using telemetry::RequestContext;
using telemetry::Span;

namespace {

// A batch may have hundreds of requests.
constexpr std::size_t kMostLinks = 32;
// Attempts that never end would otherwise fill the memory.
constexpr std::size_t kMostRunning = 10'000;

}  // namespace

void CommitSpans::note(std::span<const storage::Transition> batch,
                       const std::vector<RequestContext>& requests,
                       const Result<std::vector<storage::Outcome>>& outcomes,
                       std::int64_t start_ns) {
  const std::int64_t now_ns = telemetry::wall_ns();
  note_batch(batch, requests, outcomes, start_ns, now_ns);
  if (!outcomes) return;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if ((*outcomes)[i].applied != Applied::applied) continue;
    if (const auto* start = std::get_if<storage::StartAttempt>(&batch[i])) {
      begin(*start, requests[i], now_ns);
    } else if (const auto* stored = std::get_if<storage::StoreResult>(&batch[i])) {
      end(stored->result.attempt, protocol::name_of(stored->result.outcome), requests[i], now_ns);
    } else if (const auto* ended = std::get_if<storage::EndAttempt>(&batch[i])) {
      end(ended->attempt, ended->failure ? protocol::name_of(ended->failure->cause) : "ended",
          requests[i], now_ns);
    }
  }
}

void CommitSpans::note_batch(std::span<const storage::Transition> batch,
                             const std::vector<RequestContext>& requests,
                             const Result<std::vector<storage::Outcome>>& outcomes,
                             std::int64_t start_ns, std::int64_t end_ns) {
  std::vector<RequestContext> sampled;
  for (const RequestContext& request : requests) {
    if (request.sampled && sampled.size() <= kMostLinks &&
        std::ranges::find(sampled, request) == sampled.end())
      sampled.push_back(request);
  }
  if (sampled.empty()) return;
  // The batch stands in the trace of its first request, so that this trace shows the commit. The
  // other requests are linked.
  const RequestContext first = sampled.front();
  sampled.erase(sampled.begin());
  tracer_.add({.context = telemetry::child_of(first),
               .parent = first.span,
               .kind = Span::Kind::internal,
               .name = "commit",
               .start_ns = start_ns,
               .end_ns = end_ns,
               .attributes = {{"hyperflock.transitions", static_cast<std::int64_t>(batch.size())}},
               .links = std::move(sampled),
               .error = outcomes ? std::string() : outcomes.error().code});
}

void CommitSpans::begin(const storage::StartAttempt& start, const RequestContext& request,
                        std::int64_t now_ns) {
  RequestContext context = telemetry::new_request();
  if (!tracer_.samples(context) || running_.size() >= kMostRunning) return;
  context.sampled = true;
  running_.insert_or_assign(start.attempt,
                            Begun{context, request, now_ns, start.trial, start.device_class});
}

void CommitSpans::end(AttemptId attempt, std::string_view outcome, const RequestContext& request,
                      std::int64_t now_ns) {
  const auto found = running_.find(attempt);
  if (found == running_.end()) return;
  Begun begun = std::move(found->second);
  running_.erase(found);
  std::vector<RequestContext> links;
  for (const RequestContext& one : {begun.lease, request}) {
    if (one && std::ranges::find(links, one) == links.end()) links.push_back(one);
  }
  tracer_.add({.context = begun.context,
               .kind = Span::Kind::internal,
               .name = "attempt",
               .start_ns = begun.start_ns,
               .end_ns = now_ns,
               .attributes = {{"hyperflock.study", to_int(begun.trial.study)},
                              {"hyperflock.trial", to_int(begun.trial.number)},
                              {"hyperflock.attempt", to_int(attempt)},
                              {"hyperflock.device.class", std::move(begun.device_class)},
                              {"hyperflock.outcome", std::string(outcome)}},
               .links = std::move(links)});
}

}  // namespace hyperflock::hub
