// Reads and writes the body of POST /api/studies. Reads bodies that change a study. See codec.h.
#include <algorithm>
#include <set>

#include "protocol/codec.h"
#include "protocol/fields.h"

namespace hyperflock::protocol {
namespace {

// Notes a problem if the name was used before.
void require_unique(const Value& in, const std::string& text, std::set<std::string>& seen) {
  if (in.present() && !seen.insert(text).second) in.bad_field("a name that comes once");
}

template <typename Body>
Result<Body> parse_body(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) return json.error();
  Problem problem;
  Body body;
  read(Value(*json, problem), Object{}, body);
  if (problem.found()) return problem.error();
  return body;
}

void read_data(const Value& in, std::vector<DataRef>& out) {
  const Value data = in.find("data");
  read(data, List{Object{}, kMaxData}, out);
  std::set<std::string> names;
  for (std::size_t i = 0; i < out.size(); ++i)
    require_unique(data.element(i)["name"], out[i].name, names);
}

std::string read_provenance(const Value& in) {
  if (!in.present()) return "{}";
  std::string out;
  if (in.require_object()) append_json(out, in.json());
  if (out.size() > kMaxProvenanceBytes)
    in.note("too_long", "provenance may have at most 64 KiB as text.");
  return out;
}

}  // namespace

// An ask-and-tell study may have several directions. Its field `direction` is the first of them.
void direction_rule(Reader& codec, StudySpec& spec) {
  const Value& in = codec.in();
  codec.optional("kind"_key, spec.kind, EnumName{});
  const bool asked = spec.kind == StudyKind::asked;
  const Value directions = in.find("directions");
  if (directions.present() && !asked) directions.bad_field("left out where `kind` is not asked");
  codec.optional("directions"_key, spec.directions, List{EnumName{}, kMaxValues, 1});
  const Value direction = spec.directions.empty() ? in["direction"] : in.find("direction");
  if (direction.present()) read(direction, EnumName{}, spec.direction);
  if (!spec.directions.empty()) {
    if (direction.present() && spec.direction != spec.directions.front())
      direction.bad_field("the first one of `directions`");
    spec.direction = spec.directions.front();
  } else if (asked) {
    spec.directions.push_back(spec.direction);
  }
}
void direction_rule(Writer& codec, const StudySpec& spec) {
  codec.required("direction"_key, spec.direction, EnumName{});
}

void directions_rule(Reader&, StudySpec&) {}  // direction_rule has read them
void directions_rule(Writer& codec, const StudySpec& spec) {
  codec.optional("kind"_key, spec.kind, EnumName{});
  if (spec.kind != StudyKind::asked) return;
  codec.required("directions"_key, spec.directions, List{EnumName{}, kMaxValues});
}

void value_range_rule(Reader& codec, StudySpec& spec) {
  const Value in = codec.in().find("value_range");
  codec.optional("value_range"_key, spec.value_range, List{Object{}, kMaxValues, 1});
  const std::size_t values = std::max<std::size_t>(spec.directions.size(), 1);
  if (in.present() && spec.value_range.size() != values)
    in.bad_field("a list with one range for each direction");
  for (std::size_t i = 0; i < spec.value_range.size(); ++i) {
    const Bounds& one = spec.value_range[i];
    if (one.low && one.high && *one.low > *one.high)
      in.element(i).bad_field("a range whose `low` is at most its `high`");
  }
}
void value_range_rule(Writer& codec, const StudySpec& spec) {
  codec.optional("value_range"_key, spec.value_range, List{Object{}, kMaxValues});
}

void data_rule(Reader& codec, StudySpec& spec) { read_data(codec.in(), spec.data); }
void data_rule(Writer& codec, const StudySpec& spec) {
  codec.required("data"_key, spec.data, List{Object{}, kMaxData});
}
void data_rule(Reader& codec, NewCode& code) { read_data(codec.in(), code.data); }
void data_rule(Writer& codec, const NewCode& code) {
  codec.required("data"_key, code.data, List{Object{}, kMaxData});
}

void provenance_rule(Reader& codec, StudySpec& spec) {
  spec.provenance_json = read_provenance(codec.in().find("provenance"));
}
void provenance_rule(Writer& codec, const StudySpec& spec) {
  codec.required("provenance"_key, spec.provenance_json, JsonObject{});
}
void provenance_rule(Reader& codec, NewCode& code) {
  code.provenance_json = read_provenance(codec.in().find("provenance"));
}
void provenance_rule(Writer& codec, const NewCode& code) {
  codec.required("provenance"_key, code.provenance_json, JsonObject{});
}

Result<StudySpec> parse_study_spec(std::string_view text) { return parse_body<StudySpec>(text); }

Result<Webhook> parse_webhook(std::string_view text) { return parse_body<Webhook>(text); }

std::string serialize_study_spec(const StudySpec& spec) {
  std::string out;
  write(out, Object{}, spec);
  return out;
}

Result<Reissue> parse_reissue(std::string_view text) { return parse_body<Reissue>(text); }

Result<NewPriority> parse_new_priority(std::string_view text) {
  return parse_body<NewPriority>(text);
}

}  // namespace hyperflock::protocol
