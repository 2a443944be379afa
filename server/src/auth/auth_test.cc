// Tokens, the identity book and the first start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "auth/first_start.h"
#include "auth/identity_book.h"
#include "auth/tokens.h"

namespace hyperflock::auth {
namespace {

using storage::Applied;
using testing::MatchesRegex;
using testing::Not;
using testing::SizeIs;

storage::Outcome with(Applied applied) {
  storage::Outcome outcome;
  outcome.applied = applied;
  return outcome;
}

storage::CreateDevice device(const std::string& id, const std::string& secret) {
  return {{id, "default", token_hash(secret), "phone", "chromium 131"}};
}

TEST(Tokens, TellTheirKindAndAreLongEnough) {
  EXPECT_THAT(new_token(TokenKind::admin), MatchesRegex("hfa_[A-Za-z0-9_-]{43}"));
  EXPECT_THAT(new_token(TokenKind::researcher), MatchesRegex("hfr_[A-Za-z0-9_-]{43}"));
  EXPECT_THAT(new_token(TokenKind::device_secret), MatchesRegex("hfd_[A-Za-z0-9_-]{43}"));
  EXPECT_THAT(new_token(TokenKind::enrolment_code), MatchesRegex("hfe_[A-Za-z0-9_-]{22}"));
  EXPECT_THAT(new_device_id(), MatchesRegex("d_[A-Za-z0-9_-]{16}"));
}

TEST(Tokens, AreNeverTheSameAndUseEveryDigit) {
  std::set<std::string> seen;
  std::set<char> digits;
  for (int i = 0; i < 500; ++i) {
    const std::string token = new_token(TokenKind::researcher);
    EXPECT_TRUE(seen.insert(token).second);
    digits.insert(token.begin() + 4, token.end());
  }
  EXPECT_THAT(digits, SizeIs(64));
}

TEST(Tokens, AreStoredAsSha256) {
  EXPECT_EQ(token_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Tokens, CompareWhole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abcd"));
}

TEST(IdentityBook, KnowsWhatStorageHas) {
  storage::Identities stored;
  stored.principals = {{1, "ada", storage::PrincipalRole::admin, token_hash("t-ada")},
                       {2, "grace", storage::PrincipalRole::researcher, token_hash("t-grace")}};
  stored.devices = {device("d1", "s1").device};
  stored.enrolments = {{token_hash("code"), "default"}};
  IdentityBook book;
  book.load(stored);

  EXPECT_EQ(book.check_token("t-ada")->name, "ada");
  EXPECT_EQ(book.check_token("t-grace")->role, storage::PrincipalRole::researcher);
  EXPECT_FALSE(book.check_token("t-ad").has_value());
  EXPECT_FALSE(book.check_token("").has_value());
  EXPECT_FALSE(book.check_token(token_hash("t-ada")).has_value());
  EXPECT_EQ(book.check_device("d1", "s1")->project, "default");
  EXPECT_FALSE(book.check_device("d1", "s2").has_value());
  EXPECT_FALSE(book.check_device("d2", "s1").has_value());
  EXPECT_EQ(book.check_code("code"), "default");
  EXPECT_FALSE(book.check_code("code ").has_value());
  EXPECT_TRUE(book.has_project("default"));
  EXPECT_FALSE(book.has_project("lab"));
  EXPECT_EQ(book.researchers(), std::vector<std::string>{"grace"});
}

TEST(IdentityBook, FollowsCommittedChangesOnly) {
  IdentityBook book;
  book.committed(device("d1", "s1"), with(Applied::applied));
  book.committed(device("d2", "s2"), with(Applied::conflict));
  book.committed(device("d1", "stolen"), with(Applied::conflict));
  EXPECT_TRUE(book.check_device("d1", "s1").has_value());
  EXPECT_FALSE(book.check_device("d2", "s2").has_value());
  EXPECT_FALSE(book.check_device("d1", "stolen").has_value());

  book.committed(storage::CreateEnrolment{{token_hash("code"), "lab"}}, with(Applied::applied));
  EXPECT_EQ(book.check_code("code"), "lab");
  book.committed(
      storage::CreatePrincipal{{0, "ada", storage::PrincipalRole::admin, token_hash("t")}},
      with(Applied::applied));
  EXPECT_EQ(book.check_token("t")->name, "ada");

  book.committed(storage::RevokeDevice{"d1"}, with(Applied::repeated));
  EXPECT_TRUE(book.check_device("d1", "s1").has_value());
  book.committed(storage::RevokeDevice{"d1"}, with(Applied::applied));
  EXPECT_FALSE(book.check_device("d1", "s1").has_value());
  EXPECT_TRUE(book.is_revoked("d1", "s1"));
  EXPECT_FALSE(book.is_revoked("d1", "stolen"));
  EXPECT_FALSE(book.is_revoked("d2", "s2"));
  IdentityBook later;  // what storage says at the next start
  later.load({{}, {{"d1", "p", token_hash("s1"), "phone", "x", true}}, {}});
  EXPECT_FALSE(later.check_device("d1", "s1").has_value());
  EXPECT_TRUE(later.is_revoked("d1", "s1"));
}

TEST(IdentityBook, MayBeReadWhileItChanges) {
  IdentityBook book;
  book.committed(device("known", "s"), with(Applied::applied));
  std::vector<std::thread> readers;
  std::vector<int> missed(4);
  readers.reserve(missed.size());
  for (int& misses : missed) {
    readers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) misses += book.check_device("known", "s").has_value() ? 0 : 1;
    });
  }
  for (int i = 0; i < 500; ++i) {
    const std::string id = "d" + std::to_string(i);
    book.committed(device(id, "s"), with(Applied::applied));
    book.committed(storage::RevokeDevice{id}, with(Applied::applied));
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_THAT(missed, testing::Each(0));
}

TEST(FirstStart, MakesTokensThatWorkAfterACommitAndARestart) {
  const auto storage = storage::make_memory_storage([] { return 1; });
  const auto first =
      first_start(storage->identities().value(), {.project = "birds", .researcher = "ada"});
  ASSERT_TRUE(first.has_value());
  const auto outcomes = storage->apply(first->transitions).value();
  for (const storage::Outcome& outcome : outcomes) EXPECT_EQ(outcome.applied, Applied::applied);

  IdentityBook book;
  book.load(storage->identities().value());
  EXPECT_EQ(book.check_token(first->admin_token)->role, storage::PrincipalRole::admin);
  EXPECT_EQ(book.check_token(first->researcher_token)->role, storage::PrincipalRole::researcher);
  EXPECT_EQ(book.check_code(first->enrolment_code), "birds");
  EXPECT_EQ(book.first_project(), "birds");
  EXPECT_EQ(book.researchers(), std::vector<std::string>{"ada"});
  EXPECT_FALSE(first_start(storage->identities().value()).has_value());
}

TEST(FirstStart, StoresNoSecretInPlainText) {
  const auto first = first_start({});
  ASSERT_TRUE(first.has_value());
  for (const storage::Transition& transition : first->transitions) {
    if (const auto* created = std::get_if<storage::CreatePrincipal>(&transition)) {
      EXPECT_THAT(created->principal.token_hash, MatchesRegex("[0-9a-f]{64}"));
    }
    if (const auto* created = std::get_if<storage::CreateEnrolment>(&transition)) {
      EXPECT_THAT(created->enrolment.code_hash, MatchesRegex("[0-9a-f]{64}"));
    }
  }
  EXPECT_THAT(first->admin_token, Not(first->researcher_token));
}

}  // namespace
}  // namespace hyperflock::auth
