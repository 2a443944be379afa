#include "net/session_base.h"

#include <utility>

#include "telemetry/log.h"

namespace hyperflock::net {
namespace {

using telemetry::LogLevel;

constexpr int kPolicy = 1008;
constexpr int kErrorsPerConnection = 10;
// A message of this size takes about a millisecond to parse. Meanwhile an I/O thread would serve
// nobody else.
constexpr std::size_t kLargeBytes = std::size_t{64} << 10;

std::string_view name_of(protocol::Role role) {
  return role == protocol::Role::device ? "device" : "researcher";
}

}  // namespace

struct SessionBase::Parsed {
  explicit Parsed(std::string_view text) : message(protocol::parse_client_message(text)) {
    if (!message) refused = protocol::refused_numbers(text);
  }
  Result<protocol::ClientMessage> message;
  protocol::RefusedNumbers refused{};  // of a message that is not valid
};

void SessionBase::on_open(const std::shared_ptr<WsChannel>& channel) {
  channel_ = channel;
  channel->after(context_.hello_ms, [this] {
    if (!greeted_) refuse("hello_timeout", "No hello came in time; send it first.");
  });
}

ChannelUser::Reading SessionBase::on_text(std::string_view text) {
  if (greeted_ && !admits(text.size())) return Reading::goes_on;
  if (greeted_ && text.size() >= kLargeBytes && parse_elsewhere(text)) return Reading::paused;
  handle(Parsed(text));
  const Millis pause = greeted_ ? pause_ms() : 0;
  const auto open = pause > 0 ? channel() : nullptr;
  if (!open) return Reading::goes_on;
  // The channel keeps this session while it waits.
  open->after(pause, [channel = open.get()] { channel->resume(); });
  return Reading::paused;
}

bool SessionBase::parse_elsewhere(std::string_view text) {
  // The channel keeps the text, and as long as it is open also this session.
  const auto open = channel();
  if (!open) return false;
  const auto parse = [this, open, text] {
    const auto parsed = std::make_shared<Parsed>(text);
    open->post([this, open, parsed] {
      handle(std::move(*parsed));
      open->resume();
    });
  };
  return context_.readers.post(costly_lane(), parse) == hub::Added::yes;
}

void SessionBase::handle(Parsed parsed) {
  Credit credit = Credit::given;
  if (!parsed.message) {
    send_error(parsed.message.error(), parsed.refused);
  } else if (!greeted_) {
    first_message(std::move(*parsed.message));
  } else {
    credit = on_message(std::move(*parsed.message));
  }
  if (credit == Credit::given) {
    if (const auto open = channel()) open->credit();
  }
}

void SessionBase::on_closed(How how) {
  if (greeted_) {
    telemetry::log(LogLevel::debug, "session_closed",
                   {{"role", name_of(role())}, {"clean", how == How::clean}});
  }
  on_ended(how);
}

void SessionBase::on_bad_frame(const char* code) {
  const std::string_view name = code;
  const char* message = "Send text frames; a binary one has no meaning here.";
  if (name == "message_too_slow") {
    message = "A message takes too long to arrive; send it in one piece.";
  } else if (name == "frame_too_large") {
    message = greeted_ ? "A frame may have at most 1 MiB; split what you send."
                       : "Before hello is accepted, a frame must be smaller than 2 KiB.";
  }
  send_error(Error{code, message});
}

void SessionBase::first_message(protocol::ClientMessage message) {
  auto* hello = std::get_if<protocol::Hello>(&message);
  if (hello == nullptr) {
    refuse("hello_expected", "The first message must be hello.");
  } else if (hello->protocol < protocol::kProtocolVersion) {
    refuse("client_too_old",
           "This program speaks an older protocol; reload the page or upgrade it.");
  } else if (hello->protocol > protocol::kProtocolVersion) {
    refuse("server_too_old",
           "This server speaks an older protocol; ask its operator to upgrade it.");
  } else if (hello->role != role()) {
    refuse("wrong_role",
           "This address serves another role; see the two origins in the documentation.");
  } else {
    greeted_ = on_hello(std::move(*hello)) == Verdict::accepted;
    if (greeted_ && telemetry::logs(LogLevel::debug))
      telemetry::log(LogLevel::debug, "session_opened",
                     {{"role", name_of(role())}, {"who", who()}});
  }
}

void SessionBase::send(const protocol::ServerMessage& message) {
  if (const auto open = channel()) open->send(protocol::serialize(message));
}

void SessionBase::refuse(std::string code, std::string message) {
  const auto open = channel();
  if (!open) return;
  telemetry::log(LogLevel::debug, "session_refused", {{"role", name_of(role())}, {"code", code}});
  std::string reason = code;
  open->send(protocol::serialize(protocol::Refused{std::move(code), std::move(message)}));
  open->close(kPolicy, std::move(reason));
}

void SessionBase::send_error(Error error, const protocol::RefusedNumbers& refused) {
  const auto open = channel();
  if (!open) return;
  open->send(protocol::serialize(protocol::ErrorMessage{.code = std::move(error.code),
                                                        .message = std::move(error.message),
                                                        .field = std::move(error.field),
                                                        .id = refused.call,
                                                        .attempt = refused.attempt,
                                                        .seq = refused.seq}));
  if (++errors_ == kErrorsPerConnection) open->close(kPolicy, "Too many errors on one connection.");
}

}  // namespace hyperflock::net
