// What both ends of links between servers use: the options of their sockets, which carry one
// client's connection each, and the form of their coroutines.
#pragma once

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "hub/executor.h"
#include "net/tls_stream.h"

namespace hyperflock::net {

template <typename T>
using LinkTask = boost::asio::awaitable<T, hub::Strand>;
inline constexpr auto kLinkUse = boost::asio::as_tuple(boost::asio::use_awaitable_t<hub::Strand>());

// The kernel buffers little of one link, so that the server soon sees how fast its client is, and
// judges it as one that comes directly. A server that is gone without a word is noticed within half
// a minute.
// REQUIRES: the socket is not connected yet, or a listener that was prepared has accepted it.
inline void prepare_link(int socket) {
  constexpr int kBufferBytes = 32 * 1'024;  // the kernel takes twice as much
  // Small buffers need segments that are smaller, which they are not on loopback.
  constexpr int kSegmentBytes = 1'400;
  constexpr int kYes = 1;
  constexpr int kIdleS = 10;
  constexpr int kBetweenS = 5;
  constexpr int kProbes = 3;
  constexpr int kUnansweredMs = 20'000;
  const auto set = [socket](int level, int name, int value) {
    (void)::setsockopt(socket, level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, kYes);
  set(IPPROTO_TCP, TCP_MAXSEG, kSegmentBytes);
  set(SOL_SOCKET, SO_RCVBUF, kBufferBytes);
  set(SOL_SOCKET, SO_SNDBUF, kBufferBytes);
  set(SOL_SOCKET, SO_KEEPALIVE, kYes);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleS);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kBetweenS);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnansweredMs);
}

}  // namespace hyperflock::net
