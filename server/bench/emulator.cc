#include "emulator.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "protocol/codec.h"

namespace hyperflock::bench {
Emulator::Emulator(std::uint16_t compute_port, const std::vector<Device>& devices,
                   Clock::duration pace)
    : pace_(pace), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  latencies_ms_.reserve(1'000'000);
  acknowledged_.reserve(1'000'000);
  workers_.reserve(devices.size());
  for (const Device& device : devices) {
    workers_.push_back(
        Worker{open_session(compute_port, device, "cycle_bench"), {}, 0, 0, {}, false});
    take_first(workers_.back());
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, workers_[i].socket.socket().descriptor(), &event);
  }
}

Emulator::~Emulator() { ::close(epoll_); }

void Emulator::take_first(Worker& worker) {
  const protocol::ServerMessage answer = parse(worker.socket.receive_text());
  const auto* offer = std::get_if<protocol::LeaseOffer>(&answer);
  if (offer == nullptr) throw std::runtime_error("no first lease");
  worker.attempt = to_int(offer->lease.attempt);
}

void Emulator::send_result(Worker& worker) {
  protocol::TrialResult result;
  result.attempt = AttemptId{worker.attempt};
  result.seq = ++worker.seq;
  result.values = {static_cast<double>(worker.attempt) * 0.25};
  result.metrics = {12, 345};
  result.backend = "cpu";
  result.next = true;
  worker.sent = Clock::now();
  worker.socket.send(protocol::serialize(protocol::ClientMessage(std::move(result))));
}

void Emulator::on_frames(Worker& worker) {
  std::string_view rest = worker.received;
  while (auto frame = net::take_frame(rest)) {
    if (frame->opcode == net::Opcode::ping) {
      worker.socket.send_frame(net::Opcode::pong, frame->payload);
      continue;
    }
    if (frame->opcode != net::Opcode::text) continue;
    const protocol::ServerMessage message = parse(frame->payload);
    const auto* ack = std::get_if<protocol::ResultAck>(&message);
    if (ack == nullptr) throw std::runtime_error("unexpected message: " + frame->payload);
    if (ack->verdict != protocol::Verdict::accepted || to_int(ack->attempt) != worker.attempt) {
      throw std::runtime_error("the result was not accepted: " + frame->payload);
    }
    acknowledged_.push_back(worker.attempt);
    acknowledged_at_.push_back(Clock::now());
    if (!ack->lease) throw std::runtime_error("no next lease: " + frame->payload);
    if (measuring_) {
      latencies_ms_.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - worker.sent).count());
    }
    worker.attempt = to_int(ack->lease->attempt);
    if (!sending_) continue;
    if (pace_ == Clock::duration{}) {
      send_result(worker);
    } else {
      worker.idle = true;
    }
  }
  worker.received.erase(0, worker.received.size() - rest.size());
}

void Emulator::send_due_results() {
  const auto now = Clock::now();
  for (Worker& worker : workers_) {
    if (!worker.idle || now - worker.sent < pace_) continue;
    worker.idle = false;
    send_result(worker);
  }
}

bool Emulator::pull(Worker& worker) {
  std::array<char, 16384> piece;
  const ssize_t got =
      ::recv(worker.socket.socket().descriptor(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got > 0) worker.received.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

void Emulator::run(Clock::duration duration) {
  if (acknowledged_.empty()) {
    for (Worker& worker : workers_) send_result(worker);
  }
  const auto end = Clock::now() + duration;
  std::array<epoll_event, 64> events;
  while (Clock::now() < end) {
    const bool paced = pace_ != Clock::duration{};
    if (paced) send_due_results();
    const int ready =
        ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), paced ? 1 : 100);
    for (int i = 0; i < ready; ++i) {
      Worker& worker = workers_[events[static_cast<std::size_t>(i)].data.u64];
      if (!pull(worker)) throw std::runtime_error("the server closed a connection");
      on_frames(worker);
    }
  }
}

void Emulator::take_rest() {
  sending_ = false;
  measuring_ = false;
  for (Worker& worker : workers_) {
    while (pull(worker)) {
    }
    on_frames(worker);
  }
}

}  // namespace hyperflock::bench
