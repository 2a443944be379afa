#include "net/ws_channel.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <limits>
#include <list>
#include <utility>

#include "base/steady_clock.h"
#include "net/stream.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using std::chrono::milliseconds;

constexpr int kFrameTooLarge = 1009;
constexpr int kSlowPeer = 4002;
constexpr std::size_t kReadBytes = std::size_t{16} * 1024;
constexpr std::size_t kGreetingRead = 512;
// The size of the kernel's send buffer for one peer. Control messages need little space, and a slow
// peer must not cost megabytes.
constexpr int kKernelSendBytes = 128 * 1024;

class Channel final : public WsChannel, public std::enable_shared_from_this<Channel> {
 public:
  Channel(const std::shared_ptr<Upgrade>& upgrade, const ChannelLimits& limits,
          telemetry::Metrics& metrics, std::shared_ptr<ChannelUser> user)
      : limits_(limits),
        metrics_(metrics),
        user_(std::move(user)),
        address_(upgrade->address),
        context_(upgrade->context),
        stream_(std::move(upgrade->stream)),
        slot_(std::move(upgrade->slot)),
        ws_(*stream_),
        timer_(ws_.get_executor()) {}

  void accept(std::shared_ptr<const Upgrade> upgrade) {
    buffer_.max_size(message_limit() + 1);  // so that it does not double beyond it
    slot_.attach(shared_from_this());
    ErrorCode ignored;
    stream_->next_layer().set_option(asio::socket_base::send_buffer_size(kKernelSendBytes),
                                     ignored);
    websocket::stream_base::timeout timeout{};
    timeout.handshake_timeout = std::chrono::seconds(10);
    timeout.idle_timeout = milliseconds(limits_.idle_ms);
    timeout.keep_alive_pings = true;
    ws_.set_option(timeout);
    ws_.read_message_max(0);  // on_read() checks the size, so that the answer has its code
    ws_.auto_fragment(false);
    ws_.text(true);
    ws_.set_option(
        websocket::stream_base::decorator([id = context_.id()](websocket::response_type& response) {
          response.set("X-Request-Id", id);
        }));
    const auto& request = upgrade->request;
    ws_.async_accept(request, [self = shared_from_this(), upgrade](ErrorCode error) {
      if (error) {
        self->finish(error);
        return;
      }
      self->accepted_ = true;
      if (self->closing_) {
        self->send_close();
        return;
      }
      const telemetry::RequestScope scope(self->context_);
      if (self->user_) self->user_->on_open(self);
      self->maybe_read();
    });
  }

  // ---- any thread

  void send(std::string frame) override {
    const std::size_t bytes = frame.size();
    const std::size_t before = queued_.fetch_add(bytes);
    if (before != 0 && before + bytes > limits_.queue_bytes) {
      queued_.fetch_sub(bytes);
      close_slow_peer();
      return;
    }
    metrics_.change(telemetry::Gauge::websocket_queue_bytes, static_cast<double>(bytes));
    asio::dispatch(ws_.get_executor(),
                   [self = shared_from_this(), frame = std::move(frame)]() mutable {
                     self->enqueue(std::move(frame));
                   });
  }

  void close(int code, std::string reason) override {
    asio::dispatch(ws_.get_executor(),
                   [self = shared_from_this(), code, reason = std::move(reason)] {
                     self->start_closing(code, reason);
                   });
  }

  void credit() override {
    if (unanswered_.fetch_sub(1) != limits_.unanswered_frames) return;
    asio::post(ws_.get_executor(), [self = shared_from_this()] { self->maybe_read(); });
  }

  void shut(int code) override { close(code, code == 1012 ? "The server restarts." : ""); }

  void displace() override { close(kTryLater, "The server is full."); }

  void check_progress(Instant now) override {
    const Millis since = write_started_;
    if (since != 0 && now.ms - since > limits_.stuck_ms) close_slow_peer();
    const Millis begun = message_started_;
    if (begun != 0 && now.ms - begun > limits_.pace.limit_ms(message_bytes_))
      asio::post(ws_.get_executor(), [self = shared_from_this()] { self->refuse_slow_message(); });
  }

  std::size_t queued_bytes() const override { return queued_; }

  void post(std::function<void()> action) override {
    asio::post(ws_.get_executor(), [self = shared_from_this(), action = std::move(action)] {
      const telemetry::RequestScope scope(self->context_);
      if (!self->finished_) action();
    });
  }

  const std::string& address() const override { return address_; }

  // ---- on the strand

  void after(Millis delay, std::function<void()> action) override {
    timer_.expires_after(milliseconds(delay));
    timer_.async_wait([self = shared_from_this(), action = std::move(action)](ErrorCode error) {
      const telemetry::RequestScope scope(self->context_);
      if (!error && !self->closing_ && !self->finished_) action();
    });
  }

  void trust() override {
    trusted_ = true;
    buffer_.max_size(std::numeric_limits<std::size_t>::max());
    slot_.prove();
  }

  void resume() override {
    paused_ = false;
    forget_message();
    maybe_read();
  }

  void on_drained(std::function<void()> action) override { drained_ = std::move(action); }

 private:
  void maybe_read() {
    if (reading_ || paused_ || closing_ || finished_) return;
    if (unanswered_ >= limits_.unanswered_frames || queued_ > limits_.queue_bytes / 2) {
      message_started_ = 0;  // the server does not read, so this time is not the peer's
      return;
    }
    if (buffer_.size() != 0 && message_started_ == 0) message_started_ = steady_now().ms;
    reading_ = true;
    ws_.async_read_some(buffer_, room(), [self = shared_from_this()](ErrorCode error, std::size_t) {
      self->on_read(error);
    });
  }

  void on_read(ErrorCode error) {
    reading_ = false;
    if (error) {
      finish(error);
      return;
    }
    if (finished_) return;  // a write failed after this frame had arrived
    if (closing_) return;   // the closing handshake reads from now on
    const telemetry::RequestScope scope(context_);
    message_bytes_ = buffer_.size();
    if (buffer_.size() > message_limit()) {
      user_->on_bad_frame("frame_too_large");
      start_closing(kFrameTooLarge, "A frame is larger than the server takes.");
      return;
    }
    if (!ws_.is_message_done()) {
      if (message_started_ == 0) message_started_ = steady_now().ms;
    } else {
      message_started_ = 0;
      if (ws_.got_text()) {
        ++unanswered_;
        const auto bytes = buffer_.cdata();
        const std::string_view text(static_cast<const char*>(bytes.data()), bytes.size());
        paused_ = user_->on_text(text) == ChannelUser::Reading::paused;
        if (paused_) return;
      } else {
        user_->on_bad_frame("malformed");
      }
      forget_message();
    }
    maybe_read();
  }

  void forget_message() {
    buffer_.consume(buffer_.size());
    // A large frame may have enlarged the buffer. Small frames do not need so much memory.
    if (buffer_.capacity() > 4 * kReadBytes) buffer_.shrink_to_fit();
  }

  // Until the peer is trusted, the buffer grows at most once: from a few bytes to the limit of a
  // message.
  std::size_t room() const {
    if (trusted_) return kReadBytes;
    const std::size_t left = message_limit() + 1 - buffer_.size();
    return buffer_.size() == 0 ? std::min(kGreetingRead, left) : left;
  }

  std::size_t message_limit() const {
    return trusted_ ? limits_.frame_bytes : std::min(limits_.frame_bytes, limits_.greeting_bytes);
  }

  void refuse_slow_message() {
    if (message_started_ == 0 || closing_ || finished_) return;
    message_started_ = 0;
    const telemetry::RequestScope scope(context_);
    user_->on_bad_frame("message_too_slow");
    start_closing(kSlowPeer, "A message arrives too slowly.");
  }

  void enqueue(std::string frame) {
    if (finished_ || closing_) {
      forget(frame.size());
      return;
    }
    queue_.push_back(std::move(frame));
    write_next();
  }

  void write_next() {
    if (writing_ || queue_.empty() || finished_) return;
    writing_ = true;
    write_started_ = steady_now().ms;
    ws_.async_write(
        asio::buffer(queue_.front()),
        [self = shared_from_this()](ErrorCode error, std::size_t) { self->on_written(error); });
  }

  void on_written(ErrorCode error) {
    writing_ = false;
    write_started_ = 0;
    if (finished_) return;  // finish() has cleared the queue
    forget(queue_.front().size());
    queue_.pop_front();
    if (error) {
      finish(error);
      return;
    }
    if (!queue_.empty()) {
      write_next();
    } else if (closing_) {
      send_close();
    } else if (drained_) {
      const telemetry::RequestScope scope(context_);
      drained_();
    }
    maybe_read();
  }

  void close_slow_peer() {
    if (slow_.exchange(true)) return;
    metrics_.count(telemetry::Counter::slow_peers_closed);
    asio::post(ws_.get_executor(), [self = shared_from_this()] {
      if (self->finished_) return;
      // The waiting frames are dropped, because the peer does not read them. Only the frame that is
      // being written stays in the queue.
      while (self->queue_.size() > (self->writing_ ? 1U : 0U)) {
        self->forget(self->queue_.back().size());
        self->queue_.pop_back();
      }
      self->start_closing(kSlowPeer, "The peer takes its messages too slowly.");
    });
  }

  void start_closing(int code, const std::string& reason) {
    if (closing_ || finished_) return;
    closing_ = true;
    constexpr std::size_t kLongestReason = 120;  // a close frame's limit is 123 bytes
    reason_ = websocket::close_reason(static_cast<websocket::close_code>(code),
                                      reason.substr(0, kLongestReason));
    // The socket closes after this time, whatever the peer does.
    timer_.expires_after(milliseconds(limits_.close_ms));
    timer_.async_wait([self = shared_from_this()](ErrorCode error) {
      if (!error) self->finish(asio::error::timed_out);
    });
    if (queue_.empty() && accepted_)
      send_close();  // otherwise it is called once the queue is empty or the upgrade is answered
  }

  void send_close() {
    ws_.async_close(reason_, [self = shared_from_this()](ErrorCode error) { self->finish(error); });
  }

  void finish(ErrorCode error) {
    if (finished_) return;
    finished_ = true;
    const bool clean = !closing_ && error == websocket::error::closed &&
                       ws_.reason().code == websocket::close_code::normal;
    timer_.cancel();
    ErrorCode ignored;
    stream_->next_layer().close(ignored);
    for (const std::string& frame : queue_) forget(frame.size());
    // The frame that is being written is freed when the write operation ends.
    while (queue_.size() > (writing_ ? 1U : 0U)) queue_.pop_back();
    drained_ = nullptr;
    if (const auto user = std::exchange(user_, nullptr)) {
      const telemetry::RequestScope scope(context_);
      user->on_closed(clean ? ChannelUser::How::clean : ChannelUser::How::lost);
    }
    slot_ = ConnectionSlot();
  }

  void forget(std::size_t bytes) {
    queued_.fetch_sub(bytes);
    metrics_.change(telemetry::Gauge::websocket_queue_bytes, -static_cast<double>(bytes));
  }

  const ChannelLimits limits_;
  telemetry::Metrics& metrics_;
  std::shared_ptr<ChannelUser> user_;
  const std::string address_;
  const telemetry::RequestContext context_;
  std::unique_ptr<Stream> stream_;
  ConnectionSlot slot_;
  websocket::stream<Stream&, false> ws_;  // no permessage-deflate, which costs 130 KiB a connection
  hub::Timer timer_;
  boost::beast::flat_buffer buffer_;
  std::list<std::string> queue_;  // unlike a deque, it holds no memory while it is empty
  std::function<void()> drained_;
  websocket::close_reason reason_;
  bool accepted_ = false;  // the upgrade is answered; nothing may be written before
  bool trusted_ = false;
  bool reading_ = false;
  bool paused_ = false;  // the user still reads the last message
  bool writing_ = false;
  bool closing_ = false;   // this side closes; nothing more is read or queued
  bool finished_ = false;  // the socket is closed, and the user knows

  // Any thread.
  std::atomic<std::size_t> queued_{0};
  std::atomic<std::size_t> unanswered_{0};
  std::atomic<Millis> write_started_{0};
  std::atomic<Millis> message_started_{0};  // 0: no message is half received
  std::atomic<std::size_t> message_bytes_{0};
  std::atomic<bool> slow_{false};
};

}  // namespace

std::shared_ptr<WsChannel> WsChannel::start(std::shared_ptr<Upgrade> upgrade,
                                            const ChannelLimits& limits,
                                            telemetry::Metrics& metrics,
                                            std::shared_ptr<ChannelUser> user) {
  auto channel = std::make_shared<Channel>(upgrade, limits, metrics, std::move(user));
  channel->accept(std::move(upgrade));
  return channel;
}

}  // namespace hyperflock::net
