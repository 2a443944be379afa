// The body of POST /api/studies, read and written (see codec.h).
#include <set>

#include "protocol/codec.h"
#include "protocol/json_reader.h"
#include "protocol/json_writer.h"
#include "protocol/wire_parts.h"

namespace hyperflock::protocol {
namespace {

constexpr Millis kDefaultTimeLimitMs = 3'600'000;

std::string read_name(const Value& in) {
  std::string text = in.as_text();
  if (in.present() && text.empty()) in.bad_field("a string that is not empty");
  return text;
}

// A name that must not come twice.
std::string read_unique(const Value& in, std::set<std::string>& seen) {
  std::string text = read_name(in);
  if (in.present() && !seen.insert(text).second) in.bad_field("a name that comes once");
  return text;
}

std::string read_entry(const Value& in) {
  std::string text = in.as_text(kMaxEntry);
  const std::size_t colon = text.find(':');
  const bool whole = colon != std::string::npos && colon > 0 && colon + 1 < text.size();
  if (in.present() && !whole) in.bad_field("module:function");
  return text;
}

// A scalar as canonical JSON text.
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
    append_string(dimension.name_json, read_unique(one["name"], names));
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

Requirements read_requirements(const Value& in) {
  Requirements out;
  if (!in.present() || !in.require_object()) return out;
  const auto integer = [&](std::string_view key, std::int64_t& value) {
    if (const Value one = in.find(key); one.present()) value = one.as_integer();
  };
  const auto flag = [&](std::string_view key, bool& value) {
    if (const Value one = in.find(key); one.present()) value = one.as_bool();
  };
  integer("memory_mb", out.memory_mb);
  integer("cores", out.cores);
  integer("buffer_mb", out.buffer_mb);
  flag("f16", out.f16);
  flag("graphics_card", out.graphics_card);
  return out;
}

// An asked study may have several directions, and says its first one with them.
void read_directions(const Value& in, StudySpec& out) {
  if (const Value kind = in.find("kind"); kind.present()) out.kind = kind.as_name<StudyKind>();
  const Value directions = in.find("directions");
  const bool asked = out.kind == StudyKind::asked;
  if (directions.present() && !asked) directions.bad_field("left out where `kind` is not asked");
  directions.each(kMaxValues,
                  [&](const Value& one) { out.directions.push_back(one.as_name<Direction>()); });
  if (directions.present() && out.directions.empty()) directions.bad_field("an array of 1 to 8");
  const Value direction = out.directions.empty() ? in["direction"] : in.find("direction");
  if (direction.present()) out.direction = direction.as_name<Direction>();
  if (!out.directions.empty()) {
    if (direction.present() && out.direction != out.directions.front())
      direction.bad_field("the first one of `directions`");
    out.direction = out.directions.front();
  } else if (asked) {
    out.directions.push_back(out.direction);
  }
}

StudySpec read_spec(const Value& in) {
  StudySpec out;
  out.name = read_name(in["name"]);
  out.submit_key = read_name(in["submit_key"]);
  read_directions(in, out);
  out.entry = read_entry(in["entry"]);
  out.bundle = read_blob(in["bundle"]);
  if (out.kind == StudyKind::grid) {
    out.space = read_space(in["space"]);
  } else if (const Value space = in.find("space"); space.array_size(kMaxDimensions) > 0) {
    space.bad_field("left out or empty where `kind` is asked");
  }
  const Value data = in.find("data");
  out.data = read_data(data);
  std::set<std::string> names;
  for (std::size_t i = 0; i < out.data.size(); ++i) read_unique(data.element(i)["name"], names);
  if (const Value seed = in.find("seed"); seed.present()) out.seed = seed.as_integer();
  const Value runtime = in["runtime"];
  out.chainer = read_name(runtime["chainer"]);
  out.backend = read_backend(runtime);
  out.requires_device = read_requirements(in.find("requires"));
  out.time_limit_ms = kDefaultTimeLimitMs;
  const Value limits = in.find("limits");
  limits.require_object();
  if (const Value limit = limits.find("time_limit_ms"); limit.present())
    out.time_limit_ms = limit.as_integer();
  if (const Value stall = limits.find("stall_ms"); stall.present())
    out.stall_ms = stall.as_integer();
  out.provenance_json = read_provenance(in.find("provenance"));
  if (const Value project = in.find("project"); project.present()) out.project = read_name(project);
  return out;
}

}  // namespace

Result<StudySpec> parse_study_spec(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) return json.error();
  Problem problem;
  StudySpec spec = read_spec(Value(*json, problem));
  if (problem.found()) return problem.error();
  return spec;
}

std::string serialize_study_spec(const StudySpec& spec) {
  std::string out;
  ObjectWriter w(out);
  w.text("name", spec.name)
      .text("submit_key", spec.submit_key)
      .text("direction", name_of(spec.direction))
      .text("entry", spec.entry);
  if (spec.kind == StudyKind::asked) {
    w.text("kind", name_of(spec.kind));
    append_list(w.begin("directions"), spec.directions,
                [&](Direction one) { append_string(out, name_of(one)); });
  }
  append_blob(w.begin("bundle"), spec.bundle);
  append_list(w.begin("space"), spec.space, [&](const Dimension& dimension) {
    ObjectWriter d(out);
    d.raw("name", dimension.name_json);
    append_list(d.begin("values"), dimension.values_json,
                [&](const std::string& value) { out += value; });
    d.end();
  });
  append_data(w.begin("data"), spec.data);
  w.integer("seed", spec.seed);
  append_runtime(w.begin("runtime"), spec.chainer, spec.backend);
  if (spec.requires_device != Requirements{})
    append_requirements(w.begin("requires"), spec.requires_device);
  ObjectWriter(w.begin("limits"))
      .integer("time_limit_ms", spec.time_limit_ms)
      .integer("stall_ms", spec.stall_ms)
      .end();
  w.raw("provenance", spec.provenance_json);
  if (!spec.project.empty()) w.text("project", spec.project);
  w.end();
  return out;
}

}  // namespace hyperflock::protocol
