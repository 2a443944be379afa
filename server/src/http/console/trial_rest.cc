// Sends the trials of a study: rows, curves and printed lines.
#include <array>
#include <utility>
#include <vector>

#include "http/console/console_rest.h"
#include "http/console/packed.h"
#include "http/console/rows.h"
#include "http/console/study_access.h"
#include "protocol/codec.h"
#include "protocol/json/json_writer.h"
#include "storage/page_bytes.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::ObjectWriter;

constexpr std::int64_t kBestPage = storage::kShownBest;

// Appends the rows. With the query `points=1` they have curves, up to the limit of CurveRoom.
void append_trials(std::string& out, const SiteContext& context,
                   const std::vector<storage::TrialDetail>& page, std::string_view query) {
  const bool wanted = query_value(query, "points") == "1";
  CurveRoom room;
  append_list(out, page, [&](const storage::TrialDetail& one) {
    if (!wanted || (one.attempt && !room.is_left())) {
      out += trial_row_json(one);
      return;
    }
    if (!one.attempt) {  // the trial never ran, so there is no curve to read
      out += trial_row_json(one, Detail::curve);
      return;
    }
    // The curve belongs to the row's attempt, even if the trial has changed since.
    auto points = context.storage.curve(*one.attempt);
    room.take(points ? points->size() : 0);
    if (!points) {
      out += trial_row_json(one);
      return;
    }
    storage::TrialDetail whole = one;
    whole.points = std::move(points).value();
    out += trial_row_json(whole, Detail::curve);
  });
}

Result<Response> trials(const SiteContext& context, const Request& request) {
  TRY(const auto row, readable_study(context, request));
  TRY(const auto wanted, page_of(request.query, kDefaultPage, kLargestPage));
  TRY(const auto found, context.storage.finished_trials(row.id, wanted.after, wanted.limit));
  std::string out;
  ObjectWriter page(out);
  append_trials(page.begin("trials"), context, found, request.query);
  page.integer("cursor", found.empty() ? wanted.after : found.back().trial.seq).end();
  return packed_json(request, std::move(out));
}

// Sends a page of trials that are ordered by their numbers. The cursor is the number from which the
// next page begins. REQUIRES: `found` was read with one trial more than the page may have.
Result<Response> page_by_number(const SiteContext& context, const Request& request,
                                const Page& wanted, std::vector<storage::TrialDetail> found) {
  const bool more = cut(found, wanted) || storage::is_full(found);
  std::string out;
  ObjectWriter page(out);
  append_trials(page.begin("trials"), context, found, request.query);
  page.integer("cursor", found.empty() ? wanted.after : to_int(found.back().trial.key.number) + 1)
      .boolean("more", more)
      .end();
  return packed_json(request, std::move(out));
}

Result<Response> unfinished(const SiteContext& context, const Request& request) {
  TRY(const auto row, readable_study(context, request));
  TRY(const auto wanted, page_of(request.query, kDefaultPage, kLargestPage));
  TRY(auto found, context.storage.unfinished_trials(row.id, wanted.after, wanted.limit + 1));
  return page_by_number(context, request, wanted, std::move(found));
}

// Returns the error that says why a study has no best trial.
Error no_best(const storage::StudyRow& study) {
  if (study.search_from) {
    return Error{"no_feasible_trial",
                 "The best trial was taken back, and the server still looks for the next one; ask "
                 "again in a moment."};
  }
  if (study.complete > 0) {
    return Error{"no_feasible_trial", "No complete trial of this study meets its constraints: " +
                                          std::to_string(study.complete) + " are complete."};
  }
  if (study.state == storage::StudyState::running)
    return Error{"no_complete_trial", "No trial of this study is complete yet."};
  return Error{"no_complete_trial",
               "The study has ended without a complete trial: " + std::to_string(study.failed) +
                   " of its trials failed, " + std::to_string(study.pruned) + " were pruned."};
}

Result<Response> best(const SiteContext& context, const Request& request) {
  TRY(const auto row, readable_study(context, request));
  TRY(const auto wanted, page_of(request.query, kBestPage, kLargestPage));
  TRY(auto found, context.storage.best_trials(row.id, wanted.after, wanted.limit + 1));
  if (found.empty() && wanted.after == 0) return no_best(row);
  return page_by_number(context, request, wanted, std::move(found));
}

Result<Response> trial(const SiteContext& context, const Request& request) {
  TRY(const auto row, readable_study(context, request));
  const auto number = parse_integer(request.captures[1], kMaxWireInteger);
  const Error none{"not_found", "The study has no such trial, or nobody has begun it."};
  if (!number) return none;
  TRY(const auto found, context.storage.trial(TrialKey{row.id, TrialNumber{*number}}));
  if (!found) return none;
  return json_response(200, trial_row_json(*found, Detail::full));
}

// Sends printed lines of a trial that come after the cursor. They are kept in memory only.
Result<Response> log(const SiteContext& context, const Request& request) {
  TRY(const auto row, readable_study(context, request));
  const auto number = parse_integer(request.captures[1], kMaxWireInteger);
  if (!number) return Error{"not_found", "The study has no such trial."};
  TRY(const auto wanted, page_of(request.query, kDefaultPage, kLargestPage));
  const protocol::TrialLog found = context.outputs.read(
      {row.id, TrialNumber{*number}}, wanted.after, static_cast<std::size_t>(wanted.limit));
  std::string out;
  ObjectWriter page(out);
  protocol::append_log_lines(page.begin("lines"), found.lines);
  page.integer("cursor", found.cursor).end();
  return json_response(200, std::move(out));
}

constexpr std::array<Route, 5> kTrialRoutes{{
    costly({Method::get, "/api/studies/{}/trials", Access::principal, answer<trials>}),
    costly({Method::get, "/api/studies/{}/best", Access::principal, answer<best>}),
    costly({Method::get, "/api/studies/{}/unfinished", Access::principal, answer<unfinished>}),
    costly({Method::get, "/api/studies/{}/trials/{}", Access::principal, answer<trial>}),
    costly({Method::get, "/api/studies/{}/trials/{}/log", Access::principal, answer<log>}),
}};

}  // namespace

std::span<const Route> trial_routes() { return kTrialRoutes; }

}  // namespace hyperflock::http
