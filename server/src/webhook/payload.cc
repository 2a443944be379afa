#include "webhook/payload.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "base/hex.h"
#include "protocol/json/json_writer.h"
#include "protocol/names.h"

namespace hyperflock::webhook {
namespace {

constexpr std::int64_t kFirstWaitMs = 5'000;
constexpr std::int64_t kLongestWaitMs = 3'600'000;

}  // namespace

std::string body_of(const storage::DueDelivery& due, const std::string& console) {
  const storage::Delivery& delivery = due.delivery;
  std::string out;
  protocol::ObjectWriter body(out);
  body.text("delivery", delivery.key)
      .text("event", name_of(delivery.event))
      .integer("at", delivery.created_at);
  if (!console.empty())
    body.text("page", console + "/research#/studies/" + std::to_string(to_int(delivery.study)));
  body.raw("study", due.facts).end();
  return out;
}

std::string signature_of(std::string_view secret, std::int64_t seconds, std::string_view body) {
  const std::string time = std::to_string(seconds);
  const std::string text = time + "." + std::string(body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(),
           &size) == nullptr) {
    throw std::runtime_error("OpenSSL computes no HMAC");
  }
  return "t=" + time + ",v1=" + hex(std::span(digest).first(size));
}

std::optional<std::int64_t> back_off_ms(std::int64_t attempts) {
  if (attempts >= kMostAttempts) return std::nullopt;
  const std::int64_t doublings = std::clamp<std::int64_t>(attempts - 1, 0, 20);
  return std::min(kLongestWaitMs, kFirstWaitMs << doublings);
}

}  // namespace hyperflock::webhook
