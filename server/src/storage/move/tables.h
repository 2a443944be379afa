// The tables that both back ends have, in an order in which their rows can be written. They are
// those that SQLite's migrations make, so a new column needs no change here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::move {

enum class Kind { integer, real, text, bytes };

struct Column {
  std::string name;
  Kind kind = Kind::integer;
  bool is_key = false;  // a part of the primary key
};

struct Table {
  std::string name;
  std::vector<Column> columns;
  std::vector<std::string> references;  // tables that rows of this one name
  bool counts_ids = false;  // SQLite keeps the highest id that it ever gave (AUTOINCREMENT)

  // Returns the columns' names with commas, in double quotes.
  std::string column_list() const;
};

// Reads the tables of a database. Each comes after those that it references.
std::vector<Table> tables_of(sqlite::Db& db);

// Returns the tables of the newest schema.
std::vector<Table> newest_tables();

// Tables that have exactly one row from the beginning.
bool has_one_row(const Table& table);

}  // namespace hyperflock::storage::move
