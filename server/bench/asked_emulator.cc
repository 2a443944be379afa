#include "asked_emulator.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "protocol/codec.h"

namespace hyperflock::bench {
namespace {

constexpr std::array<const char*, 3> kNames{"x", "y", "z"};
constexpr const char* kDistribution =
    R"({"name": "FloatDistribution", "attributes": {"step": null, "low": -5.0, "high": 5.0, "log": false}})";
// The objective's constants, which are equal to those in python/bench/vs_objective.py.
constexpr std::int64_t kSteps = 10;
constexpr double kStallsAbove = 2.5;
constexpr std::int64_t kStallsAt = 4;

}  // namespace

AskedEmulator::AskedEmulator(std::uint16_t compute_port, const std::vector<Device>& devices)
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  workers_.reserve(devices.size());
  for (const Device& device : devices) {
    workers_.push_back(Worker{.socket = open_session(compute_port, device, "asked_load")});
    net::TestWebSocket& socket = workers_.back().socket;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = workers_.size() - 1;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket.socket().descriptor(), &event);
  }
}

AskedEmulator::~AskedEmulator() { ::close(epoll_); }

void AskedEmulator::begin(Worker& worker, const protocol::Lease& lease) {
  worker.attempt = lease.attempt;
  worker.next_name = 0;
  worker.step = 0;
  worker.stalls = false;
  worker.value = 0;
  go_on(worker);
}

void AskedEmulator::go_on(Worker& worker) {
  protocol::Call call{
      .id = ++worker.id, .attempt = worker.attempt, .method = {}, .step = {}, .points = {}};
  if (worker.next_name < kNames.size()) {
    call.method = "suggest";
    call.name = kNames[worker.next_name];
    call.distribution = kDistribution;
  } else if (worker.step < kSteps) {
    call.method = "should_prune";
    call.step = ++worker.step;
    const std::int64_t reached = worker.stalls ? std::min(worker.step, kStallsAt) : worker.step;
    call.points = {{worker.step, 1.0 / static_cast<double>(reached)}};
  } else {
    return finish(worker, protocol::Outcome::complete);
  }
  send(worker.socket, call);
}

void AskedEmulator::finish(Worker& worker, protocol::Outcome outcome) {
  worker.outcome = outcome;
  protocol::TrialResult result;
  result.attempt = worker.attempt;
  result.seq = ++worker.seq;
  result.outcome = outcome;
  if (outcome == protocol::Outcome::complete) result.values = {worker.value};
  result.metrics = {12, 345};
  result.backend = "cpu";
  result.next = true;
  send(worker.socket, result);
}

void AskedEmulator::on_message(Worker& worker, const protocol::ServerMessage& message) {
  if (const auto* reply = std::get_if<protocol::Reply>(&message)) {
    ++counts_.calls;
    if (reply->text) {
      const double x = std::strtod(reply->text->c_str(), nullptr);
      if (worker.next_name == 0) worker.stalls = x > kStallsAbove;
      worker.value += x * x;
      ++worker.next_name;
    } else if (reply->value) {
      return finish(worker, protocol::Outcome::pruned);
    }
    return go_on(worker);
  }
  if (const auto* offer = std::get_if<protocol::LeaseOffer>(&message))
    return begin(worker, offer->lease);
  if (const auto* ack = std::get_if<protocol::ResultAck>(&message)) {
    if (ack->verdict != protocol::Verdict::accepted)
      throw std::runtime_error("a result was not accepted");
    ++(worker.outcome == protocol::Outcome::complete ? counts_.complete : counts_.pruned);
    if (ack->lease) begin(worker, *ack->lease);
    return;
  }
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&message))
    throw std::runtime_error("the server refused: " + error->code + ": " + error->message);
  if (std::holds_alternative<protocol::Revoke>(message))
    throw std::runtime_error("an attempt was revoked");
  // A `wait` needs no answer. The server sends the lease later by itself.
}

bool AskedEmulator::pull(Worker& worker) {
  std::array<char, 16384> piece;
  const ssize_t got =
      ::recv(worker.socket.socket().descriptor(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got > 0) worker.received.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

bool AskedEmulator::run(const std::function<bool()>& done) {
  constexpr int kLookMs = 5;
  std::array<epoll_event, 64> events;
  while (!done()) {
    const int ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), kLookMs);
    for (int i = 0; i < ready; ++i) {
      Worker& worker = workers_[events[static_cast<std::size_t>(i)].data.u64];
      if (!pull(worker)) return false;
      std::string_view rest = worker.received;
      while (auto frame = net::take_frame(rest)) {
        if (frame->opcode == net::Opcode::ping) {
          worker.socket.send_frame(net::Opcode::pong, frame->payload);
        } else if (frame->opcode == net::Opcode::close) {
          return false;
        } else if (frame->opcode == net::Opcode::text) {
          on_message(worker, parse(frame->payload));
        }
      }
      worker.received.erase(0, worker.received.size() - rest.size());
    }
  }
  return true;
}

}  // namespace hyperflock::bench
