// What a server and a spare that waits for its place do alike where they listen. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/tls.h"
#include "settings/serve_config.h"

namespace hyperflock::app {

// Returns an origin that people on this machine can open, such as http://127.0.0.1:8780, even if
// the server listens on every address.
std::string origin_of(const settings::Address& address, std::uint16_t port, bool tls);

// Returns the origin that devices are told, and the one where the console listens.
std::string compute_origin(const settings::ServeConfig& config, std::uint16_t port);
std::string listening_console(const settings::ServeConfig& config, std::uint16_t port);

// Writes the file of --ready-file, if one is wanted. Programs of this machine read it, so it names
// the addresses that they can reach. Errors: those of cli::write_ready_file().
Status tell_ready(const settings::ServeConfig& config, std::uint16_t compute_port,
                  std::uint16_t console_port);

// Opens the certificate of --tls-cert. It must be for the host of --public-url. With --insecure it
// may be for any host, because a proxy in front of the server has the public name. Errors: those of
// net::Tls::open().
Result<std::unique_ptr<net::Tls>> open_certificate(const settings::ServeConfig& config);

// Reads the certificate again; logs an error.
Status reload_certificate(net::Tls& tls);

}  // namespace hyperflock::app
