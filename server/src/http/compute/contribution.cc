// See contribution.h.
#include "http/compute/contribution.h"

#include <string>
#include <vector>

#include "auth/tokens.h"
#include "http/compute/bodies.h"
#include "http/core/changes.h"
#include "names/names.h"
#include "protocol/json/json_writer.h"
#include "storage/contribution.h"

namespace hyperflock::http {
namespace {

using protocol::ObjectWriter;
using storage::Contribution;

// The contribution to one project, over three spans of time.
struct Spans {
  Contribution today;
  Contribution week;  // the last kContributionDays days, today's included
  Contribution all;
};

// REQUIRES: the rows are sorted by project.
std::vector<Spans> by_project(const std::vector<Contribution>& rows, std::int64_t today) {
  std::vector<Spans> projects;
  for (const Contribution& row : rows) {
    if (projects.empty() || projects.back().all.project != row.project)
      projects.emplace_back().all.project = row.project;
    Spans& spans = projects.back();
    spans.all += row;
    if (row.day > today - storage::kContributionDays) spans.week += row;
    if (row.day == today) spans.today += row;
  }
  // A project all of whose results were rejected.
  std::erase_if(projects, [](const Spans& one) { return one.all.trials == 0; });
  return projects;
}

void append(std::string& out, const Contribution& sum) {
  ObjectWriter(out)
      .integer("trials", sum.trials)
      .integer("ms", sum.ms)
      .integer("improved", sum.moved)
      .end();
}

// Writes the rows as the fields of an answer.
void append(ObjectWriter& body, const std::vector<Contribution>& rows, std::int64_t now) {
  const std::int64_t today = storage::day_of(now);
  body.integer("today_since", today * kDayMs);
  std::string& out = body.begin("projects");
  protocol::append_list(out, by_project(rows, today), [&out](const Spans& one) {
    ObjectWriter project(out);
    project.text("name", names::shown(one.all.project));
    append(project.begin("today"), one.today);
    append(project.begin("week"), one.week);
    append(project.begin("all"), one.all);
    project.end();
  });
}

// Counts a wrong passphrase as a wrong credential, and returns the error.
Error unknown_passphrase(Admission& admission, const std::string& address) {
  if (const auto admitted = admission.admit_stranger(address); !admitted) {
    return {"rate_limited",
            "Too many wrong passphrases came from this address; wait a minute.",
            {},
            admitted.wait_s};
  }
  return {"unknown_passphrase", "No device has this passphrase; check each word."};
}

}  // namespace

Result<Response> contribution(const SiteContext& context, const Request& request) {
  TRY(const auto rows, context.storage.contributions(request.device.id));
  return object_response(200,
                         [&](ObjectWriter& body) { append(body, rows, context.identities.now()); });
}

Result<Response> contribution_together(const SiteContext& context, const Request& request) {
  TRY(const auto query, parse_passphrase_query(request.body));
  TRY(const auto together, context.storage.contributions_together(auth::token_hash(query.key)));
  if (together.devices == 0) return unknown_passphrase(context.admission, request.address);
  return object_response(200, [&](ObjectWriter& body) {
    body.integer("devices", together.devices);
    append(body, together.rows, context.identities.now());
  });
}

Status join_passphrase(const SiteContext& context, const Request& request, const Reply& reply) {
  TRY(const auto query, parse_join_passphrase_query(request.body));
  if (const auto admitted = context.admission.admit_passphrase(request.device.id); !admitted) {
    return Error{"rate_limited",
                 "This device has changed its passphrase too often; try again in a minute.",
                 {},
                 admitted.wait_s};
  }
  const storage::JoinPassphrase join{request.device.id, auth::token_hash(query.key), query.is_new};
  storage::NoteAudit note;
  note.entry.actor = "device";
  note.entry.action = "device.passphrase";
  const auto answer = [&admission = context.admission, address = request.address](
                          const storage::Outcome& outcome) -> Result<Response> {
    if (outcome.refusal == storage::Refusal::passphrase_taken) {
      return Error{
          "passphrase_taken",
          "Another device has this passphrase already; make a new one, or send new=false."};
    }
    if (outcome.refusal == storage::Refusal::too_many_devices) {
      return Error{"passphrase_full",
                   "As many devices have this passphrase as the server takes; erase one of them."};
    }
    if (outcome.applied == storage::Applied::superseded)
      return unknown_passphrase(admission, address);
    if (outcome.applied == storage::Applied::conflict) return unknown_device();
    return json_response(200, R"({"kept":true})");
  };
  return commit_noted(context, join, std::move(note), reply, answer);
}

}  // namespace hyperflock::http
