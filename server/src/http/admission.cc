#include "http/admission.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace hyperflock::http {
namespace {

Instant now() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::milliseconds>(since_start).count()};
}

// Whoever has one IPv6 address has the 2^64 of its network.
std::string network_of(const std::string& address) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

}  // namespace

Admission::Admission(const AdmissionLimits& limits)
    : joins_({.burst = limits.joins_burst, .per_second = limits.joins_per_s}),
      strangers_({.burst = limits.strangers_burst, .per_second = limits.strangers_per_s}),
      reports_({.burst = limits.reports_burst, .per_second = limits.reports_per_s}),
      checkpoints_({.burst = limits.checkpoints_burst, .per_second = limits.checkpoints_per_s}) {}

bool Admission::admit_join(const std::string& address) {
  const std::lock_guard lock(mutex_);
  return joins_.allow(network_of(address), now());
}

bool Admission::admit_report(const std::string& address) {
  const std::lock_guard lock(mutex_);
  return reports_.allow(network_of(address), now());
}

bool Admission::admit_stranger(const std::string& address) {
  const std::lock_guard lock(mutex_);
  return strangers_.allow(network_of(address), now());
}

bool Admission::admit_checkpoint(const std::string& attempt) {
  const std::lock_guard lock(mutex_);
  return checkpoints_.allow(attempt, now());
}

}  // namespace hyperflock::http
