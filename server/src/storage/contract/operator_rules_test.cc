// Tests how every storage back end stores the rules of administrators: frozen projects, barred
// blobs, ceilings and approval (R67, R68), shares (R70), and who owns which blob (R69).
#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

CreateStudy awaiting(std::int64_t id) {
  CreateStudy study = create_study(id, "key" + std::to_string(id));
  study.awaits_approval = true;
  return study;
}

TEST_P(StorageContract, AProjectIsFrozenUntilTheFreezeIsLifted) {
  apply_one(CreateProject{"birds"});
  EXPECT_EQ(applied(FreezeProject{"moon", true, "no"}), Applied::conflict);
  EXPECT_EQ(applied(FreezeProject{"birds", false, ""}), Applied::repeated);
  EXPECT_EQ(applied(FreezeProject{"birds", true, "too much traffic"}), Applied::applied);
  EXPECT_EQ(applied(FreezeProject{"birds", true, "too much traffic"}), Applied::repeated);
  reopen();
  EXPECT_EQ(storage().load()->rules.projects.at("birds"), "too much traffic");
  const Identities all = storage().identities().value();
  EXPECT_EQ(all.projects.at(0).frozen_at, kNow);
  EXPECT_EQ(all.projects.at(0).reason, "too much traffic");
  EXPECT_EQ(all.rules, storage().load()->rules);
  EXPECT_EQ(applied(FreezeProject{"birds", false, ""}), Applied::applied);
  EXPECT_THAT(storage().load()->rules.projects, IsEmpty());
}

TEST_P(StorageContract, ABlobIsBarredEvenBeforeItComes) {
  EXPECT_EQ(applied(BarBlob{sha('e'), true, "mines coins", "root"}), Applied::applied);
  EXPECT_EQ(applied(BarBlob{sha('e'), true, "mines coins", "eve"}), Applied::repeated);
  reopen();
  EXPECT_EQ(storage().load()->rules.blobs.at(sha('e')), "mines coins");
  const auto barred = storage().identities()->barred;
  ASSERT_THAT(barred, SizeIs(1));
  EXPECT_EQ(barred[0].barred_by, "root");
  EXPECT_EQ(barred[0].barred_at, kNow);
  EXPECT_EQ(applied(BarBlob{sha('e'), false}), Applied::applied);
  EXPECT_EQ(applied(BarBlob{sha('e'), false}), Applied::repeated);
  EXPECT_THAT(storage().identities()->barred, IsEmpty());
}

TEST_P(StorageContract, StudiesOfSomebodyWhoIsNotActiveAreStopped) {
  const std::int64_t ada = apply_one(create_principal("ada", '1')).id;
  EXPECT_THAT(storage().load()->rules.owners, IsEmpty());
  apply_one(
      UpdatePrincipal{.id = ada, .state = PrincipalState::suspended, .reason = "mines coins"});
  reopen();
  const Rules rules = storage().load()->rules;
  EXPECT_THAT(rules.owners, ElementsAre(Pair("ada", "mines coins")));
  EXPECT_EQ(stop_of(rules, "ada", "default", spec("key")),
            (Stop{Stop::Code::owner_suspended, "mines coins"}));
  EXPECT_FALSE(stop_of(rules, "eve", "default", spec("key")));
}

TEST_P(StorageContract, CeilingsAreKeptByScopeAndName) {
  apply_one(CreateProject{"birds"});
  apply_one(create_principal("ada", '1'));
  const Ceiling hour{.time_limit_ms = 3'600'000};
  const Ceiling minute{.time_limit_ms = 60'000, .devices = 3, .data_bytes = 10, .approval = true};
  const Ceiling none{.time_limit_ms = 0, .approval = false};
  EXPECT_EQ(applied(SetCeiling{CeilingScope::server, "", hour}), Applied::applied);
  EXPECT_EQ(applied(SetCeiling{CeilingScope::server, "", hour}), Applied::repeated);
  EXPECT_EQ(applied(SetCeiling{CeilingScope::project, "birds", minute}), Applied::applied);
  EXPECT_EQ(applied(SetCeiling{CeilingScope::researcher, "ada", none}), Applied::applied);
  EXPECT_EQ(applied(SetCeiling{CeilingScope::researcher, "birds", none}), Applied::conflict);
  EXPECT_EQ(applied(SetCeiling{CeilingScope::project, "ada", none}), Applied::conflict);
  reopen();
  const Rules rules = storage().load()->rules;
  EXPECT_EQ(rules.server, hour);
  EXPECT_EQ(rules.of_projects.at("birds"), minute);
  EXPECT_EQ(rules.of_researchers.at("ada"), none);
  // The server's limit applies if neither the researcher nor the project has a limit.
  EXPECT_EQ(time_limit(rules, "eve", "default", 0), 3'600'000);
  EXPECT_EQ(time_limit(rules, "eve", "default", 5'000), 5'000);
  EXPECT_EQ(time_limit(rules, "eve", "birds", 0), 60'000);
  EXPECT_EQ(time_limit(rules, "ada", "default", 0), 0);
  EXPECT_EQ(time_limit(rules, "ada", "birds", 0), 60'000);
  EXPECT_TRUE(ceiling_of(rules, "ada", "birds").approval);  // the stricter one
  EXPECT_FALSE(ceiling_of(rules, "ada", "default").approval);
  EXPECT_EQ(ceiling_of(rules, "eve", "birds").data_bytes, 10);
  EXPECT_EQ(devices_of_project(rules, "birds"), 3);
  EXPECT_EQ(devices_of_researcher(rules, "ada"), 0);
  EXPECT_EQ(applied(SetCeiling{CeilingScope::project, "birds", {}}), Applied::applied);
  EXPECT_THAT(storage().load()->rules.of_projects, IsEmpty());
}

TEST_P(StorageContract, SharesAreKeptByScopeAndName) {
  apply({CreateProject{"birds"}, CreateProject{"fish"}});
  apply_one(create_principal("ada", '1'));
  const Share of_ada{.weight = 400, .guaranteed = 3};
  const Share of_birds{.lends = {"fish", "*"}};
  EXPECT_EQ(applied(SetShare{CeilingScope::researcher, "ada", of_ada}), Applied::applied);
  EXPECT_EQ(applied(SetShare{CeilingScope::researcher, "ada", of_ada}), Applied::repeated);
  EXPECT_EQ(applied(SetShare{CeilingScope::project, "birds", of_birds}), Applied::applied);
  EXPECT_EQ(applied(SetShare{CeilingScope::project, "birds", of_birds}), Applied::repeated);
  EXPECT_EQ(applied(SetShare{CeilingScope::project, "fish", {}}), Applied::repeated);
  for (const SetShare& wrong :
       {SetShare{CeilingScope::researcher, "birds", of_ada},
        SetShare{CeilingScope::project, "ada", of_ada}, SetShare{CeilingScope::server, "", of_ada},
        SetShare{CeilingScope::researcher, "ada", of_birds},
        SetShare{CeilingScope::project, "fish", {.lends = {"moon"}}}})
    EXPECT_EQ(applied(wrong), Applied::conflict) << wrong.name;
  reopen();
  const Rules rules = storage().load()->rules;
  EXPECT_EQ(rules.shares_of_researchers.at("ada"), of_ada);
  EXPECT_EQ(rules.shares_of_projects.at("birds"), of_birds);
  EXPECT_EQ(storage().identities()->rules, rules);
  EXPECT_EQ(weight_of_researcher(rules, "ada"), 400);
  EXPECT_EQ(weight_of_researcher(rules, "eve"), kUsualWeight);
  EXPECT_TRUE(lends(rules, "birds", "fish"));
  EXPECT_TRUE(lends(rules, "birds", "any"));
  EXPECT_FALSE(lends(rules, "birds", "birds"));
  EXPECT_FALSE(lends(rules, "fish", "birds"));
  EXPECT_EQ(applied(SetShare{CeilingScope::project, "birds", {.weight = 5}}), Applied::applied);
  EXPECT_EQ(storage().load()->rules.shares_of_projects.at("birds"), (Share{.weight = 5}));
  EXPECT_EQ(applied(SetShare{CeilingScope::project, "birds", {}}), Applied::applied);
  EXPECT_THAT(storage().load()->rules.shares_of_projects, IsEmpty());
}

TEST_P(StorageContract, AnApprovedStudyGoesOn) {
  apply({awaiting(1), create_study(2)});
  EXPECT_EQ(study(1).approval, Approval::awaited);
  EXPECT_EQ(study(2).approval, Approval::given);
  EXPECT_THAT(storage().awaiting_approval(0, 10).value().studies, SizeIs(1));
  EXPECT_THAT(storage().awaiting_approval(1, 10).value().studies, IsEmpty());
  EXPECT_EQ(applied(JudgeStudy{StudyId{9}}), Applied::conflict);
  EXPECT_EQ(applied(JudgeStudy{StudyId{2}}), Applied::repeated);
  EXPECT_EQ(applied(JudgeStudy{StudyId{1}}), Applied::applied);
  EXPECT_EQ(applied(JudgeStudy{StudyId{1}, false, "late"}), Applied::repeated);
  reopen();
  EXPECT_EQ(study(1).approval, Approval::given);
  EXPECT_EQ(study(1).state, StudyState::running);
  EXPECT_THAT(storage().awaiting_approval(0, 10).value().studies, IsEmpty());
}

TEST_P(StorageContract, StudiesThatAwaitApprovalComeInPages) {
  constexpr std::int64_t kStudies = 40;
  constexpr std::size_t kLong = 60'000;
  std::vector<Transition> batch;
  for (std::int64_t id = 1; id <= kStudies; ++id) {
    CreateStudy one = awaiting(id);
    one.spec.provenance_json = R"({"text":")" + std::string(kLong, 'a') + "\"}";
    batch.emplace_back(std::move(one));
  }
  apply(std::move(batch));
  const auto few = storage().awaiting_approval(0, 2).value();
  EXPECT_THAT(few.studies, SizeIs(2));
  EXPECT_TRUE(few.more);
  const auto page = storage().awaiting_approval(0, kStudies).value();
  EXPECT_THAT(page.studies, SizeIs(kPageSpecBytes / kLong + 1));
  EXPECT_TRUE(page.more);
  const auto last = storage().awaiting_approval(to_int(page.studies.back().id), kStudies).value();
  EXPECT_THAT(last.studies, SizeIs(kStudies - page.studies.size()));
  EXPECT_FALSE(last.more);
}

TEST_P(StorageContract, ARefusedStudyIsCancelledForGood) {
  apply_one(awaiting(1));
  EXPECT_EQ(applied(JudgeStudy{StudyId{1}, false, "not here"}), Applied::applied);
  reopen();
  EXPECT_EQ(study(1).approval, Approval::refused);
  EXPECT_EQ(study(1).refusal, "not here");
  EXPECT_EQ(study(1).state, StudyState::cancelled);
  EXPECT_EQ(applied(JudgeStudy{StudyId{1}}), Applied::superseded);
  EXPECT_EQ(applied(ExtendStudy{StudyId{1}, {}, {}}), Applied::superseded);
  EXPECT_EQ(applied(ReissueTrials{StudyId{1}}), Applied::superseded);
}

TEST_P(StorageContract, NobodyWaitsForAStudyThatIsCancelled) {
  apply({awaiting(1), end_study(1, StudyState::cancelled)});
  EXPECT_EQ(study(1).approval, Approval::given);
  EXPECT_THAT(storage().awaiting_approval(0, 10).value().studies, IsEmpty());
}

TEST_P(StorageContract, OtherCodeAwaitsApprovalAgain) {
  apply({create_study(1), start(1, key(1, 0)), failed(1), fail(key(1, 0))});
  ReissueTrials reissue{StudyId{1}, {}, protocol::NewCode{.entry = "m:g", .bundle = {sha('c'), 5}}};
  reissue.code->provenance_json = "{}";
  reissue.awaits_approval = true;
  EXPECT_EQ(applied(reissue), Applied::applied);
  EXPECT_EQ(study(1).approval, Approval::awaited);
  EXPECT_EQ(storage().load()->studies.at(0).study.approval, Approval::awaited);
  EXPECT_THAT(study(1).earlier_blobs, ElementsAre(sha('a'), sha('b')));
}

TEST_P(StorageContract, SomebodyOwnsWhatTheyUploadedOrNamed) {
  apply({create_study(1), OwnBlob{"eve", sha('e'), 5}});
  const std::vector<std::string> all{sha('a'), sha('b'), sha('e')};
  EXPECT_THAT(storage().not_owned("ada", all).value(), ElementsAre(sha('e')));
  EXPECT_THAT(storage().not_owned("eve", all).value(), ElementsAre(sha('a'), sha('b')));
  EXPECT_THAT(storage().not_owned("kay", {}).value(), IsEmpty());
}

}  // namespace
}  // namespace hyperflock::storage
