// Tests tokens, the identity cache and the first start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "auth/first_start.h"
#include "auth/identity_cache.h"
#include "auth/tokens.h"
#include "storage/testing/scratch_database.h"

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

storage::Outcome made(std::int64_t id, std::int64_t token = 0) {
  storage::Outcome outcome = with(Applied::applied);
  outcome.id = id;
  outcome.token = token;
  return outcome;
}

storage::CreatePrincipal person(const std::string& name, const std::string& token,
                                storage::PrincipalRole role = storage::PrincipalRole::researcher) {
  return {.principal = {.id = 0, .name = name, .role = role}, .token_hash = token_hash(token)};
}

storage::CreateDevice device(const std::string& id, const std::string& secret) {
  return {{id, "default", token_hash(secret), "phone", "chromium 131"}, {}};
}

TEST(Tokens, TellTheirKindAndAreLongEnough) {
  EXPECT_THAT(new_token(TokenKind::admin), MatchesRegex("hfa_[A-Za-z0-9_-]{43}"));
  EXPECT_THAT(new_token(TokenKind::researcher), MatchesRegex("hfr_[A-Za-z0-9_-]{43}"));
  EXPECT_THAT(new_token(TokenKind::device_secret), MatchesRegex("hfd_[A-Za-z0-9_-]{43}"));
  EXPECT_THAT(new_token(TokenKind::enrolment_code), MatchesRegex("hfe_[A-Za-z0-9_-]{22}"));
  EXPECT_THAT(new_token(TokenKind::peer_secret), MatchesRegex("hfp_[A-Za-z0-9_-]{43}"));
  EXPECT_THAT(new_token(TokenKind::link_key), MatchesRegex("hfl_[A-Za-z0-9_-]{43}"));
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

TEST(IdentityCache, KnowsWhatStorageHas) {
  storage::Identities stored;
  stored.principals = {{1, "ada", storage::PrincipalRole::admin},
                       {2, "grace", storage::PrincipalRole::researcher}};
  stored.tokens = {{7, 1, token_hash("t-ada")}, {8, 2, token_hash("t-grace")}};
  stored.devices = {device("d1", "s1").device};
  stored.principals[1].projects = {"default"};
  stored.projects = {{1, "default", 0}};
  stored.enrolments = {{.code_hash = token_hash("code"), .project = "default"}};
  IdentityCache identities;
  identities.load(stored);

  EXPECT_EQ(identities.check_token("t-ada")->principal.name, "ada");
  EXPECT_EQ(identities.check_token("t-grace")->principal.role, storage::PrincipalRole::researcher);
  EXPECT_FALSE(identities.check_token("t-ad").has_value());
  EXPECT_FALSE(identities.check_token("").has_value());
  EXPECT_FALSE(identities.check_token(token_hash("t-ada")).has_value());
  EXPECT_EQ(identities.check_device("d1", "s1")->project, "default");
  EXPECT_FALSE(identities.check_device("d1", "s2").has_value());
  EXPECT_FALSE(identities.check_device("d2", "s1").has_value());
  EXPECT_EQ(identities.check_code("code")->project, "default");
  EXPECT_TRUE(identities.check_code("code")->open);
  EXPECT_FALSE(identities.check_code("code ").has_value());
  EXPECT_TRUE(identities.has_project("default"));
  EXPECT_FALSE(identities.has_project("lab"));
  EXPECT_EQ(identities.researchers("default"), std::vector<std::string>{"grace"});
  EXPECT_THAT(identities.researchers("lab"), testing::IsEmpty());
}

TEST(IdentityCache, FollowsCommittedChangesOnly) {
  IdentityCache identities;
  identities.committed(device("d1", "s1"), with(Applied::applied));
  identities.committed(device("d2", "s2"), with(Applied::conflict));
  identities.committed(device("d1", "stolen"), with(Applied::conflict));
  EXPECT_TRUE(identities.check_device("d1", "s1").has_value());
  EXPECT_FALSE(identities.check_device("d2", "s2").has_value());
  EXPECT_FALSE(identities.check_device("d1", "stolen").has_value());

  identities.committed(
      storage::CreateEnrolment{{.code_hash = token_hash("code"), .project = "lab"}},
      with(Applied::applied));
  EXPECT_EQ(identities.check_code("code")->project, "lab");
  identities.committed(person("ada", "t"), made(1, 1));
  EXPECT_EQ(identities.check_token("t")->principal.name, "ada");

  identities.committed(storage::RevokeDevice{"d1"}, with(Applied::repeated));
  EXPECT_TRUE(identities.check_device("d1", "s1").has_value());
  identities.committed(storage::RevokeDevice{"d1"}, with(Applied::applied));
  EXPECT_FALSE(identities.check_device("d1", "s1").has_value());
  EXPECT_TRUE(identities.is_revoked("d1", "s1"));
  EXPECT_FALSE(identities.is_revoked("d1", "stolen"));
  EXPECT_FALSE(identities.is_revoked("d2", "s2"));
  IdentityCache later;  // loads what storage has at the next start
  storage::Identities stored;
  stored.devices = {{"d1", "p", token_hash("s1"), "phone", "x", true}};
  later.load(stored);
  EXPECT_FALSE(later.check_device("d1", "s1").has_value());
  EXPECT_TRUE(later.is_revoked("d1", "s1"));
}

// A page of a list has only rows that the viewer may see, in the order of their ids.
TEST(IdentityCache, ListsArePiecesOfWhatTheViewerMaySee) {
  storage::Identities stored;
  stored.principals = {{1, "ada", storage::PrincipalRole::admin},
                       {2, "grace", storage::PrincipalRole::researcher}};
  stored.principals[1].projects = {"p1", "p3"};
  for (std::int64_t id = 1; id <= 30; ++id) {
    const std::string project = "p" + std::to_string(id % 4);
    stored.enrolments.push_back(
        {.code_hash = token_hash("c" + std::to_string(id)), .project = project, .id = id});
    stored.tokens.push_back({id, 1 + id % 2, token_hash("t" + std::to_string(id))});
  }
  for (std::int64_t id = 1; id <= 4; ++id)
    stored.projects.push_back({id, "p" + std::to_string(4 - id), 0});
  IdentityCache identities;
  identities.load(stored);
  const auto ids = [](const auto& rows) {
    std::vector<std::int64_t> out;
    for (const auto& row : rows) out.push_back(row.id);
    return out;
  };
  using testing::ElementsAre;
  const storage::Principal& ada = stored.principals[0];
  const storage::Principal& grace = stored.principals[1];
  EXPECT_THAT(ids(identities.enrolments(grace, {.after = 4, .limit = 4})),
              ElementsAre(5, 7, 9, 11));
  EXPECT_THAT(ids(identities.enrolments(grace, {.after = 27, .limit = 4})), ElementsAre(29));
  EXPECT_THAT(ids(identities.enrolments(ada, {.after = 4, .limit = 3})), ElementsAre(5, 6, 7));
  EXPECT_THAT(ids(identities.tokens(2, {.after = 3, .limit = 2})), ElementsAre(5, 7));
  EXPECT_THAT(ids(identities.tokens(9)), testing::IsEmpty());
  EXPECT_THAT(ids(identities.tokens({}, {.after = 28})), ElementsAre(29, 30));
  EXPECT_THAT(ids(identities.projects(grace)), ElementsAre(1, 3));
  EXPECT_THAT(ids(identities.projects(ada, {.after = 2})), ElementsAre(3, 4));
  EXPECT_THAT(ids(identities.principals({.after = 1})), ElementsAre(2));
}

// Each change updates the counts of devices and of pending people, and each project's researchers.
TEST(IdentityCache, CountsDevicesAndRequests) {
  IdentityCache identities;
  identities.committed(device("d1", "s"), with(Applied::applied));
  identities.committed(device("d2", "s"), with(Applied::applied));
  EXPECT_EQ(identities.devices("default"), 2);
  identities.committed(storage::RevokeDevice{"d1"}, with(Applied::applied));
  EXPECT_EQ(identities.devices("default"), 1);
  identities.committed(storage::EraseDevice{"d1"}, with(Applied::applied));
  EXPECT_EQ(identities.devices("default"), 1);
  identities.committed(storage::EraseDevice{"d2"}, with(Applied::applied));
  EXPECT_EQ(identities.devices("default"), 0);
  identities.committed(device("d3", "s"), with(Applied::applied));
  EXPECT_EQ(identities.all_devices(), 1);
  identities.committed(storage::CollectDevice{"d3"}, with(Applied::superseded));
  EXPECT_EQ(identities.all_devices(), 1);
  identities.committed(storage::CollectDevice{"d3"}, with(Applied::applied));
  EXPECT_EQ(identities.all_devices(), 0);
  EXPECT_EQ(identities.devices("default"), 0);

  storage::CreatePrincipal grace = person("grace", "t");
  grace.principal.state = storage::PrincipalState::pending;
  grace.principal.projects = {"default"};
  identities.committed(grace, made(1, 1));
  EXPECT_EQ(identities.pending(), 1U);
  EXPECT_THAT(identities.researchers("default"), testing::IsEmpty());
  identities.committed(storage::UpdatePrincipal{.id = 1, .state = storage::PrincipalState::active},
                       made(1));
  EXPECT_EQ(identities.pending(), 0U);
  EXPECT_THAT(identities.researchers("default"), testing::ElementsAre("grace"));
  identities.committed(
      storage::UpdatePrincipal{.id = 1, .projects = std::vector<std::string>{"lab"}}, made(1));
  EXPECT_THAT(identities.researchers("default"), testing::IsEmpty());
  EXPECT_THAT(identities.researchers("lab", 1), testing::ElementsAre("grace"));
}

class BookWithAClock : public testing::Test {
 protected:
  std::int64_t now_ = 1'000;
  IdentityCache identities_{[this] { return now_; }};
};

TEST_F(BookWithAClock, TokensOpenUntilTheyEndOrAreRevoked) {
  storage::CreatePrincipal brief = person("ada", "t1");
  brief.token_expires_at = 2'000;
  identities_.committed(brief, made(1, 1));
  identities_.committed(storage::CreateToken{1, token_hash("t2"), 0, 1, 1'500}, made(2));
  EXPECT_EQ(identities_.check_token("t1")->token, 1);
  EXPECT_EQ(identities_.check_token("t2")->token, 2);
  EXPECT_THAT(identities_.live_tokens(1), testing::ElementsAre(1, 2));
  now_ = 1'499;
  EXPECT_TRUE(identities_.check_token("t1").has_value());
  EXPECT_THAT(identities_.take_expired(), testing::IsEmpty());
  now_ = 1'500;
  EXPECT_FALSE(identities_.check_token("t1").has_value());
  EXPECT_THAT(identities_.take_expired(), testing::ElementsAre(1));
  EXPECT_THAT(identities_.take_expired(), testing::IsEmpty());
  identities_.committed(storage::RevokeToken{2}, made(2));
  EXPECT_FALSE(identities_.check_token("t2").has_value());
  EXPECT_THAT(identities_.live_tokens(1), testing::IsEmpty());
}

TEST_F(BookWithAClock, CodesCloseWithoutLosingTheirProject) {
  storage::Enrolment code{.code_hash = token_hash("c"), .project = "birds"};
  code.expires_at = 2'000;
  code.max_uses = 1;
  identities_.committed(storage::CreateEnrolment{code}, made(5));
  EXPECT_TRUE(identities_.check_code("c")->open);
  storage::CreateDevice joins = device("d1", "s");
  joins.code_hash = token_hash("c");
  identities_.committed(joins, with(Applied::applied));
  EXPECT_EQ(identities_.enrolment(5)->uses, 1);
  EXPECT_FALSE(identities_.check_code("c")->open);
  EXPECT_EQ(identities_.check_code("c")->project, "birds");
  identities_.committed(storage::RevokeEnrolment{5}, made(5));
  EXPECT_FALSE(identities_.check_code("c").has_value());
}

TEST_F(BookWithAClock, TheLastWayInOfAnAdministratorIsKnown) {
  identities_.committed(person("ada", "t1", storage::PrincipalRole::admin), made(1, 1));
  identities_.committed(person("grace", "t2"), made(2, 2));
  EXPECT_FALSE(identities_.others_administer(1, 0));
  EXPECT_FALSE(identities_.others_administer(0, 1));
  EXPECT_TRUE(identities_.others_administer(2, 2));
  identities_.committed(storage::CreateToken{1, token_hash("t3"), 9'000, 0, 0}, made(3));
  EXPECT_FALSE(identities_.others_administer(1, 0));  // ada's other token expires
  identities_.committed(storage::CreateToken{1, token_hash("t4"), 0, 0, 0}, made(4));
  EXPECT_TRUE(identities_.others_administer(1, 0));
  EXPECT_FALSE(identities_.others_administer(0, 1));
  identities_.committed(person("kay", "t5", storage::PrincipalRole::admin), made(3, 5));
  EXPECT_TRUE(identities_.others_administer(0, 1));
  identities_.committed(
      storage::UpdatePrincipal{.id = 3, .state = storage::PrincipalState::suspended}, made(3));
  EXPECT_FALSE(identities_.others_administer(0, 1));
}

TEST_F(BookWithAClock, PeopleUseTheirProjects) {
  identities_.committed(storage::CreateProject{"birds"}, made(1));
  identities_.committed(storage::CreateProject{"ants"}, made(2));
  identities_.committed(person("ada", "t1", storage::PrincipalRole::admin), made(1, 1));
  identities_.committed(person("grace", "t2"), made(2, 2));
  const auto ada = [this] { return identities_.check_token("t1")->principal; };
  const auto grace = [this] { return identities_.check_token("t2")->principal; };
  EXPECT_EQ(identities_.first_project(ada()), "birds");
  EXPECT_EQ(identities_.first_project(grace()), "");
  identities_.committed(
      storage::UpdatePrincipal{.id = 2, .projects = std::vector<std::string>{"ants"}}, made(2));
  EXPECT_EQ(identities_.first_project(grace()), "ants");
  EXPECT_TRUE(IdentityCache::may_use(grace(), "ants"));
  EXPECT_FALSE(IdentityCache::may_use(grace(), "birds"));
  EXPECT_TRUE(IdentityCache::may_use(ada(), "birds"));
}

TEST_F(BookWithAClock, AnErasedDeviceIsUnknown) {
  identities_.committed(device("d1", "s"), with(Applied::applied));
  identities_.committed(storage::RevokeDevice{"d1"}, with(Applied::applied));
  EXPECT_TRUE(identities_.find_own("d1", "s").has_value());
  identities_.committed(storage::EraseDevice{"d1"}, with(Applied::applied));
  EXPECT_FALSE(identities_.find_own("d1", "s").has_value());
  EXPECT_FALSE(identities_.is_revoked("d1", "s"));
}

TEST(IdentityCache, MayBeReadWhileItChanges) {
  IdentityCache identities;
  identities.committed(device("known", "s"), with(Applied::applied));
  std::vector<std::thread> readers;
  std::vector<int> missed(4);
  readers.reserve(missed.size());
  for (int& misses : missed) {
    readers.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        misses += identities.check_device("known", "s").has_value() ? 0 : 1;
    });
  }
  for (int i = 0; i < 500; ++i) {
    const std::string id = "d" + std::to_string(i);
    identities.committed(device(id, "s"), with(Applied::applied));
    identities.committed(storage::RevokeDevice{id}, with(Applied::applied));
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_THAT(missed, testing::Each(0));
}

TEST(FirstStart, MakesTokensThatWorkAfterACommitAndARestart) {
  const storage::ScratchDatabase database;
  const auto storage = database.open();
  const auto first =
      first_start(storage->identities().value(), {.project = "birds", .researcher = "ada"});
  ASSERT_TRUE(first.has_value());
  const auto outcomes = storage->apply(first->transitions).value();
  for (const storage::Outcome& outcome : outcomes) EXPECT_EQ(outcome.applied, Applied::applied);

  IdentityCache identities;
  identities.load(storage->identities().value());
  EXPECT_EQ(identities.check_token(first->admin_token)->principal.role,
            storage::PrincipalRole::admin);
  EXPECT_EQ(identities.check_token(first->researcher_token)->principal.role,
            storage::PrincipalRole::researcher);
  EXPECT_EQ(identities.check_code(first->enrolment_code)->project, "birds");
  EXPECT_EQ(identities.first_project(identities.check_token(first->researcher_token)->principal),
            "birds");
  EXPECT_EQ(identities.researchers("birds"), std::vector<std::string>{"ada"});
  EXPECT_FALSE(first_start(storage->identities().value()).has_value());
}

TEST(FirstStart, StoresNoSecretInPlainText) {
  const auto first = first_start({});
  ASSERT_TRUE(first.has_value());
  for (const storage::Transition& transition : first->transitions) {
    if (const auto* created = std::get_if<storage::CreatePrincipal>(&transition)) {
      EXPECT_THAT(created->token_hash, MatchesRegex("[0-9a-f]{64}"));
    }
    if (const auto* created = std::get_if<storage::CreateEnrolment>(&transition)) {
      EXPECT_THAT(created->enrolment.code_hash, MatchesRegex("[0-9a-f]{64}"));
    }
  }
  EXPECT_THAT(first->admin_token, Not(first->researcher_token));
}

}  // namespace
}  // namespace hyperflock::auth
