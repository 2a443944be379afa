// The HTTP/1.1 client of this program: one request over one connection, with or without TLS.
// cli/http_client.h asks a server by it, webhook/sender.h posts events, and the exporter of traces
// posts spans. It follows no redirect. It blocks; any thread.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"

namespace hyperflock::client {

// Where to connect. The host is not looked up: the first of the addresses that accepts is used.
struct Destination {
  std::vector<boost::asio::ip::address> addresses{};
  std::uint16_t port = 443;
  bool tls = true;
  std::string host{};       // for the certificate; without brackets
  bool is_literal = false;  // whether the host is an address
};

struct Message {
  std::string method = "GET";
  std::string target = "/";  // path and query
  std::string host{};        // the header Host
  std::vector<std::pair<std::string, std::string>> headers{};
  std::optional<std::string> body{};  // nullopt: the request has none
};

struct Answer {
  int status = 0;
  std::string reason;
  std::string body;  // empty if it is not read
};

struct Limits {
  // A limit for the whole exchange, so that a host gains nothing by answering in single bytes, or
  // for each step and each piece of the answer.
  enum class Time { whole, step } time = Time::whole;
  Millis limit_ms = 15'000;
  std::uint32_t head_bytes = 16 * 1024;
  std::optional<std::uint64_t> body_bytes{};  // nullopt: the body is not read
};

struct Trust {
  // identity: the certificate must be trusted and valid for the host. none: any is accepted.
  enum class Verify { identity, none } verify = Verify::identity;
  // PEM files of authorities.
  std::vector<std::string> ca_files{};
  // Whether the authorities of the system are trusted too.
  bool system = true;
};

// What failed. `detail` is a reason for people, or empty.
struct Failure {
  enum class What {
    connect,      // no address accepts
    authorities,  // no certificates of authorities can be read
    handshake,    // of TLS
    certificate,  // it is not trusted, or is for another host
    send,         // the peer takes no request
    timeout,
    head_too_long,
    body_too_long,
    not_http,   // the peer sends something else
    no_answer,  // the peer ends the connection
  } what{};
  std::string detail{};
};

// Sends the message and returns the answer.
std::expected<Answer, Failure> exchange(const Destination& to, const Message& message,
                                        const Limits& limits, const Trust& trust);

// Returns the addresses of a host name as the operating system finds them, or why there are none.
std::expected<std::vector<boost::asio::ip::address>, std::string> look_up(const std::string& host);

}  // namespace hyperflock::client
