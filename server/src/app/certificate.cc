// See certificate.h.
#include "app/certificate.h"

#include <filesystem>
#include <string>

#include "app/spare/listening.h"
#include "telemetry/log.h"

namespace hyperflock::app {
namespace {

using settings::ServeConfig;

constexpr std::int64_t kRenewDays = 14;  // warns if a certificate ends sooner

}  // namespace

std::unique_ptr<acme::Lego> make_lego(const ServeConfig& config, std::int64_t (*wall_s)()) {
  if (config.domain.empty()) return nullptr;
  const std::string port = ":" + std::to_string(config.acme_listen.port);
  const bool everywhere = config.acme_listen.host == "0.0.0.0";
  return std::make_unique<acme::Lego>(
      acme::LegoSettings{.program = config.acme_client,
                         .domain = config.domain,
                         .email = config.acme_email,
                         .directory = config.acme_directory,
                         .ca_file = config.acme_ca,
                         .listen = everywhere ? port : to_text(config.acme_listen),
                         .folder = (std::filesystem::path(config.state_dir) / "acme").string()},
      wall_s);
}

Result<std::unique_ptr<net::Tls>> make_tls(const ServeConfig& config, acme::Lego* lego) {
  if (!config.tls()) return std::unique_ptr<net::Tls>();
  if (lego == nullptr) return open_certificate(config);
  const net::CertificateFiles files{.chain = lego->chain_file(),
                                    .key = lego->key_file(),
                                    .host = net::host_of(config.public_url)};
  // A certificate that is still valid is used at once, and renewed later.
  if (auto there = net::Tls::open(files)) return there;
  telemetry::log(telemetry::LogLevel::info, "acme_asked",
                 {{"domain", config.domain}, {"directory", config.acme_directory}});
  TRY(lego->obtain());
  return net::Tls::open(files);
}

void note_certificate(const net::Tls& tls, telemetry::Metrics& metrics, std::int64_t now_s) {
  const net::CertificateFacts facts = tls.facts();
  std::string names;
  for (const std::string& name : facts.names) names += (names.empty() ? "" : ", ") + name;
  metrics.set(telemetry::Gauge::certificate_expiry_seconds, static_cast<double>(facts.not_after_s));
  const std::int64_t days = (facts.not_after_s - now_s) / 86'400;
  telemetry::log(days < kRenewDays ? telemetry::LogLevel::warning : telemetry::LogLevel::info,
                 "certificate", {{"names", names}, {"valid_days", days}});
  if (facts.key_is_open) {
    telemetry::log(telemetry::LogLevel::warning, "tls_key_open",
                   {{"reason",
                     "Every user of this machine can read the key of the certificate: change the "
                     "mode of its file to 600."}});
  }
}

void note_failed_renewal(const Error& error) {
  telemetry::log(telemetry::LogLevel::error,
                 error.code == "no_acme_client" ? "no_acme_client" : "acme_failed",
                 {{"code", error.code}, {"reason", error.message}});
}

}  // namespace hyperflock::app
