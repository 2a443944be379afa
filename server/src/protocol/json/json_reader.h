// Reads untrusted JSON text: first into a tree of limited size, then into checked fields with their
// paths. Only the codecs use it, so no other part of the server sees a JSON tree. Never throws.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "protocol/json/json_tree.h"
#include "protocol/schema/limits.h"
#include "protocol/schema/name_table.h"

namespace hyperflock::protocol {

// Parses the text, which must be an object. No object in it may repeat a key. Errors:
// `frame_too_large`, `malformed`, `bad_number`.
Result<Json> parse_object(std::string_view text);

// Appends the tree as JSON text. Kinds and order are kept; floats and strings are written as in
// json_writer.h.
void append_json(std::string& out, const JsonNode& json);

// Returns the number of Unicode code points. REQUIRES: valid UTF-8.
std::size_t characters(std::string_view text);

// Keeps the first problem of a message. After a problem, readers continue with default values.
// Their caller checks the Problem when everything is read.
class Problem {
 public:
  void note(std::string code, std::string message, std::string field) {
    if (!error_) error_ = Error{std::move(code), std::move(message), std::move(field)};
  }
  bool found() const { return error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = kMaxWireInteger;
};

// A value of a message, and its path. A Value is made from its parent and must not outlive it. If
// the value is invalid, each `as_` function notes a problem and returns a default.
class Value {
 public:
  // Makes the root of a tree.
  Value(const Json& json, Problem& problem) : json_(&json.root()), problem_(&problem) {}

  // Returns a required field. Notes a problem if it is missing.
  Value operator[](std::string_view key) const;
  // Returns an optional field, which may be absent; see present().
  Value find(std::string_view key) const;
  bool present() const { return json_ != nullptr; }
  // Returns whether this is an object. Notes a problem if it is a value of another kind, but not if
  // it is absent.
  bool require_object() const;

  // Returns a text of at most `limit` characters.
  std::string as_text(std::size_t limit = kMaxText) const;
  // Returns a text of at most `limit` bytes.
  std::string as_text_bytes(std::size_t limit) const;
  std::int64_t as_integer(IntegerRange range = {}) const;
  double as_number() const;
  // Returns a number, which may be "NaN", "Infinity" or "-Infinity"; nullopt for null.
  std::optional<double> as_logged() const;
  bool as_bool() const;

  template <typename Id>
  Id as_id(std::int64_t low = 1) const {
    return static_cast<Id>(as_integer({.low = low}));
  }

  template <typename Enum>
  Enum as_name() const {
    const auto text = string();
    if (!text) return Enum{};
    if (const auto value = from_name<Enum>(*text)) return *value;
    bad_field("one of the names that the protocol lists");
    return Enum{};
  }

  // Calls `each(Value)` for each element of an array with at most `limit` elements.
  template <typename Each>
  void each(std::size_t limit, Each each) const {
    const std::size_t count = array_size(limit);
    for (std::size_t i = 0; i < count && !problem_->found(); ++i) each(element(i));
  }
  // Returns the length of an array with at most `limit` elements; 0 for another kind.
  std::size_t array_size(std::size_t limit) const;
  Value element(std::size_t index) const;

  void bad_field(std::string_view wanted) const;
  void note(std::string code, std::string message) const;
  // REQUIRES: present().
  const JsonNode& json() const { return *json_; }
  std::string path() const;

 private:
  Value(const JsonNode* json, const Value* parent, std::string_view key, std::size_t index)
      : json_(json), problem_(parent->problem_), parent_(parent), key_(key), index_(index) {}
  // Returns the text of a string. For another kind it notes a problem and returns nullopt.
  std::optional<std::string_view> string() const;
  void too_long(std::size_t limit, std::string_view unit) const;

  const JsonNode* json_;  // null: absent; a required value was noted as missing
  Problem* problem_;
  const Value* parent_ = nullptr;
  std::string_view key_{};  // empty for an element of an array
  std::size_t index_ = 0;
};

// Reads the text of a frame as a message to or from the server (R1 to R3). `read(type, object)`
// returns the message, or nullopt if the type is unknown.
template <typename Message, typename Read>
Result<Message> parse_message(std::string_view text, Read read) {
  const Result<Json> json = parse_object(text);
  if (!json) return json.error();
  Problem problem;
  const Value in(*json, problem);
  const Value type = in.find("type");
  if (!type.present() || !type.json().is(JsonKind::text))
    return Error{"malformed", "Give each message a type, which is a string."};
  std::optional<Message> message = read(type.json().text(), in);
  if (!message) return Error{"unknown_type", "Send a type that version 1 of the protocol has."};
  if (problem.found()) return problem.error();
  return *std::move(message);
}

}  // namespace hyperflock::protocol
