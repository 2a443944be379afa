// Sends the series of trials (R59): names, all values of one trial, or few values of many trials.
#include <array>
#include <utility>

#include "http/console/console_rest.h"
#include "http/console/packed.h"
#include "http/console/shown_places.h"
#include "http/console/study_access.h"
#include "protocol/json/json_writer.h"
#include "storage/page_bytes.h"

namespace hyperflock::http {
namespace {

using protocol::append_list;
using protocol::ObjectWriter;

// An answer with the series of many trials ends after the trial that reaches one of these limits:
// values that are read, or values that are written. The cursor leads to the trials after it.
constexpr std::size_t kReadValues = 4'000'000;
constexpr std::size_t kWrittenValues = 200'000;

// The part of the series that a request asks for: one series or all, and at most `points` values.
struct Wanted {
  std::optional<std::int64_t> only;
  std::optional<std::size_t> points;
};

Result<Wanted> wanted_of(std::string_view query) {
  Wanted wanted;
  if (const auto text = query_value(query, "series")) {
    wanted.only = parse_integer(*text, kMaxWireInteger);
    if (!wanted.only)
      return Error{"bad_number", "series must be the number of a series.", "series"};
  }
  if (const auto text = query_value(query, "points")) {
    const auto most = parse_integer(*text, kMaxWireInteger);
    if (!most || *most < static_cast<std::int64_t>(kFewestPlaces))
      return Error{"bad_number", "points must be an integer from 8.", "points"};
    wanted.points = static_cast<std::size_t>(*most);
  }
  return wanted;
}

// The numbers of values that were read and written for one answer.
struct Counted {
  std::size_t read = 0;
  std::size_t written = 0;
};

// Appends a series as `[name, [step, ...], [value, ...]]`.
void append_series(std::string& out, const storage::NamedSeries& series, const Wanted& wanted,
                   Counted& counted) {
  const auto places = shown_places(
      series.values, wanted.points.value_or(std::max(series.values.size(), kFewestPlaces)));
  counted.read += series.values.size();
  counted.written += places.size();
  out += '[';
  protocol::append_string(out, series.name);
  out += ',';
  append_list(out, places, [&](std::size_t i) { protocol::append_integer(out, series.steps[i]); });
  out += ',';
  append_list(out, places, [&](std::size_t i) { protocol::append_logged(out, series.values[i]); });
  out += ']';
}

// Appends the series of one trial: an empty list if the trial has not run yet.
Status append_trial(std::string& out, const SiteContext& context,
                    const storage::TrialDetail& detail, const Wanted& wanted, Counted& counted) {
  std::vector<storage::NamedSeries> found;
  if (detail.attempt) {
    TRY(found, context.storage.series(*detail.attempt, wanted.only));
  }
  ObjectWriter trial(out);
  trial.integer("trial", to_int(detail.trial.key.number)).integer("seq", detail.trial.seq);
  append_list(trial.begin("series"), found,
              [&](const storage::NamedSeries& one) { append_series(out, one, wanted, counted); });
  trial.end();
  return {};
}

// Appends trials until the limits are reached. Returns the number of trials that were appended.
Result<std::size_t> append_trials(std::string& out, const SiteContext& context,
                                  const std::vector<storage::TrialDetail>& trials,
                                  const Wanted& wanted) {
  Counted counted;
  std::size_t count = 0;
  out += '[';
  for (const storage::TrialDetail& one : trials) {
    if (counted.read >= kReadValues || counted.written >= kWrittenValues) break;
    if (count++ > 0) out += ',';
    TRY(append_trial(out, context, one, wanted, counted));
  }
  out += ']';
  return count;
}

Result<Response> names(const SiteContext& context, const Request& request) {
  TRY(const auto row, readable_study(context, request));
  TRY(const auto asked, page_of(request.query, kDefaultPage, kLargestPage));
  TRY(const auto found, context.storage.series_names(row.id, asked.after, asked.limit));
  std::string out;
  ObjectWriter page(out);
  append_list(page.begin("series"), found, [&out](const storage::SeriesName& one) {
    ObjectWriter(out).integer("series", one.id).text("name", one.name).end();
  });
  page.integer("cursor", found.empty() ? asked.after : found.back().id).end();
  return json_response(200, std::move(out));
}

Result<Response> of_finished(const SiteContext& context, const Request& request) {
  TRY(const auto row, readable_study(context, request));
  TRY(const auto asked, page_of(request.query, kDefaultPage, kLargestPage));
  TRY(const auto wanted, wanted_of(request.query));
  TRY(const auto trials, context.storage.finished_trials(row.id, asked.after, asked.limit));
  std::string out;
  ObjectWriter page(out);
  TRY(const std::size_t count, append_trials(page.begin("trials"), context, trials, wanted));
  page.integer("cursor", count == 0 ? asked.after : trials[count - 1].trial.seq).end();
  return packed_json(request, std::move(out));
}

// The cursor is the number from which the next page begins, as in the list of unfinished trials.
Result<Response> of_unfinished(const SiteContext& context, const Request& request) {
  TRY(const auto row, readable_study(context, request));
  TRY(const auto asked, page_of(request.query, kDefaultPage, kLargestPage));
  TRY(const auto wanted, wanted_of(request.query));
  TRY(auto trials, context.storage.unfinished_trials(row.id, asked.after, asked.limit + 1));
  bool more = cut(trials, asked) || storage::is_full(trials);
  std::string out;
  ObjectWriter page(out);
  TRY(const std::size_t count, append_trials(page.begin("trials"), context, trials, wanted));
  more |= count < trials.size();
  page.integer("cursor", count == 0 ? asked.after : to_int(trials[count - 1].trial.key.number) + 1)
      .boolean("more", more)
      .end();
  return packed_json(request, std::move(out));
}

Result<Response> of_trial(const SiteContext& context, const Request& request) {
  TRY(const auto row, readable_study(context, request));
  TRY(const auto wanted, wanted_of(request.query));
  const auto number = parse_integer(request.captures[1], kMaxWireInteger);
  const Error none{"not_found", "The study has no such trial, or nobody has begun it."};
  if (!number) return none;
  TRY(const auto found, context.storage.trial(TrialKey{row.id, TrialNumber{*number}}));
  if (!found) return none;
  std::string out;
  Counted counted;
  TRY(append_trial(out, context, *found, wanted, counted));
  return json_response(200, std::move(out));
}

constexpr std::array<Route, 4> kSeriesRoutes{{
    costly({Method::get, "/api/studies/{}/series", Access::principal, answer<names>}),
    costly({Method::get, "/api/studies/{}/series/trials", Access::principal, answer<of_finished>}),
    costly({Method::get, "/api/studies/{}/series/unfinished", Access::principal,
            answer<of_unfinished>}),
    costly({Method::get, "/api/studies/{}/trials/{}/series", Access::principal, answer<of_trial>}),
}};

}  // namespace

std::span<const Route> series_routes() { return kSeriesRoutes; }

}  // namespace hyperflock::http
