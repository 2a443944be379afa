// See listening.h.
#include "app/spare/listening.h"

#include <unistd.h>

#include "cli/credentials.h"
#include "telemetry/log.h"

namespace hyperflock::app {

using settings::Address;
using settings::ServeConfig;

std::string origin_of(const Address& address, std::uint16_t port, bool tls) {
  Address shown = address;
  shown.port = port;
  if (shown.host == "0.0.0.0") shown.host = "127.0.0.1";
  if (shown.host == "::") shown.host = "::1";
  return (tls ? "https://" : "http://") + to_text(shown);
}

std::string compute_origin(const ServeConfig& config, std::uint16_t port) {
  return config.public_url.empty() ? origin_of(config.compute, port, config.tls())
                                   : config.public_url;
}

std::string listening_console(const ServeConfig& config, std::uint16_t port) {
  return origin_of(config.console, port, config.console_tls());
}

Status tell_ready(const ServeConfig& config, std::uint16_t compute_port,
                  std::uint16_t console_port) {
  if (config.ready_file.empty()) return {};
  return cli::write_ready_file(config.ready_file, {::getpid(), compute_port, console_port,
                                                   compute_origin(config, compute_port),
                                                   listening_console(config, console_port)});
}

Result<std::unique_ptr<net::Tls>> open_certificate(const ServeConfig& config) {
  const bool is_named = !config.public_url.empty() && !config.insecure;
  return net::Tls::open({.chain = config.tls_cert,
                         .key = config.tls_key,
                         .host = is_named ? net::host_of(config.public_url) : std::string()});
}

Status reload_certificate(net::Tls& tls) {
  Status reloaded = tls.reload();
  if (!reloaded) {
    telemetry::log(telemetry::LogLevel::error, "reload_failed",
                   {{"code", reloaded.error().code}, {"reason", reloaded.error().message}});
  }
  return reloaded;
}

}  // namespace hyperflock::app
