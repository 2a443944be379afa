// Tests the body of a delivery, its signature, and the times of its attempts.
#include "webhook/payload.h"

#include <gtest/gtest.h>

namespace hyperflock::webhook {
namespace {

storage::DueDelivery due() {
  storage::DueDelivery one;
  one.delivery.key = "0123";
  one.delivery.study = StudyId{7};
  one.delivery.event = protocol::WebhookEvent::no_devices;
  one.delivery.created_at = 1'700'000'000'000;
  one.facts = R"({"study":7})";
  return one;
}

TEST(Payload, NamesTheEventAndThePage) {
  EXPECT_EQ(body_of(due(), "https://flock.example"),
            R"({"delivery":"0123","event":"no_devices","at":1700000000000,)"
            R"("page":"https://flock.example/research#/studies/7","study":{"study":7}})");
  EXPECT_EQ(body_of(due(), ""),
            R"({"delivery":"0123","event":"no_devices","at":1700000000000,"study":{"study":7}})");
}

// This signature was computed with Python's hmac module.
TEST(Payload, IsSignedOverTimeAndBody) {
  EXPECT_EQ(signature_of("hfw_key", 1'700'000'000, R"({"a":1})"),
            "t=1700000000,v1="
            "0bf00957ef7a1d6d482218de136cab46ce25f52fdd3c75d1c96ed06423e7d3a7");
  EXPECT_NE(signature_of("hfw_key", 1'700'000'001, R"({"a":1})"),
            signature_of("hfw_key", 1'700'000'000, R"({"a":1})"));
}

TEST(Payload, IsTriedForSixAndAHalfHours) {
  EXPECT_EQ(back_off_ms(1), 5'000);
  EXPECT_EQ(back_off_ms(2), 10'000);
  EXPECT_EQ(back_off_ms(10), 2'560'000);
  EXPECT_EQ(back_off_ms(11), 3'600'000);
  EXPECT_EQ(back_off_ms(kMostAttempts - 1), 3'600'000);
  EXPECT_EQ(back_off_ms(kMostAttempts), std::nullopt);
  std::int64_t total = 0;
  for (std::int64_t i = 1; i < kMostAttempts; ++i) total += back_off_ms(i).value();
  EXPECT_EQ(total, 23'115'000);  // 6 h 25 min
}

}  // namespace
}  // namespace hyperflock::webhook
