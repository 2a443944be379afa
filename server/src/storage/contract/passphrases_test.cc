// Tests passphrases (R81, R82): devices that have the same one are counted together.
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

constexpr std::int64_t kToday = kNow / kDayMs;

StoreResult after(std::int64_t run_ms, StoreResult store) {
  store.result.metrics = {0, run_ms};
  return store;
}

Contribution given(std::int64_t trials, std::int64_t ms, std::int64_t moved) {
  return {"default", kToday, trials, ms, moved};
}

JoinPassphrase with(const std::string& device, char phrase, bool is_new = false) {
  return {device, sha(phrase), is_new};
}

TEST_P(StorageContract, R81_TheDevicesOfAPassphraseAreCountedTogetherAndEachOnce) {
  apply({create_device("phone"), create_device("tablet"), create_device("other"), create_study(1),
         start(1, key(1, 0)), start(2, key(1, 1), "tablet"), start(3, key(1, 2), "other")});
  at(kNow + 10'000);
  apply({after(1'000, complete(1, {0.5})), after(2'000, complete(2, {0.6}, "tablet")),
         after(4'000, complete(3, {0.7}, "other"))});
  fold_contributions(storage(), kToday);
  const auto together = [&](char phrase) {
    return storage().contributions_together(sha(phrase)).value();
  };
  EXPECT_EQ(together('1'), ContributionTogether{});
  EXPECT_EQ(applied(with("phone", '1', true)), Applied::applied);
  EXPECT_EQ(applied(with("phone", '1', true)), Applied::repeated);
  EXPECT_EQ(together('1'), (ContributionTogether{1, {given(1, 1'000, 0)}}));
  // A fresh device restores, and brings what it has contributed itself. Doing so twice adds
  // nothing.
  EXPECT_EQ(applied(with("tablet", '1')), Applied::applied);
  EXPECT_EQ(applied(with("tablet", '1')), Applied::repeated);
  reopen();
  EXPECT_EQ(together('1'), (ContributionTogether{2, {given(2, 3'000, 1)}}));
  // A device with another passphrase takes what is its own, and nothing else.
  EXPECT_EQ(applied(with("tablet", '2', true)), Applied::applied);
  EXPECT_EQ(together('1'), (ContributionTogether{1, {given(1, 1'000, 0)}}));
  EXPECT_EQ(together('2'), (ContributionTogether{1, {given(1, 2'000, 1)}}));
  EXPECT_EQ(storage().contributions("phone").value(), together('1').rows);
}

TEST_P(StorageContract, R81_APassphraseIsNeitherGuessedNorTaken) {
  apply({create_device("phone"), create_device("thief")});
  apply({with("phone", '1', true)});
  EXPECT_EQ(applied(with("thief", '2')), Applied::superseded);
  const Outcome taken = apply_one(with("thief", '1', true));
  EXPECT_EQ(taken.applied, Applied::conflict);
  EXPECT_EQ(taken.refusal, Refusal::passphrase_taken);
  EXPECT_EQ(applied(with("nobody", '1')), Applied::conflict);
  EXPECT_EQ(storage().contributions_together(sha('1')).value().devices, 1);
}

TEST_P(StorageContract, R81_APassphraseHasAtMostSoManyDevices) {
  for (std::int64_t i = 0; i <= kMostTogether; ++i) {
    const std::string device = "device" + std::to_string(i);
    apply({create_device(device)});
    const Outcome joined = apply_one(with(device, '1', i == 0));
    EXPECT_EQ(joined.applied, i < kMostTogether ? Applied::applied : Applied::superseded);
    if (i == kMostTogether) EXPECT_EQ(joined.refusal, Refusal::too_many_devices);
  }
  apply({EraseDevice{"device0"}});
  EXPECT_EQ(applied(with("device" + std::to_string(kMostTogether), '1')), Applied::applied);
}

TEST_P(StorageContract, R82_ErasureTakesADeviceOutOfItsPassphrase) {
  apply({create_device("phone"), create_device("tablet"), create_device("idle"), create_study(1),
         start(1, key(1, 0)), start(2, key(1, 1), "tablet")});
  apply({complete(1, {0.5}), complete(2, {0.4}, "tablet")});
  fold_contributions(storage(), kToday);
  apply({with("phone", '1', true), with("tablet", '1'), with("idle", '2', true)});
  EXPECT_EQ(applied(EraseDevice{"phone"}), Applied::applied);
  EXPECT_EQ(storage().contributions_together(sha('1')).value(),
            (ContributionTogether{1, {given(1, 0, 0)}}));
  apply({EraseDevice{"tablet"}, CollectDevice{"idle", kNow + 1}});
  for (const char phrase : {'1', '2'})
    EXPECT_EQ(storage().contributions_together(sha(phrase)).value(), ContributionTogether{});
  // The words are worth nothing any more.
  apply({create_device("later")});
  EXPECT_EQ(applied(with("later", '1')), Applied::superseded);
}

}  // namespace
}  // namespace hyperflock::storage
