// The common part of the sessions of devices and of researchers: the opening (R6, R7), errors (R2,
// R3) and access to the channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/worker_session.h"
#include "net/ws_channel.h"
#include "protocol/codec.h"

namespace hyperflock::net {

class SessionBase : public ChannelUser {
 public:
  explicit SessionBase(const SessionContext& context) : context_(context) {}

  void on_open(const std::shared_ptr<WsChannel>& channel) final;
  Reading on_text(std::string_view text) final;
  void on_bad_frame(const char* code) final;
  void on_closed(How how) final;

 protected:
  // on_hello() decides on a hello whose version and role are right. It calls the channel's trust()
  // before it accepts a hello. Messages are passed to on_message() only after that.
  enum class Verdict { accepted, refused };
  virtual protocol::Role role() const = 0;
  // Returns the device's id or the researcher's name, for the log. Only after hello was accepted.
  virtual std::string who() const = 0;
  virtual Verdict on_hello(protocol::Hello hello) = 0;
  // `owed`: the session will call the channel's credit() for this message later.
  enum class Credit { given, owed };
  virtual Credit on_message(protocol::ClientMessage message) = 0;
  // Returns whether a message of this length may be parsed. If not, the function has already closed
  // the channel.
  virtual bool admits(std::size_t /*bytes*/) { return true; }
  // Called after each message. Returns how long the session must not read the next one; 0: not at
  // all.
  virtual Millis pause_ms() { return 0; }
  // The queue in which the session's costly work waits. Only after hello was accepted.
  virtual hub::Lane costly_lane() const = 0;
  virtual void on_ended(How how) = 0;

  // Returns the channel, or nullptr if the connection has ended. Any thread, after on_open().
  std::shared_ptr<WsChannel> channel() const { return channel_.lock(); }
  void send(const protocol::ServerMessage& message);
  void refuse(std::string code, std::string message);
  void send_error(Error error, const protocol::RefusedNumbers& refused = {});

  const SessionContext& context_;

 private:
  struct Parsed;
  void first_message(protocol::ClientMessage message);
  // Lets a reader thread parse the text. Returns false if too much work waits there.
  bool parse_elsewhere(std::string_view text);
  void handle(Parsed parsed);

  std::weak_ptr<WsChannel> channel_;  // written once, by on_open()
  bool greeted_ = false;
  int errors_ = 0;
};

}  // namespace hyperflock::net
