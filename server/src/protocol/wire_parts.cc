// See wire_parts.h.
#include "protocol/wire_parts.h"

#include <algorithm>

#include "protocol/codec.h"

namespace hyperflock::protocol {
namespace {

constexpr std::array<std::string_view, 3> kDataKinds{"npy", "npz", "file"};
constexpr std::array<std::string_view, 3> kWantedBackends{"auto", "webgpu", "cpu"};

std::string read_sha256(const Value& in) {
  std::string text = in.as_text();
  const bool is_hash = text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
                         return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                       });
  if (!is_hash && in.present()) in.bad_field("64 lower-case hex digits");
  return text;
}

// A file of this name is made on the device: it names nothing outside its folder.
std::string read_filename(const Value& in) {
  std::string text = in.as_text();
  const bool safe = !text.empty() && text != "." && text != ".." &&
                    text.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (!safe && in.present()) in.bad_field("a file name without a folder");
  return text;
}

DataRef read_data_ref(const Value& in) {
  DataRef out;
  out.name = in["name"].as_text();
  const Value kind = in["kind"];
  out.kind = kind.as_text();
  if (kind.present() &&
      std::find(kDataKinds.begin(), kDataKinds.end(), out.kind) == kDataKinds.end()) {
    kind.bad_field("npy, npz or file");
  }
  out.filename = read_filename(in["filename"]);
  out.blob = read_blob(in);
  return out;
}

}  // namespace

std::vector<Point> read_points(const Value& in) {
  std::vector<Point> out;
  out.reserve(in.array_size(kMaxPoints));
  in.each(kMaxPoints, [&](const Value& point) {
    if (!point.json().is_array() || point.json().size() != 2)
      return point.bad_field("[step, value]");
    out.push_back({.step = point.element(0).as_integer(), .value = point.element(1).as_number()});
  });
  return out;
}

Failure read_failure(const Value& in) {
  Failure out;
  out.cause = in["cause"].as_name<Cause>();
  out.code = in["code"].as_text(kMaxCode);
  out.message = in["message"].as_text(kMaxMessage);
  out.traceback = in.find("traceback").as_text_bytes(kMaxTracebackBytes);
  return out;
}

BlobRef read_blob(const Value& in) {
  BlobRef out;
  out.sha256 = read_sha256(in["sha256"]);
  out.bytes = in["bytes"].as_integer();
  return out;
}

std::vector<DataRef> read_data(const Value& in) {
  std::vector<DataRef> out;
  in.each(kMaxData, [&](const Value& data) { out.push_back(read_data_ref(data)); });
  return out;
}

Lease read_lease(const Value& in) {
  Lease out;
  out.attempt = in["attempt"].as_id<AttemptId>();
  out.study = in["study"].as_id<StudyId>();
  out.trial = in["trial"].as_id<TrialNumber>(0);
  out.kind = in["kind"].as_name<AttemptKind>();
  out.study_name = in["study_name"].as_text();
  out.owner = in["owner"].as_text();
  out.total = in["total"].as_integer();
  out.params = in["params"].as_text_bytes(kMaxParamsBytes);
  out.seed = static_cast<std::uint32_t>(in["seed"].as_integer({.low = 0, .high = 0xFFFF'FFFF}));
  out.entry = in["entry"].as_text(kMaxEntry);
  out.bundle = read_blob(in["bundle"]);
  out.data = read_data(in["data"]);
  const Value runtime = in["runtime"];
  out.chainer = runtime["chainer"].as_text();
  out.backend = read_backend(runtime);
  out.time_limit_ms = in["time_limit_ms"].as_integer();
  out.lease_ms = in["lease_ms"].as_integer();
  if (const Value checkpoint = in.find("checkpoint"); checkpoint.present())
    out.checkpoint = read_checkpoint(checkpoint);
  out.asked = in.find("asked").as_bool();
  if (const Value count = in.find("directions"); count.present())
    out.directions = count.as_integer({.low = 1, .high = kMaxValues});
  out.suggested = in.find("suggested").as_text_bytes(kMaxSuggestedBytes);
  out.attrs = in.find("attrs").as_text_bytes(kMaxAttrsBytes);
  return out;
}

std::string read_backend(const Value& runtime) {
  const Value in = runtime.find("backend");
  if (!in.present()) return {};
  std::string text = in.as_text();
  if (std::find(kWantedBackends.begin(), kWantedBackends.end(), text) == kWantedBackends.end())
    in.bad_field("auto, webgpu or cpu");
  return text;
}

Checkpoint read_checkpoint(const Value& in) {
  Checkpoint out;
  out.attempt = in["attempt"].as_id<AttemptId>();
  out.format = in["format"].as_name<CheckpointFormat>();
  out.blob = read_blob(in);
  if (const Value step = in.find("step"); step.present()) out.step = step.as_integer();
  return out;
}

void append_points(std::string& out, const std::vector<Point>& points) {
  append_list(out, points, [&](const Point& point) {
    out += '[';
    append_integer(out, point.step);
    out += ',';
    append_float(out, point.value);
    out += ']';
  });
}

void append_failure(std::string& out, const Failure& failure) {
  ObjectWriter(out)
      .text("cause", name_of(failure.cause))
      .text("code", failure.code)
      .text("message", failure.message)
      .text("traceback", failure.traceback)
      .end();
}

void append_blob(std::string& out, const BlobRef& blob) {
  ObjectWriter(out).text("sha256", blob.sha256).integer("bytes", blob.bytes).end();
}

void append_data(std::string& out, const std::vector<DataRef>& data) {
  append_list(out, data, [&](const DataRef& ref) {
    ObjectWriter(out)
        .text("name", ref.name)
        .text("kind", ref.kind)
        .text("filename", ref.filename)
        .text("sha256", ref.blob.sha256)
        .integer("bytes", ref.blob.bytes)
        .end();
  });
}

void append_lease(std::string& out, const Lease& lease) {
  ObjectWriter w(out);
  w.integer("attempt", to_int(lease.attempt))
      .integer("study", to_int(lease.study))
      .integer("trial", to_int(lease.trial))
      .text("kind", name_of(lease.kind))
      .text("study_name", lease.study_name)
      .text("owner", lease.owner)
      .integer("total", lease.total)
      .text("params", lease.params)
      .integer("seed", lease.seed)
      .text("entry", lease.entry);
  append_blob(w.begin("bundle"), lease.bundle);
  append_data(w.begin("data"), lease.data);
  append_runtime(w.begin("runtime"), lease.chainer, lease.backend);
  w.integer("time_limit_ms", lease.time_limit_ms).integer("lease_ms", lease.lease_ms);
  if (lease.checkpoint) append_checkpoint(w.begin("checkpoint"), *lease.checkpoint);
  if (lease.asked) w.boolean("asked", true);
  if (lease.directions > 0) w.integer("directions", lease.directions);
  if (!lease.suggested.empty()) w.text("suggested", lease.suggested);
  if (!lease.attrs.empty()) w.text("attrs", lease.attrs);
  w.end();
}

void append_runtime(std::string& out, std::string_view chainer, std::string_view backend) {
  ObjectWriter w(out);
  w.text("chainer", chainer);
  if (!backend.empty()) w.text("backend", backend);
  w.end();
}

void append_requirements(std::string& out, const Requirements& wanted) {
  ObjectWriter w(out);
  if (wanted.memory_mb > 0) w.integer("memory_mb", wanted.memory_mb);
  if (wanted.cores > 0) w.integer("cores", wanted.cores);
  if (wanted.buffer_mb > 0) w.integer("buffer_mb", wanted.buffer_mb);
  if (wanted.f16) w.boolean("f16", true);
  if (wanted.graphics_card) w.boolean("graphics_card", true);
  w.end();
}

void append_gpu(std::string& out, const GpuFacts& gpu) {
  ObjectWriter(out)
      .text("adapter", gpu.adapter)
      .boolean("software", gpu.software)
      .boolean("f16", gpu.f16)
      .integer("buffer_mb", gpu.buffer_mb)
      .end();
}

void append_checkpoint(std::string& out, const Checkpoint& checkpoint) {
  ObjectWriter w(out);
  w.integer("attempt", to_int(checkpoint.attempt))
      .text("format", name_of(checkpoint.format))
      .text("sha256", checkpoint.blob.sha256)
      .integer("bytes", checkpoint.blob.bytes);
  if (checkpoint.step) w.integer("step", *checkpoint.step);
  w.end();
}

void append_log_lines(std::string& out, const std::vector<LogLine>& lines) {
  append_list(out, lines, [&](const LogLine& line) {
    ObjectWriter(out)
        .integer("line", line.line)
        .integer("attempt", to_int(line.attempt))
        .text("text", line.text)
        .end();
  });
}

void append_attempts(std::string& out, const std::vector<AttemptId>& attempts) {
  append_list(out, attempts, [&](AttemptId attempt) { append_integer(out, to_int(attempt)); });
}

}  // namespace hyperflock::protocol
