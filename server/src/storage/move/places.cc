// See places.h.
#include "storage/move/places.h"

#include <algorithm>
#include <map>
#include <set>

namespace hyperflock::storage::move {
namespace {

// Returns the name of a type as PostgreSQL's catalogue has it.
std::string type_name(Kind kind) {
  switch (kind) {
    case Kind::integer:
      return "bigint";
    case Kind::real:
      return "double precision";
    case Kind::text:
      return "text";
    case Kind::bytes:
      return "bytea";
  }
  return {};
}

}  // namespace

void go_on(const Status& status) {
  if (!status) throw Stopped{status.error()};
}

postgres::ClientSettings client_settings(const PostgresPlace& place) {
  return {.url = place.url,
          .password = place.password,
          .name = "hyperflock move",
          .statement_timeout_ms = 0};
}

std::string shown_place(const PostgresPlace& place) {
  const auto parts = postgres::parts_of(place.url);
  return parts ? parts->place : "an invalid URL";
}

std::vector<std::string> lines(postgres::Client& db, const std::string& query) {
  std::string text;
  db.copy_out("COPY (" + query + ") TO STDOUT", [&](std::string_view piece) { text += piece; });
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    found.push_back(text.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return found;
}

std::string difference(postgres::Client& db, const std::vector<Table>& tables) {
  std::map<std::string, std::set<std::string>> has;
  for (const std::string& line :
       lines(db,
             "SELECT table_name || '.' || column_name || ' ' || data_type FROM"
             " information_schema.columns WHERE table_schema = current_schema()"))
    has[line.substr(0, line.find('.'))].insert(line);
  for (const Table& table : tables) {
    std::set<std::string>& there = has[table.name];
    for (const Column& column : table.columns) {
      const std::string wanted = table.name + '.' + column.name + ' ' + type_name(column.kind);
      if (there.erase(wanted) == 0) return "there is no column " + wanted;
    }
    if (!there.empty()) return "SQLite has no column " + *there.begin();
  }
  return {};
}

std::int64_t schema_version(postgres::Client& db) {
  auto& table = db.statement("SELECT to_regclass('schema_versions') IS NOT NULL");
  if (!table.step() || table.integer(0) == 0) return 0;
  auto& row = db.statement("SELECT coalesce(max(version), 0) FROM schema_versions");
  return row.step() ? row.integer(0) : 0;
}

std::vector<std::pair<std::string, std::string>> counted_columns(postgres::Client& db) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& line :
       lines(db,
             "SELECT table_name || '.' || column_name FROM information_schema.columns"
             " WHERE table_schema = current_schema() AND is_identity = 'YES' ORDER BY table_name"))
    found.emplace_back(line.substr(0, line.find('.')), line.substr(line.find('.') + 1));
  return found;
}

}  // namespace hyperflock::storage::move
