// Reads and writes the series of a report (R59), and checks that its columns fit its steps.
#include <algorithm>
#include <set>

#include "protocol/fields.h"

namespace hyperflock::protocol {

void series_rule(Reader& codec, Report& report) {
  const Value in = codec.in().find("series");
  if (!in.present()) return;
  Series& series = report.series.emplace();
  read(in, Object{}, series);
  const auto back = std::ranges::adjacent_find(series.steps, std::greater_equal<>());
  if (back != series.steps.end()) in.find("steps").bad_field("steps that grow");
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < series.columns.size(); ++i) {
    const SeriesColumn& column = series.columns[i];
    const Value columns = in.find("columns");
    if (!names.insert(column.name).second)
      columns.element(i).bad_field("a column whose name comes once");
    if (column.values.size() > series.steps.size())
      columns.element(i).note("too_many", columns.path() + "[" + std::to_string(i) +
                                              "] has more values than there are steps.");
  }
}

void series_rule(Writer& codec, const Report& report) {
  codec.optional("series"_key, report.series, Object{});
}

}  // namespace hyperflock::protocol
