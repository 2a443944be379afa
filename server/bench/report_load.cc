#include "report_load.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "device.h"
#include "fixture.h"
#include "protocol/codec.h"
#include "server_process.h"

namespace hyperflock::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDevices = 32;
constexpr int kRounds = 3;
constexpr int kSeries = 10;

// The content of each report: `rows` rows, each with one point or with ten series.
struct Load {
  bool series = false;
  int rows = 0;
  std::int64_t values() const { return std::int64_t{rows} * (series ? kSeries : 1); }
};
// Four loads: reports with the most points that a report may have, with fewer points, with as many
// values in series, and reports of one row each, as a slow trial sends them.
constexpr Load kPoints{false, 1'000};
constexpr Load kFewPoints{false, 100};
constexpr Load kRows{true, 100};
constexpr Load kOneRow{true, 1};

// Returns a value whose text has as many digits as that of a real loss.
double value_of(std::int64_t step, int series) {
  return 2.0 / (1.0 + static_cast<double>(step)) + std::sin(static_cast<double>(step + series));
}

class Reporters {
 public:
  Reporters(std::uint16_t compute_port, const std::vector<Device>& devices)
      : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (const Device& device : devices) {
      workers_.push_back({open_session(compute_port, device, "report_load"), {}, 0, 0, 0});
      Worker& worker = workers_.back();
      const protocol::ServerMessage answer = parse(worker.socket.receive_text());
      const auto* offer = std::get_if<protocol::LeaseOffer>(&answer);
      if (offer == nullptr) throw std::runtime_error("no first lease");
      worker.attempt = to_int(offer->lease.attempt);
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, workers_[i].socket.socket().descriptor(), &event);
    }
  }
  ~Reporters() { ::close(epoll_); }
  Reporters(const Reporters&) = delete;
  Reporters& operator=(const Reporters&) = delete;

  // Sends reports for this time, and waits for the last acknowledgements. Returns how many values
  // were acknowledged and are therefore durable.
  std::int64_t run(Load load, Clock::duration duration) {
    const auto end = Clock::now() + duration;
    std::int64_t acknowledged = 0;
    std::size_t open = workers_.size();
    for (Worker& worker : workers_) send(worker, load);
    std::array<epoll_event, 64> events;
    while (open > 0) {
      const int ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 1'000);
      for (int i = 0; i < ready; ++i) {
        Worker& worker = workers_[events[static_cast<std::size_t>(i)].data.u64];
        if (!take_ack(worker)) continue;
        acknowledged += load.values();
        if (Clock::now() < end) {
          send(worker, load);
        } else {
          --open;
        }
      }
    }
    return acknowledged;
  }

 private:
  struct Worker {
    net::TestWebSocket socket;
    std::string received;
    std::int64_t attempt = 0;
    std::int64_t seq = 0;
    std::int64_t step = 0;
  };

  static void send(Worker& worker, Load load) {
    protocol::Report report;
    report.attempt = AttemptId{worker.attempt};
    report.seq = ++worker.seq;
    protocol::Series series;
    if (load.series) {
      for (int name = 0; name < kSeries; ++name)
        series.columns.push_back({"series/" + std::to_string(name), {}});
    }
    for (int row = 0; row < load.rows; ++row) {
      const std::int64_t step = worker.step++;
      if (!load.series) {
        report.points.push_back({step, value_of(step, 0)});
        continue;
      }
      series.steps.push_back(step);
      for (int name = 0; name < kSeries; ++name)
        series.columns[static_cast<std::size_t>(name)].values.emplace_back(value_of(step, name));
    }
    if (load.series) report.series = std::move(series);
    worker.socket.send(protocol::serialize(protocol::ClientMessage(std::move(report))));
  }

  // Reads what has arrived. Returns whether the report is acknowledged now.
  static bool take_ack(Worker& worker) {
    std::array<char, 16384> piece;
    const ssize_t got =
        ::recv(worker.socket.socket().descriptor(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got <= 0) throw std::runtime_error("the server closed a connection");
    worker.received.append(piece.data(), static_cast<std::size_t>(got));
    bool acknowledged = false;
    std::string_view rest = worker.received;
    while (auto frame = net::take_frame(rest)) {
      if (frame->opcode == net::Opcode::ping)
        worker.socket.send_frame(net::Opcode::pong, frame->payload);
      if (frame->opcode != net::Opcode::text) continue;
      const protocol::ServerMessage message = parse(frame->payload);
      const auto* ack = std::get_if<protocol::Ack>(&message);
      if (ack == nullptr || ack->seq != worker.seq)
        throw std::runtime_error("unexpected message: " + frame->payload);
      acknowledged = true;
    }
    worker.received.erase(0, worker.received.size() - rest.size());
    return acknowledged;
  }

  std::vector<Worker> workers_;
  int epoll_ = -1;
};

// Returns the processor time that a process has used, in seconds.
double cpu_seconds(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::int64_t database_bytes(const std::string& state) {
  std::int64_t bytes = 0;
  for (const char* name : {"/hyperflock.db", "/hyperflock.db-wal"}) {
    std::error_code none;
    const auto size = std::filesystem::file_size(state + name, none);
    if (!none) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

struct Sum {
  double values = 0;
  double seconds = 0;
  double cpu = 0;
  double per_s() const { return values / seconds; }
  double cpu_us() const { return cpu / values * 1e6; }
};

}  // namespace

std::vector<Figure> measure_reports(const std::string& program, const std::string& state,
                                    double seconds) {
  std::filesystem::remove_all(state);
  std::filesystem::create_directories(state);
  ServerProcess server(program, state, {"--log-level", "warning"});
  submit(server);
  // An attempt may have 1,000,000 values, so each round has attempts of its own.
  std::optional<Reporters> reporters;
  const auto take_attempts = [&] {
    reporters.emplace(server.compute_port(), join(server, kDevices));
  };
  const auto measure = [&](Load load, Sum& sum, double share) {
    const double cpu = cpu_seconds(server.pid());
    const auto start = Clock::now();
    sum.values += static_cast<double>(reporters->run(load, to_duration(seconds * share / kRounds)));
    sum.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    sum.cpu += cpu_seconds(server.pid()) - cpu;
  };
  take_attempts();
  Sum warm_up;
  measure(kOneRow, warm_up, 0.5);
  Sum points;
  Sum few_points;
  Sum rows;
  Sum one_row;
  for (int round = 0; round < kRounds; ++round) {
    take_attempts();
    measure(kPoints, points, 1);
    measure(kFewPoints, few_points, 1);
    measure(kRows, rows, 1);
    measure(kOneRow, one_row, 1);
  }
  take_attempts();
  const std::int64_t before = database_bytes(state);
  Sum last;
  measure(kRows, last, 1);
  const double bytes = static_cast<double>(database_bytes(state) - before) / last.values;
  return {
      {"points_100_per_s", few_points.per_s(), "1/s", ">=", 200'000},
      {"series_values_per_s", rows.per_s(), "1/s", ">=", 50'000,
       "points of curves, reported in the same way", points.per_s()},
      {"series_cpu_us_per_value", rows.cpu_us(), "us", "", 0,
       "points of curves, reported in the same way", points.cpu_us()},
      {"series_cpu_ratio", rows.cpu_us() / points.cpu_us(), "ratio", "<=", 1},
      {"series_one_row_values_per_s", one_row.per_s(), "1/s"},
      {"series_file_bytes_per_value", bytes, "bytes"},
  };
}

}  // namespace hyperflock::bench
