// See dial.h.
#include "net/relay/dial.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "net/relay/link_socket.h"
#include "net/stream.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
using DialDone = std::function<void(Dialled)>;

class Dial final : public std::enable_shared_from_this<Dial> {
 public:
  Dial(const hub::Strand& strand, DialSettings settings, DialDone done)
      : settings_(std::move(settings)), done_(std::move(done)), strand_(strand), timer_(strand) {}

  void start() {
    asio::co_spawn(
        strand_, [self = shared_from_this()] { return self->run(); },
        [self = shared_from_this()](const std::exception_ptr& fault) {
          if (fault) self->finish();
        });
  }

 private:
  LinkTask<void> run() {
    timer_.expires_after(std::chrono::milliseconds(settings_.limit_ms));
    timer_.async_wait([weak = weak_from_this()](ErrorCode stopped) {
      if (const auto self = weak.lock(); self && !stopped) self->give_up();
    });
    for (const auto& endpoint : settings_.endpoints) {
      if (given_up_) break;
      ErrorCode failed;
      socket_.emplace(strand_);
      (void)socket_->open(endpoint.protocol(), failed);
      if (!failed) {
        prepare_link(socket_->native_handle());
        auto [refused] = co_await socket_->async_connect(endpoint, kLinkUse);
        failed = refused;
      }
      if (!failed && !given_up_) {
        co_await shake_hands();
        break;
      }
      result_.reason = failed.message();
    }
    timer_.cancel();
    finish();
  }

  LinkTask<void> shake_hands() {
    stream_ = std::make_unique<Stream>(std::move(*socket_), settings_.context, TlsEnd::connects);
    socket_.reset();
    auto [failed, none] = co_await stream_->tls()->async_handshake(std::string(), kLinkUse);
    // Other errors are those of the network, such as a server that was killed meanwhile.
    const bool is_of_tls = failed.category() == asio::error::get_ssl_category();
    if (is_of_tls || (!failed && !stream_->tls()->connection().has_shared_key()))
      result_.end = Dialled::End::wrong_key;
    result_.reason = failed ? failed.message() : "The other end has another key.";
    if (failed || result_.end == Dialled::End::wrong_key) co_return;
    const auto header = asio::buffer(settings_.header);
    auto [cut, bytes] = co_await asio::async_write(*stream_, header, kLinkUse);
    result_.reason = cut.message();
    if (!cut) result_.end = Dialled::End::opened;
  }

  void give_up() {
    given_up_ = true;
    ErrorCode ignored;
    if (socket_) (void)socket_->close(ignored);
    if (stream_) (void)stream_->next_layer().close(ignored);
  }

  void finish() {
    if (given_up_) result_ = {.reason = "The server did not answer."};
    if (result_.end == Dialled::End::opened) result_.link = std::move(stream_);
    if (const DialDone done = std::exchange(done_, nullptr)) done(std::move(result_));
  }

  const DialSettings settings_;
  DialDone done_;
  Dialled result_{.reason = "The server has no address."};
  const hub::Strand strand_;
  hub::Timer timer_;
  std::optional<Socket> socket_;
  std::unique_ptr<Stream> stream_;
  bool given_up_ = false;
};

}  // namespace

void dial(const hub::Strand& strand, DialSettings settings, DialDone done) {
  std::make_shared<Dial>(strand, std::move(settings), std::move(done))->start();
}

}  // namespace hyperflock::net
