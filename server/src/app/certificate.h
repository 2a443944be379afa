// The server's own certificate: where it comes from, and what the log and the metrics say of it.
#pragma once

#include <cstdint>
#include <memory>

#include "acme/lego.h"
#include "base/result.h"
#include "net/tls.h"
#include "settings/serve_config.h"
#include "telemetry/metrics.h"

namespace hyperflock::app {

// Returns the program that gets the certificate of --domain; nullptr without --domain. `wall_s` is
// the machine's clock, in seconds of Unix time.
std::unique_ptr<acme::Lego> make_lego(const settings::ServeConfig& config,
                                      std::int64_t (*wall_s)());

// Opens the certificate: that of --domain, which `lego` gets if there is none yet, or that of
// --tls-cert. nullptr without both. Blocks while the authority answers. Errors: those of
// net::Tls::open() and of acme::Lego::obtain().
Result<std::unique_ptr<net::Tls>> make_tls(const settings::ServeConfig& config, acme::Lego* lego);

// Sets the metric of the certificate's end, and logs its names and how long it is valid. Any
// thread.
void note_certificate(const net::Tls& tls, telemetry::Metrics& metrics, std::int64_t now_s);

// Logs that the certificate could not be renewed.
void note_failed_renewal(const Error& error);

}  // namespace hyperflock::app
