#include "telemetry/span.h"

#include <chrono>
#include <string_view>

#include "protocol/json/json_writer.h"
#include "telemetry/utf8.h"

namespace hyperflock::telemetry {
namespace {

using protocol::append_list;
using protocol::ObjectWriter;

constexpr std::string_view kService = "hyperflock-server";

// OTLP writes 64-bit numbers as texts.
void append_attribute(std::string& out, std::string_view key, const Span::Value& value) {
  ObjectWriter attribute(out);
  attribute.text("key", key);
  ObjectWriter inner(attribute.begin("value"));
  if (const auto* text = std::get_if<std::string>(&value)) {
    inner.text("stringValue", valid_utf8(*text));
  } else {
    inner.text("intValue", std::to_string(std::get<std::int64_t>(value)));
  }
  inner.end();
  attribute.end();
}

void append_link(std::string& out, const RequestContext& link) {
  ObjectWriter row(out);
  row.text("traceId", link.id()).text("spanId", hex(link.span)).end();
}

void append_span(std::string& out, const Span& span) {
  ObjectWriter row(out);
  row.text("traceId", span.context.id()).text("spanId", hex(span.context.span));
  if (span.parent != 0) row.text("parentSpanId", hex(span.parent));
  row.text("name", valid_utf8(span.name)).integer("kind", static_cast<std::int64_t>(span.kind));
  row.text("startTimeUnixNano", std::to_string(span.start_ns));
  row.text("endTimeUnixNano", std::to_string(span.end_ns));
  append_list(row.begin("attributes"), span.attributes, [&out](const auto& attribute) {
    append_attribute(out, attribute.first, attribute.second);
  });
  if (!span.links.empty()) {
    append_list(row.begin("links"), span.links,
                [&out](const RequestContext& link) { append_link(out, link); });
  }
  if (!span.error.empty()) {
    constexpr std::int64_t kError = 2;
    ObjectWriter status(row.begin("status"));
    status.text("message", valid_utf8(span.error)).integer("code", kError).end();
  }
  row.end();
}

}  // namespace

std::int64_t wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string otlp_json(const std::vector<Span>& spans, const std::string& version) {
  std::string out;
  out.reserve(256 + spans.size() * 512);
  out += R"({"resourceSpans":[{"resource":{"attributes":[)";
  append_attribute(out, "service.name", std::string(kService));
  out += ',';
  append_attribute(out, "service.version", version);
  out += R"(]},"scopeSpans":[{"scope":{"name":)";
  protocol::append_string(out, kService);
  out += R"(,"version":)";
  protocol::append_string(out, version);
  out += R"(},"spans":)";
  append_list(out, spans, [&out](const Span& span) { append_span(out, span); });
  out += "}]}]}";
  return out;
}

}  // namespace hyperflock::telemetry
