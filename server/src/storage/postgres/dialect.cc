// See dialect.h.
#include "storage/postgres/dialect.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace hyperflock::storage::postgres {
namespace {

// Checkpoints are here because LeaseRows knows which trials have some.
constexpr std::array<std::string_view, 5> kLeaseTables{"attempts", "trials", "points",
                                                       "device_versions", "checkpoints"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view word_at(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_word);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// Calls `use` with the word after each occurrence of `keyword`.
template <typename Use>
void for_words_after(std::string_view sql, std::string_view keyword, Use use) {
  for (auto at = sql.find(keyword); at != sql.npos; at = sql.find(keyword, at + 1)) {
    if (at > 0 && is_word(sql[at - 1])) continue;
    use(word_at(sql.substr(at + keyword.size())));
  }
}

bool is_lease_table(std::string_view name) {
  return std::ranges::find(kLeaseTables, name) != kLeaseTables.end();
}

}  // namespace

std::string translate(std::string_view sql) {
  std::string out;
  out.reserve(sql.size() + 32);
  int parameters = 0;
  bool ignores = false;
  const auto starts = [&sql](std::string_view prefix) { return sql.starts_with(prefix); };
  const auto skip = [&sql](std::string_view prefix) { sql.remove_prefix(prefix.size()); };
  while (!sql.empty()) {
    constexpr std::string_view kIgnore = "INSERT OR IGNORE";
    constexpr std::string_view kIndexed = "INDEXED BY ";
    constexpr std::string_view kCross = "CROSS JOIN";
    constexpr std::string_view kNoLimit = "LIMIT -1";
    constexpr std::string_view kNoBytes = "x''";
    if (sql.front() == '\'') {  // a literal stays as it is
      const auto end = sql.find('\'', 1);
      out += sql.substr(0, end + 1);
      sql.remove_prefix(end + 1);
    } else if (sql.front() == '?') {
      sql.remove_prefix(1);
      const std::string_view number = word_at(sql);
      out += '$';
      out += number.empty() ? std::to_string(++parameters) : std::string(number);
      skip(number);
    } else if (starts(kIgnore)) {
      ignores = true;
      out += "INSERT";
      skip(kIgnore);
    } else if (starts(kIndexed)) {
      skip(kIndexed);
      skip(word_at(sql));
    } else if (starts(kCross)) {
      out += "JOIN";
      skip(kCross);
    } else if (starts(kNoLimit)) {
      skip(kNoLimit);
    } else if (starts(kNoBytes)) {
      out += "CAST('' AS bytea)";
      skip(kNoBytes);
    } else {
      out += sql.front();
      sql.remove_prefix(1);
    }
  }
  if (ignores) out += " ON CONFLICT DO NOTHING";
  return out;
}

LeaseUse lease_use(std::string_view sql) {
  LeaseUse use;
  for (const std::string_view keyword : {"FROM ", "JOIN ", "INTO ", "UPDATE "})
    for_words_after(sql, keyword,
                    [&](std::string_view table) { use.reads |= is_lease_table(table); });
  for (const std::string_view keyword : {"INTO ", "UPDATE ", "DELETE FROM "})
    for_words_after(sql, keyword,
                    [&](std::string_view table) { use.changes |= is_lease_table(table); });
  return use;
}

}  // namespace hyperflock::storage::postgres
