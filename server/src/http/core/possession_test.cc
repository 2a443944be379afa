#include "http/core/possession.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/scratch_folder.h"
#include "blobs/sha256.h"

namespace hyperflock::http {
namespace {

const std::string kHash(64, 'a');

TEST(Possession, ASaltIsValidOnceForOnePersonAndOneBlob) {
  Possession proofs;
  const std::string salt = proofs.new_salt({"ada", kHash, 5});
  EXPECT_EQ(salt.size(), 64U);
  EXPECT_FALSE(proofs.take("eve", kHash, salt));
  EXPECT_FALSE(proofs.take("ada", std::string(64, 'b'), salt));
  const auto claim = proofs.take("ada", kHash, salt);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->bytes, 5);
  EXPECT_FALSE(proofs.take("ada", kHash, salt));
  EXPECT_NE(proofs.new_salt({"ada", kHash, 5}), salt);
}

TEST(Possession, SomebodyWithManySaltsLosesTheirOwnOldestOne) {
  Possession proofs;
  const std::string others = proofs.new_salt({"eve", kHash, 5});
  const std::string first = proofs.new_salt({"ada", kHash, 5});
  for (std::size_t i = 0; i < Possession::kSaltsOfPerson; ++i) proofs.new_salt({"ada", kHash, 5});
  EXPECT_FALSE(proofs.take("ada", kHash, first));
  EXPECT_TRUE(proofs.take("eve", kHash, others));
}

TEST(Possession, OneProofOfAPersonIsComputedAtATime) {
  Possession proofs;
  EXPECT_TRUE(proofs.begin("ada"));
  EXPECT_FALSE(proofs.begin("ada"));
  EXPECT_TRUE(proofs.begin("eve"));
  proofs.end("ada");
  EXPECT_TRUE(proofs.begin("ada"));
}

TEST(SaltedHash, IsThatOfTheSaltAndTheBytes) {
  const ScratchFolder folder;
  const std::string content(300'000, 'x');
  std::ofstream(folder.file("blob"), std::ios::binary) << content;
  const std::string salt = std::string(62, '0') + "41";
  const std::string salt_bytes = std::string(31, '\0') + "A";
  EXPECT_EQ(salted_hash(salt, folder.file("blob"), 300'000),
            blobs::sha256_hex(salt_bytes + content));
  EXPECT_NE(salted_hash(salt, folder.file("blob"), 299'999),
            salted_hash(salt, folder.file("blob"), 300'000));
}

TEST(SaltedHash, IsEmptyWithoutTheWholeFile) {
  const ScratchFolder folder;
  const std::string salt(64, '0');
  EXPECT_EQ(salted_hash(salt, std::nullopt, 100'000), "");
  EXPECT_EQ(salted_hash(salt, folder.file("missing"), 100'000), "");
  std::ofstream(folder.file("short"), std::ios::binary) << "x";
  EXPECT_EQ(salted_hash(salt, folder.file("short"), 100'000), "");
}

}  // namespace
}  // namespace hyperflock::http
