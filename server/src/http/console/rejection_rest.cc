// Rejects attempts of a study, so that their trials run again on other devices (R71).
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "http/console/console_rest.h"
#include "http/console/identity_bodies.h"
#include "http/console/study_access.h"
#include "http/core/body.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::ObjectWriter;
using protocol::Value;

constexpr std::size_t kLongestDevice = 64;

struct RejectionQuery {
  storage::Selection which{};
  std::string reason{};
};

// A selection without conditions would reject everything, which is seldom meant.
Result<RejectionQuery> parse_rejection(std::string_view body, std::int64_t now) {
  const auto query = parse_body<RejectionQuery>(
      body.empty() ? "{}" : body, [now](const Value& in, RejectionQuery& out) {
        if (const Value device = in.find("device"); device.present()) {
          out.which.device = device.as_text(kLongestDevice);
          if (out.which.device->empty()) device.bad_field("the id of a device");
        }
        if (const Value trial = in.find("trial"); trial.present())
          out.which.trial = trial.as_id<TrialNumber>(0);
        if (const Value since = in.find("since"); since.present()) {
          out.which.since = since.as_integer();
          if (*out.which.since > now) since.bad_field("a Unix time in ms that has passed");
        }
        if (const Value reason = in.find("reason"); reason.present())
          out.reason = read_reason(reason);
      });
  if (!query) return query;
  const storage::Selection& which = query->which;
  if (!which.device && !which.trial && !which.since) {
    return Error{"missing_field", "Say which attempts: by device, by trial, or since when.",
                 "device"};
  }
  return query;
}

// Returns an error if the study cannot have such attempts.
Status check_selection(const SiteContext& context, const storage::StudyRow& study,
                       const storage::Selection& which) {
  // Attempts of a device that was erased can still be selected, by the name that they have now.
  if (which.device && *which.device != storage::kErasedDevice &&
      !context.identities.project_of_device(*which.device)) {
    return unknown_device();
  }
  if (!which.trial) return {};
  TRY(const auto trial, context.storage.trial({study.id, *which.trial}));
  const bool grid = study.spec.kind != protocol::StudyKind::asked;
  if (!trial && !(grid && to_int(*which.trial) < study.total))
    return Error{"not_found", "The study has no trial of this number.", "trial"};
  return {};
}

std::string detail_of(const RejectionQuery& query) {
  std::string out;
  ObjectWriter detail(out);
  if (query.which.device) detail.text("device", *query.which.device);
  if (query.which.trial) detail.integer("trial", to_int(*query.which.trial));
  if (query.which.since) detail.integer("since", *query.which.since);
  if (!query.reason.empty()) detail.text("reason", query.reason);
  detail.end();
  return out;
}

hub::Rejection rejection_of(const Request& request, storage::StudyRow study,
                            const RejectionQuery& query) {
  return {.study = std::move(study),
          .which = query.which,
          .quota = quota_of(request.principal),
          .by = request.principal.name,
          .reason = query.reason,
          .note = note_of(request, "study.reject", {}, detail_of(query))};
}

// Runs the task on a thread that reads. If all are busy, it calls `done` with an error.
void read_later(const SiteContext& context, const Request& request,
                const RejectedEverywhere::Done& done, std::function<void()> task) {
  const hub::Added added =
      context.readers.post({hub::Band::costly, request.lane.caller}, std::move(task));
  if (added != hub::Added::yes) done(overloaded(added));
}

Status reject(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_rejection(request.body, context.identities.now()));
  TRY(auto row, usable_study(context, request));
  TRY(check_selection(context, row, query.which));
  const std::int64_t study = to_int(row.id);
  context.hub.reject_results(rejection_of(request, std::move(row), query),
                             [study, reply](const Result<dispatch::RejectedCounts>& counts) {
                               if (!counts) return reply(error_response(counts.error()));
                               reply(object_response(200, [&](ObjectWriter& body) {
                                 body.integer("study", study)
                                     .integer("rejected", counts->attempts)
                                     .integer("trials", counts->trials);
                               }));
                             });
  return {};
}

// Rejects what a device has sent, in one study after the other.
class Everywhere : public std::enable_shared_from_this<Everywhere> {
 public:
  Everywhere(const SiteContext& context, const Request& request, std::string device,
             std::string reason, RejectedEverywhere::Done done)
      : context_(context),
        request_(request),
        query_{{.device = std::move(device)}, std::move(reason)},
        done_(std::move(done)) {}

  void begin() {
    read_later(context_, request_, done_, [self = shared_from_this()] {
      auto studies = self->context_.storage.studies_of_device(self->query_.which.device.value());
      if (!studies) return self->done_(studies.error());
      self->studies_.assign(studies->begin(), studies->end());
      self->next();
    });
  }

 private:
  void next() {
    while (!studies_.empty()) {
      auto row = context_.storage.study(studies_.front());
      studies_.pop_front();
      if (!row) return done_(row.error());
      if (*row && may_see(request_.principal, **row) &&
          auth::IdentityCache::may_use(request_.principal, (*row)->project))
        return reject_in(*std::move(*row));
    }
    done_(sum_);
  }

  void reject_in(storage::StudyRow row) {
    context_.hub.reject_results(
        rejection_of(request_, std::move(row), query_),
        [self = shared_from_this()](const Result<dispatch::RejectedCounts>& counts) {
          if (!counts) return self->done_(counts.error());
          self->sum_.studies += counts->attempts > 0 ? 1 : 0;
          self->sum_.attempts += counts->attempts;
          self->sum_.trials += counts->trials;
          read_later(self->context_, self->request_, self->done_, [self] { self->next(); });
        });
  }

  const SiteContext& context_;
  const Request request_;
  const RejectionQuery query_;
  const RejectedEverywhere::Done done_;
  std::deque<StudyId> studies_;
  RejectedEverywhere sum_;
};

// Revokes the devices that joined by a code, and rejects what they have sent, one after the other.
class DevicesOfCode : public std::enable_shared_from_this<DevicesOfCode> {
 public:
  DevicesOfCode(const SiteContext& context, const Request& request, std::string reason,
                RejectedEverywhere::Done done)
      : context_(context), request_(request), reason_(std::move(reason)), done_(std::move(done)) {}

  void begin(std::int64_t code) {
    read_later(context_, request_, done_, [self = shared_from_this(), code] {
      auto devices = self->context_.storage.devices_of_code(code);
      if (!devices) return self->done_(devices.error());
      self->devices_.assign(devices->begin(), devices->end());
      self->next();
    });
  }

 private:
  void next() {
    if (devices_.empty()) return done_(sum_);
    const std::string device = devices_.front();
    devices_.pop_front();
    context_.hub.revoke_device(
        device, note_of(request_, "device.revoke", device),
        [self = shared_from_this(), device](const Result<storage::Outcome>& outcome) {
          if (!outcome) return self->done_(outcome.error());
          self->context_.identities.committed(storage::RevokeDevice{device}, *outcome);
          reject_everywhere(self->context_, self->request_, device, self->reason_,
                            [self](const Result<RejectedEverywhere>& one) { self->add(one); });
        });
  }

  void add(const Result<RejectedEverywhere>& one) {
    if (!one) return done_(one.error());
    ++sum_.devices;
    sum_.attempts += one->attempts;
    sum_.trials += one->trials;
    next();
  }

  const SiteContext& context_;
  const Request request_;
  const std::string reason_;
  const RejectedEverywhere::Done done_;
  std::deque<std::string> devices_;
  RejectedEverywhere sum_;
};

constexpr std::array<Route, 1> kRejectionRoutes{{
    grows(costly({Method::post, "/api/studies/{}/reject", Access::principal, answer_later<reject>,
                  kSmallBody})),
}};

}  // namespace

void reject_everywhere(const SiteContext& context, const Request& request,
                       const std::string& device, const std::string& reason,
                       RejectedEverywhere::Done done) {
  std::make_shared<Everywhere>(context, request, device, reason, std::move(done))->begin();
}

void revoke_devices_of_code(const SiteContext& context, const Request& request, std::int64_t code,
                            const std::string& reason, RejectedEverywhere::Done done) {
  std::make_shared<DevicesOfCode>(context, request, reason, std::move(done))->begin(code);
}

std::span<const Route> rejection_routes() { return kRejectionRoutes; }

}  // namespace hyperflock::http
