// Implements codec.h. Writing is on the hot path, so the whole text is appended to one string. Only
// tests and the load emulator read server messages.
#include "protocol/codec.h"

#include "protocol/fields.h"
#include "protocol/json/json_reader.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::protocol {
namespace {

template <typename Message>
Result<Message> parse(std::string_view text) {
  return parse_message<Message>(text, [](std::string_view type, const Value& in) {
    std::optional<Message> message(std::in_place);
    if (!read_member(type, in, *message)) message.reset();
    return message;
  });
}

// Estimates the size of the text, so that its string is allocated once.
std::size_t expected_bytes(const ServerMessage& message) {
  constexpr std::size_t kSmall = 160;
  constexpr std::size_t kLease = 640;
  const Lease* lease = nullptr;
  if (const auto* offer = std::get_if<LeaseOffer>(&message)) lease = &offer->lease;
  if (const auto* ack = std::get_if<ResultAck>(&message); ack != nullptr && ack->lease)
    lease = &*ack->lease;
  return lease == nullptr ? kSmall
                          : kLease + lease->params.size() + lease->suggested.size() +
                                lease->attrs.size() + lease->data.size() * 256;
}

}  // namespace

Result<ClientMessage> parse_client_message(std::string_view text) {
  return parse<ClientMessage>(text);
}

Result<ServerMessage> parse_server_message(std::string_view text) {
  return parse<ServerMessage>(text);
}

RefusedNumbers refused_numbers(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) return {};
  Problem problem;
  const Value in(*json, problem);
  const std::string type = in["type"].as_text();
  RefusedNumbers numbers;
  if (type == "call") {
    numbers.call = in["id"].as_integer();
  } else if (type == "report" || type == "result" || type == "release") {
    numbers.attempt = in["attempt"].as_id<AttemptId>();
    numbers.seq = in["seq"].as_integer({.low = 1});
  }
  return problem.found() ? RefusedNumbers{} : numbers;
}

std::string serialize(const ServerMessage& message) {
  std::string out;
  out.reserve(expected_bytes(message));
  write(out, Tagged{"type"_key}, message);
  return out;
}

std::string serialize(const ClientMessage& message) {
  std::string out;
  write(out, Tagged{"type"_key}, message);
  return out;
}

void append_log_lines(std::string& out, const std::vector<LogLine>& lines) {
  write(out, List{Object{}, kMaxRows}, lines);
}

void append_runtime(std::string& out, std::string_view chainer, std::string_view backend) {
  ObjectWriter w(out);
  w.text("chainer", chainer);
  if (!backend.empty()) w.text("backend", backend);
  w.end();
}

void append_requirements(std::string& out, const Requirements& wanted) {
  write(out, Object{}, wanted);
}

void append_gpu(std::string& out, const GpuFacts& gpu) { write(out, Object{}, gpu); }

}  // namespace hyperflock::protocol
