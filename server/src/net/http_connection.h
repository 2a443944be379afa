// An HTTP connection. It reads requests one after the other, passes each to its site (site.h) and
// sends the answer. If a request asks for a WebSocket, the connection passes its stream to the
// WebSocket. Each connection belongs to its own strand.
//
// Each request gets a new id (telemetry/request_context.h), which every answer has in X-Request-Id.
// Only somebody with a valid token of the console may choose it, by `traceparent`. A volunteer must
// not: they could give their requests the id of somebody else's. X-Request-Id of a request is not
// read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/instant.h"
#include "base/ip.h"
#include "http/core/site.h"
#include "hub/reader_pool.h"
#include "net/answer_log.h"
#include "net/forwarded_notice.h"
#include "net/pace.h"
#include "net/proxy/forwarded.h"
#include "net/proxy/trusted_proxies.h"

namespace hyperflock::net {

class Onward;
class Stream;
struct Upgrade;
class ConnectionSlot;

struct HttpLimits {
  Millis head_ms = 10'000;        // for TLS; for a proxy's header; for the head of a request
  Millis keep_alive_ms = 60'000;  // between two requests
  Millis transfer_ms = 30'000;    // without a byte of a body, in either direction
  Pace pace{};                    // of a body, in either direction
  Millis reply_ms = 60'000;       // for the site's answer
  std::uint32_t head_bytes = 16 * 1024;
  std::size_t piece_bytes = std::size_t{256} << 10;
};

// The objects that the connections of one listener share. They outlive the connections.
struct HttpContext {
  http::Site* site = nullptr;
  hub::ReaderPool& readers;
  AnswerLog& answers;
  HttpLimits limits;
  // Takes over a connection that asked for a WebSocket.
  std::function<void(std::shared_ptr<Upgrade>)> upgrade;
  const TrustedProxies* proxies = nullptr;  // null: none
  ForwardedNotice* notice = nullptr;        // null: nobody is told
  // Whether a trusted proxy chooses the ids of requests (traceparent). Such a proxy must remove
  // this header from the requests of its clients.
  bool proxies_name_requests = false;
  Onward* onward = nullptr;  // null: every request is served here
};

// `peer` is the address of the socket's other end.
void start_http_connection(std::unique_ptr<Stream> stream, ConnectionSlot slot,
                           const IpAddress& peer, const HttpContext& context);

// A connection that another server has passed on. Its TLS and its PROXY header ended there.
struct RelayedPeer {
  Client client{};     // the client, or the last proxy before the other server
  bool named = false;  // a PROXY header named it
};

// Serves such a connection, which `stream` continues.
void start_relayed_connection(std::unique_ptr<Stream> stream, ConnectionSlot slot,
                              const RelayedPeer& peer, const HttpContext& context);

}  // namespace hyperflock::net
