// See tables.h.
#include "storage/move/tables.h"

#include <algorithm>
#include <stdexcept>

#include "storage/sqlite/schema.h"

namespace hyperflock::storage::move {
namespace {

Kind kind_of(std::string_view type) {
  if (type == "INTEGER") return Kind::integer;
  if (type == "REAL") return Kind::real;
  if (type == "TEXT") return Kind::text;
  if (type == "BLOB") return Kind::bytes;
  throw std::logic_error("a column of SQLite has the type " + std::string(type));
}

std::vector<Table> in_order(std::vector<Table> tables) {
  std::vector<Table> ordered;
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(ordered, name, &Table::name) != ordered.end();
  };
  while (!tables.empty()) {
    const auto next = std::ranges::find_if(tables, [&](const Table& one) {
      return std::ranges::all_of(one.references, [&](const std::string& other) {
        return other == one.name || is_there(other);
      });
    });
    if (next == tables.end()) throw std::logic_error("tables reference each other in a circle");
    ordered.push_back(std::move(*next));
    tables.erase(next);
  }
  return ordered;
}

}  // namespace

std::string Table::column_list() const {
  std::string list;
  for (const Column& column : columns) list += (list.empty() ? "\"" : ", \"") + column.name + '"';
  return list;
}

std::vector<Table> tables_of(sqlite::Db& db) {
  std::vector<Table> tables;
  {
    sql::Query rows = db.query(
        "SELECT m.name, c.name, c.type, c.pk, m.sql LIKE '%AUTOINCREMENT%' FROM sqlite_schema AS m,"
        " pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'"
        " ORDER BY m.name, c.cid");
    while (rows.next()) {
      if (tables.empty() || tables.back().name != rows.text(0)) {
        tables.emplace_back().name = rows.text(0);
        tables.back().counts_ids = rows.integer(4) != 0;
      }
      tables.back().columns.push_back(
          {std::string(rows.text(1)), kind_of(rows.text(2)), rows.integer(3) != 0});
    }
  }
  sql::Query keys = db.query(
      "SELECT m.name, k.\"table\" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS k"
      " WHERE m.type = 'table'");
  while (keys.next()) {
    const auto table = std::ranges::find(tables, keys.text(0), &Table::name);
    if (table != tables.end()) table->references.emplace_back(keys.text(1));
  }
  return in_order(std::move(tables));
}

std::vector<Table> newest_tables() {
  sqlite::Db made(":memory:", sqlite::Db::Mode::read_write);
  for (const sqlite::Migration& migration : sqlite::migrations()) made.exec(migration.sql);
  return tables_of(made);
}

bool has_one_row(const Table& table) {
  return table.name == "given" || table.name == "kept_time" || table.name == "audit_total" ||
         table.name == "contribution_fold";
}

}  // namespace hyperflock::storage::move
