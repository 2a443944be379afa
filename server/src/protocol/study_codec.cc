// Reads and writes the body of POST /api/studies; see codec.h.
#include <set>

#include "protocol/codec.h"
#include "protocol/fields.h"

namespace hyperflock::protocol {
namespace {

// Notes a problem if the name has come before.
void require_unique(const Value& in, const std::string& text, std::set<std::string>& seen) {
  if (in.present() && !seen.insert(text).second) in.bad_field("a name that comes once");
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

void data_rule(Reader& codec, StudySpec& spec) {
  const Value data = codec.in().find("data");
  read(data, List{Object{}, kMaxData}, spec.data);
  std::set<std::string> names;
  for (std::size_t i = 0; i < spec.data.size(); ++i)
    require_unique(data.element(i)["name"], spec.data[i].name, names);
}
void data_rule(Writer& codec, const StudySpec& spec) {
  codec.required("data"_key, spec.data, List{Object{}, kMaxData});
}

void provenance_rule(Reader& codec, StudySpec& spec) {
  spec.provenance_json = read_provenance(codec.in().find("provenance"));
}
void provenance_rule(Writer& codec, const StudySpec& spec) {
  codec.required("provenance"_key, spec.provenance_json, JsonObject{});
}

namespace {

template <typename Struct>
Result<Struct> parse_struct(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) return json.error();
  Problem problem;
  Struct out;
  read(Value(*json, problem), Object{}, out);
  if (problem.found()) return problem.error();
  return out;
}

}  // namespace

Result<StudySpec> parse_study_spec(std::string_view text) { return parse_struct<StudySpec>(text); }

Result<Webhook> parse_webhook(std::string_view text) { return parse_struct<Webhook>(text); }

std::string serialize_study_spec(const StudySpec& spec) {
  std::string out;
  write(out, Object{}, spec);
  return out;
}

}  // namespace hyperflock::protocol
