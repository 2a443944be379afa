#include "net/worker_session.h"

#include <algorithm>
#include <utility>

#include "base/instant.h"
#include "base/steady_clock.h"
#include "http/core/message.h"
#include "net/session_base.h"

namespace hyperflock::net {
namespace {

// A session counts its messages against the device's quota once for this many bytes, because each
// count takes a lock.
constexpr std::size_t kPaidAtOnce = std::size_t{64} << 10;
// A device's messages are counted in periods of this length.
constexpr Millis kPeriodMs = 50;

class WorkerSession final : public SessionBase {
 public:
  using SessionBase::SessionBase;

 private:
  protocol::Role role() const override { return protocol::Role::device; }
  std::string who() const override { return device_; }

  Verdict on_hello(protocol::Hello hello) override {
    const auto peer = channel();
    const std::optional<storage::Device> device =
        context_.identities.check_device(hello.device, hello.secret);
    if (!device) {
      if (!context_.admission.admit_stranger(peer->address())) {
        refuse("rate_limited", "Too many wrong credentials came from this address; wait a minute.");
      } else if (context_.identities.is_revoked(hello.device, hello.secret)) {
        refuse("banned", "The operator removed this device; ask whoever sent the link why.");
      } else {
        refuse("bad_token", "The server does not know this device; join again by the link.");
      }
      return Verdict::refused;
    }
    if (context_.hub.sessions() >= context_.max_workers) {
      refuse("full", "The server has as many workers as it may have; try again later.");
      return Verdict::refused;
    }
    peer->trust();
    device_ = device->id;
    note_seen(*device);
    session_ = context_.hub.next_session();
    context_.hub.open(
        dispatch::SessionOpened{*session_, device->id, device->project,
                                std::move(hello.capabilities), std::move(hello.attempts)},
        peer);
    return Verdict::accepted;
  }

  // The device keeps messages that were not acknowledged, and sends them again after it has
  // reconnected.
  bool admits(std::size_t bytes) override {
    unpaid_ += bytes;
    if (unpaid_ < kPaidAtOnce) return true;
    if (context_.messages.admit(device_, std::exchange(unpaid_, 0), steady_now())) return true;
    send_error(Error{"message_quota",
                     "This device sends more bytes than the server reads: send fewer, and later."});
    if (const auto peer = channel()) peer->close(kTryLater, "message_quota");
    return false;
  }

  // A device that sends without end would take the time of all others, so what it sends too fast is
  // read later. It has one session, because a new one ends the one before.
  Millis pause_ms() override {
    const std::size_t most = std::max<std::size_t>(1, context_.messages_per_s * kPeriodMs / 1'000);
    if (++read_ < most) return 0;
    const Millis now = steady_now().ms;
    const Millis left = period_began_ + kPeriodMs - now;
    period_began_ = std::max(now, period_began_ + kPeriodMs);
    read_ = 0;
    return std::max<Millis>(left, 0);
  }

  // Notes at most once an hour that the device is used, so that it is not collected.
  void note_seen(const storage::Device& device) {
    if (context_.identities.now() - device.seen_at < kHourMs) return;
    const storage::SeeDevice see{device.id};
    context_.hub.commit(
        {see}, [&identities = context_.identities, see](const Result<storage::Outcome>& outcome) {
          if (outcome) identities.committed(see, *outcome);
        });
  }

  hub::Lane costly_lane() const override {
    return http::lane_of_device(device_, hub::Band::devices_costly);
  }

  Credit on_message(protocol::ClientMessage message) override {
    if (std::holds_alternative<protocol::Hello>(message) ||
        std::holds_alternative<protocol::Watch>(message)) {
      send_error(
          Error{"unknown_type", "This message has no meaning in an open session of a device."});
      return Credit::given;
    }
    context_.hub.message(*session_, std::move(message));
    return Credit::owed;
  }

  void on_ended(How how) override {
    if (!session_) return;
    context_.hub.closed(*session_, how == How::clean ? dispatch::SessionClosed::How::clean
                                                     : dispatch::SessionClosed::How::lost);
  }

  std::optional<SessionId> session_;
  std::string device_;
  std::size_t unpaid_ = 0;  // bytes of messages
  std::size_t read_ = 0;    // messages in this period
  Millis period_began_ = 0;
};

}  // namespace

std::function<void(std::shared_ptr<Upgrade>)> worker_sessions(const SessionContext& context) {
  return [&context](std::shared_ptr<Upgrade> upgrade) {
    WsChannel::start(std::move(upgrade), context.limits, context.metrics,
                     std::make_shared<WorkerSession>(context));
  };
}

}  // namespace hyperflock::net
