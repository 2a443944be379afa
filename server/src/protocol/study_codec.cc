// Reads and writes the body of POST /api/studies; see codec.h.
#include <set>

#include "protocol/codec.h"
#include "protocol/fields.h"

namespace hyperflock::protocol {
namespace {

constexpr Characters kName{kMaxText, 1};

// Notes a problem if the name came before.
void require_unique(const Value& in, const std::string& text, std::set<std::string>& seen) {
  if (in.present() && !seen.insert(text).second) in.bad_field("a name that comes once");
}

// Reads a scalar as canonical JSON text.
std::string read_scalar(const Value& in) {
  const Json& json = in.json();
  if (json.is_string()) {
    in.as_text();
  } else if (json.is_number_integer()) {
    in.as_integer({.low = std::numeric_limits<std::int64_t>::min(),
                   .high = std::numeric_limits<std::int64_t>::max()});
  } else if (json.is_binary()) {
    in.note("bad_number", in.path() + " must fit in 64 bits.");
  } else if (json.is_structured()) {
    in.bad_field("null, a bool, an integer, a finite float or a string");
  }
  std::string out;
  append_json(out, json);
  return out;
}

std::vector<Dimension> read_space(const Value& in) {
  std::vector<Dimension> out;
  std::set<std::string> names;
  std::size_t longest_point = 2;
  in.each(kMaxDimensions, [&](const Value& one) {
    Dimension dimension;
    const Value name = one["name"];
    std::string text;
    read(name, kName, text);
    require_unique(name, text, names);
    append_string(dimension.name_json, text);
    const Value values = one["values"];
    std::size_t longest_value = 0;
    values.each(kMaxFrameBytes, [&](const Value& scalar) {
      dimension.values_json.push_back(read_scalar(scalar));
      longest_value = std::max(longest_value, dimension.values_json.back().size());
    });
    if (values.present() && dimension.values_json.empty()) {
      values.note("empty_space", "Give " + values.path() + " at least one value.");
    }
    longest_point += dimension.name_json.size() + longest_value + 2;
    out.push_back(std::move(dimension));
  });
  if (!in.present()) return out;
  if (out.empty()) in.note("empty_space", "Give the space at least one name.");
  if (longest_point > kMaxParamsBytes)
    in.note("too_long", "A point of the space may have at most 64 KiB as text.");
  if (grid_size(out) == 0)
    in.note("space_too_large", "The space may have at most 2^53-1 points; split it.");
  return out;
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
  if (spec.kind != StudyKind::asked) return;
  codec.required("kind"_key, spec.kind, EnumName{});
  codec.required("directions"_key, spec.directions, List{EnumName{}, kMaxValues});
}

void space_rule(Reader& codec, StudySpec& spec) {
  const Value& in = codec.in();
  if (spec.kind == StudyKind::grid) {
    spec.space = read_space(in["space"]);
  } else if (const Value space = in.find("space"); space.array_size(kMaxDimensions) > 0) {
    space.bad_field("left out or empty where `kind` is asked");
  }
}
void space_rule(Writer& codec, const StudySpec& spec) {
  std::string& out = codec.begin("space"_key);
  append_list(out, spec.space, [&](const Dimension& dimension) {
    ObjectWriter d(out);
    d.raw("name", dimension.name_json);
    append_list(d.begin("values"), dimension.values_json,
                [&](const std::string& value) { out += value; });
    d.end();
  });
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

Result<StudySpec> parse_study_spec(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) return json.error();
  Problem problem;
  StudySpec spec;
  read(Value(*json, problem), Object{}, spec);
  if (problem.found()) return problem.error();
  return spec;
}

std::string serialize_study_spec(const StudySpec& spec) {
  std::string out;
  write(out, Object{}, spec);
  return out;
}

}  // namespace hyperflock::protocol
