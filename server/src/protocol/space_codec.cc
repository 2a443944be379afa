// Reads and writes the space of a study spec and its number of trials; see codec.h and rules.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "protocol/codec.h"
#include "protocol/fields.h"
#include "protocol/sampling.h"

namespace hyperflock::protocol {
namespace {

constexpr Characters kName{kMaxText, 1};
// The only key of a JSON object that stands for a tuple, or for a dict with just this key (R5).
constexpr std::string_view kTupleKey = "()";
// A number in a range has at most this many characters as text.
constexpr std::size_t kNumberLength = 25;
// How far the length of a range may be from a whole number of steps, as a fraction of a step.
// Doubles cannot hold most decimal fractions exactly.
constexpr double kStepTolerance = 1e-8;

bool is_drawn(StudyKind kind) { return kind == StudyKind::random || kind == StudyKind::sobol; }

void check_value(const Value& in, const JsonNode& json);

void check_members(const Value& in, const JsonNode& object) {
  for (const auto& [key, member] : object.fields()) {
    if (characters(key) > kMaxText)
      in.note("too_long", in.path() + " may have names of at most 256 characters.");
    check_value(in, member);
  }
}

// Checks a parameter's value or a part of it: a scalar, an array or an object (R5). Problems are
// noted at `in`, which is the whole value.
void check_value(const Value& in, const JsonNode& json) {
  const auto check_elements = [&in](const JsonNode& array) {
    for (const JsonNode& one : array.elements()) check_value(in, one);
  };
  if (json.is(JsonKind::text)) {
    if (characters(json.text()) > kMaxText)
      in.note("too_long", in.path() + " may have texts of at most 256 characters.");
  } else if (json.is(JsonKind::long_integer) ||
             (json.is(JsonKind::natural) && !std::in_range<std::int64_t>(json.natural()))) {
    in.note("bad_number", in.path() + " must fit in 64 bits.");
  } else if (json.is(JsonKind::array)) {
    check_elements(json);
  } else if (json.is(JsonKind::object) && json.fields().size() == 1 &&
             json.fields().front().key == kTupleKey) {
    const JsonNode& inner = json.fields().front().value;
    if (inner.is(JsonKind::array)) return check_elements(inner);
    if (inner.is(JsonKind::object)) return check_members(in, inner);
    in.bad_field("an array, which is a tuple, or an object under the name ()");
  } else if (json.is(JsonKind::object)) {
    check_members(in, json);
  }
}

// Notes a problem if the range contains no numbers, or if values cannot be drawn from it.
void check_range(const Value& in, const ValueRange& range) {
  const auto refuse = [&in](std::string_view field, std::string_view why) {
    in.find(field).note("bad_range", in.path() + std::string(why));
  };
  const auto is_whole = [](double number) {
    return std::trunc(number) == number && std::abs(number) <= static_cast<double>(kMaxWireInteger);
  };
  const double width = range.high - range.low;
  if (range.low > range.high) return refuse("low", ".low must not be greater than high.");
  if (!std::isfinite(width)) return refuse("high", " must be at most 1.7e308 wide.");
  if (range.integer) {
    if (!is_whole(range.low)) return refuse("low", ".low must be a whole number below 2^53.");
    if (!is_whole(range.high)) return refuse("high", ".high must be a whole number below 2^53.");
    if (!is_whole(width)) return refuse("high", " must have fewer than 2^53 numbers.");
  }
  if (range.log && (range.integer ? range.low < 1 : range.low <= 0))
    return refuse("low", range.integer ? ".low must be at least 1 with log."
                                       : ".low must be greater than 0 with log.");
  if (!range.step) return;
  if (range.log) return refuse("step", " may have log or step, not both.");
  if (!(*range.step > 0)) return refuse("step", ".step must be greater than 0.");
  if (range.integer && !is_whole(*range.step))
    return refuse("step", ".step must be a whole number below 2^53.");
  const double steps = width / *range.step;
  if (!(steps < static_cast<double>(kMaxWireInteger)))
    return refuse("step", " must have fewer than 2^53 numbers.");
  if (std::abs(steps - std::floor(steps + 0.5)) > (range.integer ? 0 : kStepTolerance))
    return refuse("step", ".step must divide high - low.");
}

// Reads the values of a parameter, or its range. Returns the length of the longest value as text.
std::size_t read_values(const Value& in, StudyKind kind, Dimension& dimension) {
  const Value range = in.find("range");
  if (range.present() && !is_drawn(kind))
    range.bad_field("left out unless the kind is random or sobol");
  if (range.present()) {
    read(range, Object{}, dimension.range.emplace());
    check_range(range, *dimension.range);
    if (const Value values = in.find("values"); values.array_size(kMaxFrameBytes) > 0)
      values.bad_field("left out or empty where there is a range");
    return kNumberLength;
  }
  const Value values = in["values"];
  std::size_t longest = 0;
  values.each(kMaxFrameBytes, [&](const Value& one) {
    check_value(one, one.json());
    std::string& text = dimension.values_json.emplace_back();
    append_json(text, one.json());
    longest = std::max(longest, text.size());
  });
  if (values.present() && dimension.values_json.empty())
    values.note("empty_space", "Give " + values.path() + " at least one value.");
  return longest;
}

std::vector<Dimension> read_space(const Value& in, StudyKind kind) {
  std::vector<Dimension> out;
  std::set<std::string> names;
  std::size_t longest_point = 2;
  in.each(kMaxDimensions, [&](const Value& one) {
    Dimension dimension;
    const Value name = one["name"];
    std::string text;
    read(name, kName, text);
    if (name.present() && !names.insert(text).second) name.bad_field("a name that comes once");
    append_string(dimension.name_json, text);
    const std::size_t longest_value = read_values(one, kind, dimension);
    longest_point += dimension.name_json.size() + longest_value + 2;
    if (kind == StudyKind::points && !out.empty() &&
        dimension.values_json.size() != out.front().values_json.size())
      one.find("values").bad_field("as many values as the first name has: one for each point");
    out.push_back(std::move(dimension));
  });
  if (!in.present()) return out;
  if (out.empty()) in.note("empty_space", "Give the space at least one name.");
  if (longest_point > kMaxParamsBytes)
    in.note("too_long", "A point of the space may have at most 64 KiB as text.");
  if (kind == StudyKind::grid && grid_size(out) == 0)
    in.note("space_too_large", "The space may have at most 2^53-1 points; split it.");
  return out;
}

}  // namespace

void space_rule(Reader& codec, StudySpec& spec) {
  const Value& in = codec.in();
  if (spec.kind != StudyKind::asked) {
    spec.space = read_space(in["space"], spec.kind);
  } else if (const Value space = in.find("space"); space.array_size(kMaxDimensions) > 0) {
    space.bad_field("left out or empty where `kind` is asked");
  }
}
void space_rule(Writer& codec, const StudySpec& spec) {
  append_space(codec.begin("space"_key), spec.space);
}

// Reads the earlier spaces of an extended grid. Each must be a part of the next one, and the last a
// part of the present space.
void grown_rule(Reader& codec, StudySpec& spec) {
  codec.optional("grown"_key, spec.grown, List{Object{}, kMaxRows});
  const Value grown = codec.in().find("grown");
  const auto refuse = [&grown] {
    grown.bad_field("the numbers of values that the names of a grid had, none above the next");
  };
  if (!spec.grown.empty() && spec.kind != StudyKind::grid) return refuse();
  for (std::size_t i = 0; i < spec.grown.size(); ++i) {
    const std::vector<std::int64_t>& counts = spec.grown[i].values;
    if (counts.size() != spec.space.size()) return refuse();
    for (std::size_t d = 0; d < counts.size(); ++d) {
      const auto next = i + 1 < spec.grown.size() && d < spec.grown[i + 1].values.size()
                            ? spec.grown[i + 1].values[d]
                            : static_cast<std::int64_t>(spec.space[d].values_json.size());
      if (counts[d] > next) return refuse();
    }
  }
}
void grown_rule(Writer& codec, const StudySpec& spec) {
  codec.optional("grown"_key, spec.grown, List{Object{}, kMaxRows});
}

void trials_rule(Reader& codec, StudySpec& spec) {
  if (is_drawn(spec.kind)) codec.required("trials"_key, spec.trials, Integer{{.low = 1}});
}
void trials_rule(Writer& codec, const StudySpec& spec) {
  codec.optional("trials"_key, spec.trials, Integer{});
}

Result<Extension> parse_extension(std::string_view text, StudyKind kind) {
  const Result<Json> json = parse_object(text);
  if (!json) return json.error();
  Problem problem;
  const Value body(*json, problem);
  Reader codec(body);
  StudySpec spec;
  spec.kind = kind;
  space_rule(codec, spec);
  trials_rule(codec, spec);
  if (problem.found()) return problem.error();
  return Extension{std::move(spec.space), spec.trials};
}

void append_space(std::string& out, const std::vector<Dimension>& space) {
  append_list(out, space, [&out](const Dimension& dimension) {
    ObjectWriter entry(out);
    entry.raw("name", dimension.name_json);
    append_list(entry.begin("values"), dimension.values_json,
                [&out](const std::string& value) { out += value; });
    if (dimension.range) write(entry.begin("range"), Object{}, *dimension.range);
    entry.end();
  });
}

}  // namespace hyperflock::protocol
