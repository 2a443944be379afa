// See carrier.h.
#include "net/relay/carrier.h"

#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <utility>

#include "base/steady_clock.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
using Next = StreamStep::Next;

constexpr std::size_t kPieceBytes = std::size_t{16} * 1'024;  // the largest record of TLS
constexpr int kPiecesInTurn = 16;                             // then others have their turn

// One thread moves one piece at a time.
std::array<char, kPieceBytes>& scratch() {
  thread_local std::array<char, kPieceBytes> bytes;
  return bytes;
}

bool is_end(const ErrorCode& error) {
  return error == asio::error::eof || error == asio::ssl::error::stream_truncated;
}

}  // namespace

Carrier::Carrier(std::unique_ptr<Stream> client, std::unique_ptr<Stream> link, ConnectionSlot slot,
                 std::string begun, const CarrierLimits& limits, std::shared_ptr<void> kept,
                 telemetry::Metrics& metrics)
    : limits_(limits),
      kept_(std::move(kept)),
      metrics_(metrics),
      client_(std::move(client)),
      link_(std::move(link)),
      slot_(std::move(slot)),
      up_{.from = *client_, .to = *link_, .waiting = std::move(begun)},
      down_{.from = *link_, .to = *client_} {}

void Carrier::start() {
  // Which connections are displaced is decided by the server at the other end.
  slot_.prove();
  slot_.attach(shared_from_this());
  pump(up_);
  pump(down_);
}

void Carrier::end() {
  asio::post(client_->get_executor(), [self = shared_from_this()] { self->close(); });
}

void Carrier::check_progress(Instant now) {
  const Millis due = due_;
  if (due != 0 && now.ms > due) end();
}

void Carrier::pump(Direction& direction) {
  for (int pieces = 0; pieces < kPiecesInTurn; ++pieces) {
    if (closed_ || direction.done || !step(direction)) return;
  }
  asio::post(client_->get_executor(),
             [self = shared_from_this(), &direction] { self->pump(direction); });
}

bool Carrier::step(Direction& direction) {
  if (!direction.waiting.empty()) {
    if (!send(direction, asio::buffer(direction.waiting))) return false;
    return true;
  }
  if (direction.from_ended) {
    finish(direction);
    return false;
  }
  const StreamStep read = direction.from.try_read(asio::buffer(scratch()));
  if (read.next != Next::done) {
    wait(direction, direction.from, read.next);
    return false;
  }
  if (is_end(read.error)) {
    direction.from_ended = true;
    return true;
  }
  if (read.error) {
    close();
    return false;
  }
  return send(direction, asio::buffer(scratch(), read.bytes));
}

// Sends the bytes, which are those that wait or new ones. What is not sent waits.
bool Carrier::send(Direction& direction, asio::const_buffer bytes) {
  const bool is_new = direction.waiting.empty();
  const StreamStep written = direction.to.try_write(bytes);
  if (written.error) {
    close();
    return false;
  }
  const std::size_t taken = written.next == Next::done ? written.bytes : 0;
  if (is_new) {
    direction.waiting.assign(static_cast<const char*>(bytes.data()) + taken, bytes.size() - taken);
  } else {
    direction.waiting.erase(0, taken);
  }
  if (direction.waiting.empty()) direction.waiting = std::string();  // frees it
  if (taken != 0) {
    metrics_.count(telemetry::Counter::spare_bytes,
                   &direction == &down_ ? "to_client" : "to_server", static_cast<double>(taken));
  }
  if (&direction == &down_) note_client(direction, taken);
  if (written.next == Next::done) return true;
  wait(direction, direction.to, written.next);
  return false;
}

// Limits how slowly the client takes what waits for it.
void Carrier::note_client(Direction& direction, std::size_t taken) {
  if (direction.waiting.empty()) {
    is_slow_ = false;
    due_ = 0;
    return;
  }
  const Instant now = steady_now();
  if (!std::exchange(is_slow_, true)) taking_ = PacedTransfer(limits_.pace, now);
  taking_.moved(taken);
  due_ = now.ms + taking_.left_ms(now);
}

void Carrier::wait(Direction& direction, Stream& stream, Next what) {
  const auto kind = what == Next::wait_for_input ? Socket::wait_read : Socket::wait_write;
  stream.next_layer().async_wait(kind, [self = shared_from_this(), &direction](ErrorCode error) {
    if (error) return self->close();
    self->pump(direction);
  });
}

// The sender has ended, and the receiver has all of it.
void Carrier::finish(Direction& direction) {
  direction.done = true;
  if (up_.done && down_.done) return close();
  ErrorCode error;
  (void)direction.to.next_layer().shutdown(Socket::shutdown_send, error);
  if (error) return close();
  if (&direction == &down_) due_ = steady_now().ms + limits_.linger_ms;
}

void Carrier::close() {
  if (std::exchange(closed_, true)) return;
  ErrorCode ignored;
  for (Stream* stream : {client_.get(), link_.get()}) (void)stream->next_layer().close(ignored);
  slot_ = ConnectionSlot();
}

}  // namespace hyperflock::net
