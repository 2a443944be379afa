// See contribution.h.
#include "http/compute/contribution.h"

#include <string>
#include <vector>

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

}  // namespace

Result<Response> contribution(const SiteContext& context, const Request& request) {
  TRY(const auto rows, context.storage.contributions(request.device.id));
  const std::int64_t today = storage::day_of(context.identities.now());
  return object_response(200, [&](ObjectWriter& body) {
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
  });
}

}  // namespace hyperflock::http
