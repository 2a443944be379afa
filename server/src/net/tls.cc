#include "net/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <ctime>
#include <filesystem>
#include <utility>

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;

Error bad(std::string message) { return {"bad_tls", std::move(message)}; }

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  const unsigned char* const data = ASN1_STRING_get0_data(bytes);
  asio::ip::address_v4::bytes_type v4{};
  asio::ip::address_v6::bytes_type v6{};
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(bytes));
  if (size == v4.size()) {
    std::copy_n(data, size, v4.begin());
    return asio::ip::address_v4(v4).to_string();
  }
  if (size != v6.size()) return {};
  std::copy_n(data, size, v6.begin());
  return asio::ip::address_v6(v6).to_string();
}

std::vector<std::string> names_of(const X509* certificate) {
  std::vector<std::string> names;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> list(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  for (int i = 0; i < sk_GENERAL_NAME_num(list.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(list.get(), i);
    if (name->type == GEN_DNS) names.push_back(text_of(name->d.dNSName));
    if (name->type == GEN_IPADD) names.push_back(address_of(name->d.iPAddress));
  }
  return names;
}

// Returns whether one of the certificate's alternative names is for the host. Browsers ignore the
// certificate's other names.
bool is_for(X509* certificate, const std::string& host) {
  boost::system::error_code not_numeric;
  asio::ip::make_address(host, not_numeric);
  if (!not_numeric) return X509_check_ip_asc(certificate, host.c_str(), 0) == 1;
  return X509_check_host(certificate, host.data(), host.size(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT,
                         nullptr) == 1;
}

std::int64_t seconds_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return ::timegm(&parts);
}

std::string date_of(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return {text.data(), length};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "no host" : text;
}

bool is_open(const std::string& file) {
  std::error_code error;
  const auto permissions = std::filesystem::status(file, error).permissions();
  return !error &&
         (permissions & std::filesystem::perms::others_read) != std::filesystem::perms::none;
}

Result<CertificateFacts> checked(X509* certificate, const CertificateFiles& files) {
  CertificateFacts facts{.names = names_of(certificate),
                         .not_before_s = seconds_of(X509_get0_notBefore(certificate)),
                         .not_after_s = seconds_of(X509_get0_notAfter(certificate)),
                         .key_is_open = is_open(files.key)};
  const std::string begin = "The certificate in " + files.chain;
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
    return bad(begin + " was valid until " + date_of(facts.not_after_s) + ": renew it.");
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
    return bad(begin + " is valid from " + date_of(seconds_of(X509_get0_notBefore(certificate))) +
               " only: wait, or set this machine's clock.");
  if (!files.host.empty() && !is_for(certificate, files.host))
    return bad(begin + " is for " + joined(facts.names) + ", not for " + files.host +
               ": browsers would refuse it.");
  return facts;
}

}  // namespace

std::string host_of(const std::string& origin) {
  const std::size_t scheme = origin.find("://");
  std::string host = scheme == std::string::npos ? origin : origin.substr(scheme + 3);
  host = host.substr(0, host.find('/'));
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

Result<std::unique_ptr<Tls>> Tls::open(const CertificateFiles& files) {
  std::unique_ptr<Tls> tls(new Tls(files));
  TRY(tls->reload());
  return tls;
}

TlsContext Tls::context() const {
  const std::scoped_lock lock(mutex_);
  return loaded_.context;
}

CertificateFacts Tls::facts() const {
  const std::scoped_lock lock(mutex_);
  return loaded_.facts;
}

Status Tls::reload() {
  TRY(auto loaded, load());
  const std::scoped_lock lock(mutex_);
  loaded_ = std::move(loaded);
  return {};
}

Result<Tls::Loaded> Tls::load() const {
  using Context = asio::ssl::context;
  auto context = std::make_shared<Context>(Context::tls_server);
  context->set_options(Context::default_workarounds | Context::no_sslv2 | Context::no_sslv3 |
                       Context::no_tlsv1 | Context::no_tlsv1_1 | Context::single_dh_use);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION);
  // An idle connection keeps no buffers. A write may send a part, and a later call the rest, from
  // wherever the bytes then are.
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // A client that comes back resumes by its ticket, so the server remembers no sessions.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  boost::system::error_code error;
  context->use_certificate_chain_file(files_.chain, error);
  if (error)
    return bad("The certificate in " + files_.chain + " cannot be used: " + error.message() + ".");
  context->use_private_key_file(files_.key, Context::pem, error);
  if (error) return bad("The key in " + files_.key + " does not fit: " + error.message() + ".");
  TRY(auto facts, checked(SSL_CTX_get0_certificate(native), files_));
  return Loaded{std::move(context), std::move(facts)};
}

}  // namespace hyperflock::net
