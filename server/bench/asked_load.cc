// Runs emulated devices for the ask-and-tell studies of a running server. They join by an enrolment
// code and run their leases (asked_emulator.h) until SIGTERM or until the server closes a
// connection. The program prints "ready" when they have joined, and at its end one line of JSON.
//
//   asked_load --port 8780 --code hfe_... --devices 100
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "asked_emulator.h"
#include "fixture.h"
#include "program.h"

namespace hyperflock::bench {
namespace {

volatile std::sig_atomic_t stopped = 0;

struct Options {
  std::uint16_t port = 0;
  std::string code;
  int devices = 100;
};

int run(const Options& options) {
  AskedEmulator emulator(options.port, join(options.port, options.code, options.devices));
  std::printf("ready\n");
  std::fflush(stdout);
  emulator.run([] { return stopped != 0; });
  const AskedEmulator::Counts& counts = emulator.counts();
  std::printf(R"({"complete": %lld, "pruned": %lld, "calls": %lld})"
              "\n",
              static_cast<long long>(counts.complete), static_cast<long long>(counts.pruned),
              static_cast<long long>(counts.calls));
  return 0;
}

}  // namespace
}  // namespace hyperflock::bench

int main(int argc, char** argv) {
  hyperflock::bench::Options options;
  CLI::App app{"Emulated devices that run the trials of asked studies."};
  app.add_option("--port", options.port, "of the compute origin, on 127.0.0.1")->required();
  app.add_option("--code", options.code, "enrolment code")->required();
  app.add_option("--devices", options.devices, "emulated devices")
      ->check(CLI::Range(1, 250))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGTERM, [](int) { hyperflock::bench::stopped = 1; });
  return hyperflock::bench::exit_status([&] { return hyperflock::bench::run(options); });
}
