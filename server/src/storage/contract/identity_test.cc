// Tests the guarantees of every storage back end about people, tokens, projects, codes, devices,
// quotas and the audit log.
#include <algorithm>
#include <map>
#include <string>

#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

CreateEnrolment code(char hash, const std::string& project = "birds") {
  return {{.code_hash = sha(hash), .project = project}};
}

CreateDevice joining(const std::string& id, char code_hash) {
  CreateDevice device = create_device(id);
  device.code_hash = sha(code_hash);
  return device;
}

CreateStudy limited(std::int64_t id, const Quota& quota) {
  CreateStudy study = create_study(id, "key" + std::to_string(id));
  study.quota = quota;
  return study;
}

TEST_P(StorageContract, PeopleHaveUniqueNamesAndBringAToken) {
  apply_one(CreateProject{"birds"});
  CreatePrincipal ada = create_principal("ada", '1', PrincipalRole::admin);
  CreatePrincipal grace = create_principal("grace", '2');
  grace.principal.state = PrincipalState::pending;
  grace.principal.note = "of the Aoki Lab";
  grace.principal.quota = {1, 2, 3};
  grace.principal.projects = {"birds"};
  grace.token_expires_at = kNow + 5;
  const Outcome first = apply_one(ada);
  EXPECT_EQ(first.applied, Applied::applied);
  EXPECT_EQ(applied(create_principal("ada", '9')), Applied::conflict);
  EXPECT_GT(apply_one(grace).id, first.id);
  CreatePrincipal nowhere = create_principal("kay", '3');
  nowhere.principal.projects = {"moon"};
  EXPECT_EQ(applied(nowhere), Applied::conflict);

  const Identities all = storage().identities().value();
  ASSERT_THAT(all.principals, SizeIs(2));
  EXPECT_EQ(all.principals[0].role, PrincipalRole::admin);
  EXPECT_EQ(all.principals[0].state, PrincipalState::active);
  EXPECT_EQ(all.principals[1].name, "grace");
  EXPECT_EQ(all.principals[1].state, PrincipalState::pending);
  EXPECT_EQ(all.principals[1].note, "of the Aoki Lab");
  EXPECT_EQ(all.principals[1].quota, (Quota{1, 2, 3}));
  EXPECT_THAT(all.principals[1].projects, ElementsAre("birds"));
  EXPECT_EQ(all.principals[1].created_at, kNow);
  ASSERT_THAT(all.tokens, SizeIs(2));  // the refused principal, whose name was taken, has none
  EXPECT_EQ(all.tokens[0].id, first.token);
  EXPECT_EQ(all.tokens[0].principal, first.id);
  EXPECT_EQ(all.tokens[0].hash, sha('1'));
  EXPECT_EQ(all.tokens[1].expires_at, kNow + 5);
}

TEST_P(StorageContract, PeopleAreChangedInPart) {
  apply({CreateProject{"birds"}, CreateProject{"fish"}});
  const std::int64_t id = apply_one(create_principal("grace", '2')).id;
  EXPECT_EQ(applied(UpdatePrincipal{
                .id = id, .state = PrincipalState::suspended, .reason = "mines coins"}),
            Applied::applied);
  EXPECT_EQ(applied(UpdatePrincipal{.id = id, .quota = Quota{4, 5, 6}}), Applied::applied);
  EXPECT_EQ(
      applied(UpdatePrincipal{.id = id, .projects = std::vector<std::string>{"fish", "birds"}}),
      Applied::applied);
  EXPECT_EQ(applied(UpdatePrincipal{.id = id, .projects = std::vector<std::string>{"moon"}}),
            Applied::conflict);
  EXPECT_EQ(applied(UpdatePrincipal{.id = id + 1}), Applied::conflict);
  const Principal grace = storage().identities().value().principals.at(0);
  EXPECT_EQ(grace.state, PrincipalState::suspended);
  EXPECT_EQ(grace.reason, "mines coins");
  EXPECT_EQ(grace.quota, (Quota{4, 5, 6}));
  EXPECT_THAT(grace.projects, ElementsAre("birds", "fish"));
  apply_one(UpdatePrincipal{.id = id, .projects = std::vector<std::string>{}});
  EXPECT_THAT(storage().identities().value().principals.at(0).projects, IsEmpty());
  apply_one(UpdatePrincipal{.id = id, .state = PrincipalState::active});
  EXPECT_EQ(storage().identities().value().principals.at(0).reason, "");
}

TEST_P(StorageContract, ANewTokenRetiresTheOldOneButNeverProlongsIt) {
  const Outcome ada = apply_one(create_principal("ada", '1'));
  const Outcome grace = apply_one(create_principal("grace", '2'));
  const Outcome second = apply_one(CreateToken{ada.id, sha('3'), 0, ada.token, kNow + 100});
  EXPECT_EQ(second.applied, Applied::applied);
  const auto tokens = [this] { return storage().identities().value().tokens; };
  EXPECT_EQ(tokens().at(0).expires_at, kNow + 100);
  EXPECT_EQ(tokens().at(2).id, second.id);
  EXPECT_EQ(tokens().at(2).expires_at, 0);
  apply_one(CreateToken{ada.id, sha('4'), 0, ada.token, kNow + 200});
  EXPECT_EQ(tokens().at(0).expires_at, kNow + 100);
  apply_one(CreateToken{ada.id, sha('5'), kNow + 9, ada.token, kNow + 50});
  EXPECT_EQ(tokens().at(0).expires_at, kNow + 50);
  EXPECT_EQ(tokens().at(4).expires_at, kNow + 9);

  EXPECT_EQ(applied(CreateToken{ada.id, sha('6'), 0, grace.token, kNow}), Applied::conflict);
  EXPECT_EQ(applied(CreateToken{99, sha('6'), 0, 0, 0}), Applied::conflict);
  at(kNow + 50);
  EXPECT_EQ(applied(CreateToken{ada.id, sha('6'), 0, ada.token, kNow}), Applied::superseded);
  apply_one(RevokeToken{second.id});
  EXPECT_EQ(applied(CreateToken{ada.id, sha('6'), 0, second.id, kNow}), Applied::superseded);
  EXPECT_THAT(tokens(), SizeIs(5));
}

TEST_P(StorageContract, TokensAreRevokedOnce) {
  const Outcome ada = apply_one(create_principal("ada", '1'));
  at(kNow + 7);
  EXPECT_EQ(applied(RevokeToken{ada.token}), Applied::applied);
  at(kNow + 8);
  EXPECT_EQ(applied(RevokeToken{ada.token}), Applied::repeated);
  EXPECT_EQ(applied(RevokeToken{ada.token + 1}), Applied::conflict);
  EXPECT_EQ(storage().identities().value().tokens.at(0).revoked_at, kNow + 7);
}

TEST_P(StorageContract, ProjectsHaveUniqueNames) {
  EXPECT_EQ(applied(CreateProject{"birds"}), Applied::applied);
  EXPECT_EQ(applied(CreateProject{"birds"}), Applied::conflict);
  EXPECT_GT(apply_one(CreateProject{"ants"}).id, 1);
  const auto projects = storage().identities().value().projects;
  ASSERT_THAT(projects, SizeIs(2));
  EXPECT_EQ(projects[0].name, "birds");
  EXPECT_EQ(projects[1].name, "ants");
  EXPECT_EQ(projects[1].created_at, kNow);
}

TEST_P(StorageContract, CodesAreOfAProject) {
  EXPECT_EQ(applied(code('c')), Applied::conflict);
  apply_one(CreateProject{"birds"});
  CreateEnrolment whole = code('c');
  whole.enrolment.label = "poster";
  whole.enrolment.created_by = "ada";
  whole.enrolment.expires_at = kNow + 10;
  whole.enrolment.max_uses = 3;
  whole.enrolment.uses = 2;  // storage ignores this field
  const Outcome made = apply_one(whole);
  EXPECT_EQ(made.applied, Applied::applied);
  EXPECT_EQ(applied(code('c')), Applied::repeated);
  const auto codes = storage().identities().value().enrolments;
  ASSERT_THAT(codes, SizeIs(1));
  EXPECT_EQ(codes[0].id, made.id);
  EXPECT_EQ(codes[0].code_hash, sha('c'));
  EXPECT_EQ(codes[0].project, "birds");
  EXPECT_EQ(codes[0].label, "poster");
  EXPECT_EQ(codes[0].created_by, "ada");
  EXPECT_EQ(codes[0].created_at, kNow);
  EXPECT_EQ(codes[0].expires_at, kNow + 10);
  EXPECT_EQ(codes[0].max_uses, 3);
  EXPECT_EQ(codes[0].uses, 0);
}

TEST_P(StorageContract, ACodeAdmitsSoManyDevicesAndNoMore) {
  CreateEnrolment two = code('c');
  two.enrolment.max_uses = 2;
  apply({CreateProject{"birds"}, two});
  // All these transitions are in one batch, as if many people joined at once.
  const auto outcomes = apply({joining("d1", 'c'), joining("d1", 'c'), joining("d2", 'c'),
                               joining("d3", 'c'), joining("d4", 'x')});
  std::vector<Applied> applied;
  for (const Outcome& outcome : outcomes) applied.push_back(outcome.applied);
  EXPECT_THAT(applied, ElementsAre(Applied::applied, Applied::conflict, Applied::applied,
                                   Applied::superseded, Applied::superseded));
  EXPECT_EQ(storage().identities().value().enrolments.at(0).uses, 2);
  EXPECT_THAT(storage().identities().value().devices, SizeIs(2));
}

TEST_P(StorageContract, ACodeEndsByTimeAndByHand) {
  CreateEnrolment brief = code('b');
  brief.enrolment.expires_at = kNow + 10;
  apply({CreateProject{"birds"}, brief, code('c')});
  at(kNow + 9);
  EXPECT_EQ(applied(joining("d1", 'b')), Applied::applied);
  at(kNow + 10);
  EXPECT_EQ(applied(joining("d2", 'b')), Applied::superseded);
  EXPECT_EQ(applied(joining("d3", 'c')), Applied::applied);
  const std::int64_t id = storage().identities().value().enrolments.at(1).id;
  EXPECT_EQ(applied(RevokeEnrolment{id}), Applied::applied);
  EXPECT_EQ(applied(RevokeEnrolment{id}), Applied::repeated);
  EXPECT_EQ(applied(RevokeEnrolment{id + 1}), Applied::conflict);
  EXPECT_EQ(applied(joining("d4", 'c')), Applied::superseded);
  EXPECT_EQ(storage().identities().value().enrolments.at(1).revoked_at, kNow + 10);
}

TEST_P(StorageContract, RevokedDevicesAreNamedAsSuchAndTheirIdsStayTaken) {
  EXPECT_EQ(applied(create_device("d1")), Applied::applied);
  EXPECT_EQ(applied(create_device("d2")), Applied::applied);
  EXPECT_EQ(applied(create_device("d1")), Applied::conflict);
  EXPECT_EQ(applied(RevokeDevice{"d1"}), Applied::applied);
  EXPECT_EQ(applied(RevokeDevice{"d1"}), Applied::repeated);
  EXPECT_EQ(applied(RevokeDevice{"nobody"}), Applied::conflict);
  EXPECT_EQ(applied(create_device("d1")), Applied::conflict);
  const auto devices = storage().identities().value().devices;
  ASSERT_THAT(devices, SizeIs(2));
  EXPECT_TRUE(devices[0].revoked);
  EXPECT_FALSE(devices[1].revoked);
  EXPECT_EQ(devices[1].id, "d2");
  EXPECT_EQ(devices[1].project, "default");
  EXPECT_EQ(devices[1].secret_hash, sha('d'));
  EXPECT_EQ(devices[1].device_class, "phone");
  EXPECT_EQ(devices[1].engine, "chromium 131");
}

TEST_P(StorageContract, AnErasedDeviceLeavesItsResultsAndNothingOfItself) {
  apply({create_device("d1"), create_device("d2"), create_study(1), start(1, key(1, 0), "d1"),
         start(2, key(1, 1), "d2"), start(3, key(1, 2), "d1")});
  StoreResult result = complete(1, {0.5}, "d1");
  result.result.points = {{1, 0.25}};
  apply({result, complete(2, {0.25}, "d2"), end(3, AttemptState::revoked)});
  EXPECT_EQ(applied(EraseDevice{"d1"}), Applied::applied);
  EXPECT_EQ(applied(EraseDevice{"d1"}), Applied::conflict);

  const auto devices = storage().identities().value().devices;
  ASSERT_THAT(devices, SizeIs(1));
  EXPECT_EQ(devices[0].id, "d2");
  const TrialDetail mine = trial(1, 0);
  EXPECT_EQ(mine.attempt->device, kErasedDevice);
  EXPECT_EQ(mine.attempt->device_class, "");
  EXPECT_EQ(mine.attempt->engine, "");
  EXPECT_EQ(mine.attempt->adapter, "");
  EXPECT_EQ(mine.attempt->backend, "cpu");
  EXPECT_THAT(mine.trial.values, ElementsAre(0.5));
  EXPECT_THAT(mine.points, SizeIs(1));
  EXPECT_EQ(study(1).best_value, 0.5);
  EXPECT_EQ(trial(1, 1).attempt->device, "d2");
  EXPECT_EQ(trial(1, 2).attempt->device, kErasedDevice);
  EXPECT_EQ(applied(complete(3, {0.5}, "d1")), Applied::conflict);  // has no device now
}

// The erasure itself revokes the device's attempts, because the server may stop right after it.
TEST_P(StorageContract, AnErasureRevokesWhatTheDeviceRunsAlsoWhereTheServerStopsAfterIt) {
  apply(
      {create_device("d1"), create_study(1), start(1, key(1, 0), "d1"), start(2, key(1, 1), "d2")});
  at(kNow + 5);
  EXPECT_EQ(applied(EraseDevice{"d1"}), Applied::applied);
  reopen();
  const auto trials = storage().load().value().studies.at(0).unfinished;
  ASSERT_THAT(trials, SizeIs(2));
  EXPECT_EQ(trials[0].attempts.at(0).state, AttemptState::revoked);
  EXPECT_EQ(trials[0].attempts.at(0).finished_at, kNow + 5);
  EXPECT_EQ(trials[1].attempts.at(0).state, AttemptState::live);
  EXPECT_EQ(applied(end(1, AttemptState::revoked)), Applied::repeated);
}

// A device that describes itself differently each time causes a bounded number of rows.
TEST_P(StorageContract, ADeviceThatChangesWithoutEndIsKeptUnderItsNameAlone) {
  apply({create_device("d1"), create_study(1)});
  for (std::int64_t i = 1; i <= 20; ++i) {
    StartAttempt begun = start(i, key(1, i - 1), "d1");
    begun.engine = "engine " + std::to_string(i);
    apply({begun, complete(i, {0.5}, "d1")});
  }
  EXPECT_EQ(storage().attempt(AttemptId{1}).value()->engine, "engine 1");
  EXPECT_EQ(storage().attempt(AttemptId{16}).value()->engine, "engine 16");
  for (const std::int64_t later : {17, 20}) {
    EXPECT_EQ(storage().attempt(AttemptId{later}).value()->engine, "");
    EXPECT_EQ(storage().attempt(AttemptId{later}).value()->device, "d1");
  }
  StartAttempt known = start(21, key(1, 20), "d1");
  known.engine = "engine 3";
  apply({known});
  EXPECT_EQ(storage().attempt(AttemptId{21}).value()->engine, "engine 3");
  EXPECT_EQ(applied(EraseDevice{"d1"}), Applied::applied);
  reopen();
  for (const std::int64_t attempt : {1, 16, 17, 21}) {
    EXPECT_EQ(storage().attempt(AttemptId{attempt}).value()->device, kErasedDevice);
    EXPECT_EQ(storage().attempt(AttemptId{attempt}).value()->engine, "");
  }
  EXPECT_EQ(storage().attempt(AttemptId{21}).value()->state, AttemptState::revoked);
}

// Who joined and computed nothing is collected after a while; who has sent a result is not.
TEST_P(StorageContract, DevicesThatComputedNothingAreCollected) {
  for (const char* id : {"idle", "back", "worker", "revoked", "began"}) apply({create_device(id)});
  apply({create_study(1), start(1, key(1, 0), "worker"), complete(1, {0.5}, "worker"),
         start(2, key(1, 1), "began"), RevokeDevice{"revoked"}});
  at(kNow + 100);
  EXPECT_EQ(applied(SeeDevice{"back"}), Applied::applied);
  EXPECT_EQ(applied(SeeDevice{"nobody"}), Applied::conflict);
  const auto before = kNow + 50;
  EXPECT_THAT(storage().devices_seen_before(before, {}, 3).value(),
              ElementsAre(SeenDevice{"began", kNow, true}, SeenDevice{"idle", kNow, true},
                          SeenDevice{"revoked", kNow, false}));
  EXPECT_THAT(storage().devices_seen_before(before, {"revoked", kNow}, 3).value(),
              ElementsAre(SeenDevice{"worker", kNow, false}));
  EXPECT_THAT(storage().devices_seen_before(kNow + 101, {"worker", kNow}, 3).value(),
              ElementsAre(SeenDevice{"back", kNow + 100, true}));

  for (const char* id : {"back", "worker", "revoked"})
    EXPECT_EQ(applied(CollectDevice{id, before}), Applied::superseded) << id;
  EXPECT_EQ(applied(CollectDevice{"nobody", before}), Applied::conflict);
  for (const char* id : {"idle", "began"})
    EXPECT_EQ(applied(CollectDevice{id, before}), Applied::applied) << id;
  reopen();
  EXPECT_THAT(storage().identities().value().devices, SizeIs(3));
  EXPECT_EQ(storage().identities().value().devices[0].id, "back");
  EXPECT_EQ(storage().identities().value().devices[0].seen_at, kNow + 100);
  EXPECT_EQ(storage().attempt(AttemptId{1}).value()->device, "worker");
  EXPECT_EQ(storage().attempt(AttemptId{2}).value()->device, kErasedDevice);
  EXPECT_EQ(storage().attempt(AttemptId{2}).value()->state, AttemptState::revoked);
}

// A project may use half of the places that others leave.
TEST_P(StorageContract, AServerTakesOnlySoManyDevices) {
  constexpr std::int64_t kMost = 300;
  const auto join = [&](const std::string& id, const std::string& project) {
    CreateDevice create = create_device(id);
    create.device.project = project;
    create.most_devices = kMost;
    return apply_one(create);
  };
  std::vector<Transition> many;
  for (int i = 0; i < 150; ++i) many.push_back(create_device("d" + std::to_string(i)));
  apply(many);
  const Outcome refused = join("more", "default");
  EXPECT_EQ(refused.applied, Applied::superseded);
  EXPECT_EQ(refused.refusal, Refusal::too_many_devices);
  EXPECT_EQ(join("b0", "birds").applied, Applied::applied);
  EXPECT_EQ(applied(EraseDevice{"d0"}), Applied::applied);
  EXPECT_EQ(join("more", "default").refusal, Refusal::too_many_devices);  // the bird has a place
  EXPECT_EQ(applied(EraseDevice{"b0"}), Applied::applied);
  reopen();
  EXPECT_EQ(join("more", "default").applied, Applied::applied);
  EXPECT_EQ(join("again", "default").refusal, Refusal::too_many_devices);
  EXPECT_EQ(applied(create_device("any")), Applied::applied);  // without a limit
}

TEST(Places, AProjectAlwaysHasSomeAndTheServerHasAnEnd) {
  EXPECT_TRUE(has_place(0, 1'000'000, 2'000'000));
  EXPECT_TRUE(has_place(150, 99, 99));
  EXPECT_FALSE(has_place(150, 100, 100));
  EXPECT_FALSE(has_place(150, 10, 150));
  EXPECT_TRUE(has_place(1'000, 499, 499));
  EXPECT_FALSE(has_place(1'000, 500, 500));
  EXPECT_TRUE(has_place(1'000, 249, 749));
  EXPECT_FALSE(has_place(1'000, 250, 750));
}

// The attempts of an erased device are not taken for those of a device that joins later.
TEST_P(StorageContract, AnErasedDevicesAttemptsStayNobodys) {
  apply({create_device("d1"), create_study(1), start(1, key(1, 0), "d1"), EraseDevice{"d1"}});
  reopen();
  apply({create_device("d2"), start(2, key(1, 1), "d2")});
  EXPECT_EQ(storage().attempt(AttemptId{1}).value()->device, kErasedDevice);
  EXPECT_EQ(storage().attempt(AttemptId{2}).value()->device, "d2");
  EXPECT_EQ(applied(complete(1, {0.5}, "d2")), Applied::conflict);
}

TEST_P(StorageContract, QuotaCountsRunningStudiesAndTheirTrials) {
  const Quota two{2, 0, 0};
  EXPECT_EQ(applied(limited(1, two)), Applied::applied);
  EXPECT_EQ(applied(limited(2, two)), Applied::applied);
  const Outcome third = apply_one(limited(3, two));
  EXPECT_EQ(third.applied, Applied::superseded);
  EXPECT_EQ(third.excess, (Excess{Excess::What::studies, 2, 1, 2}));
  EXPECT_FALSE(storage().study(StudyId{3}).value().has_value());
  EXPECT_EQ(applied(limited(1, two)), Applied::repeated);  // the same submission
  EXPECT_EQ(storage().usage("ada").value(), (Usage{2, 12, 1'333}));
  EXPECT_EQ(storage().usage("grace").value(), Usage{});

  // A batch ends a study and submits another one. The quota has room for the second study as soon
  // as the first has ended.
  const auto outcomes = apply({end_study(1, StudyState::cancelled), limited(3, two)});
  EXPECT_EQ(outcomes[1].applied, Applied::applied);
  const Outcome large = apply_one(limited(4, {0, 17, 0}));
  EXPECT_EQ(large.excess, (Excess{Excess::What::trials, 12, 6, 17}));
  EXPECT_EQ(applied(limited(4, {0, 18, 0})), Applied::applied);
  EXPECT_EQ(applied(limited(5, {})), Applied::applied);
}

TEST_P(StorageContract, R33_AReissueedStudyCountsAsOneThatIsSubmitted) {
  const Quota two{2, 0, 0};
  apply({limited(1, two), start(1, key(1, 0)), failed(1), fail(key(1, 0)), limited(2, two)});
  EXPECT_EQ(applied(ReissueTrials{StudyId{1}, {1, 1, 1}}), Applied::applied);  // it runs already
  apply({start(2, key(1, 0)), failed(2), fail(key(1, 0)), end_study(1, StudyState::finished),
         limited(3, two)});
  const Outcome third = apply_one(ReissueTrials{StudyId{1}, two});
  EXPECT_EQ(third.applied, Applied::superseded);
  EXPECT_EQ(third.excess, (Excess{Excess::What::studies, 2, 1, 2}));
  EXPECT_THAT(third.trials, IsEmpty());
  EXPECT_EQ(study(1).state, StudyState::finished);
  EXPECT_EQ(study(1).failed, 1);
  EXPECT_EQ(apply_one(ReissueTrials{StudyId{1}, {0, 17, 0}}).excess,
            (Excess{Excess::What::trials, 12, 6, 17}));
  EXPECT_EQ(apply_one(ReissueTrials{StudyId{2}, two}).applied,
            Applied::repeated);  // no trial failed

  // A batch ends study 2 and issues trials of study 1 again, for which the quota then has room. The
  // study's bytes count for the owner already.
  const auto outcomes =
      apply({end_study(2, StudyState::cancelled), ReissueTrials{StudyId{1}, {2, 12, 1}}});
  EXPECT_EQ(outcomes[1].applied, Applied::applied);
  EXPECT_EQ(storage().usage("ada").value(), (Usage{2, 12, 1'333}));
}

TEST_P(StorageContract, QuotaCountsEachBlobOnce) {
  const Quota small{0, 0, 1'400};
  EXPECT_EQ(applied(limited(1, small)), Applied::applied);  // 1,234 and 99 bytes
  EXPECT_EQ(applied(limited(2, small)), Applied::applied);  // the same blobs
  EXPECT_EQ(storage().usage("ada").value().bytes, 1'333);
  EXPECT_EQ(applied(OwnBlob{"ada", sha('a'), 1'234, small}), Applied::repeated);
  EXPECT_EQ(apply_one(OwnBlob{"ada", sha('c'), 68, small}).excess,
            (Excess{Excess::What::bytes, 1'333, 68, 1'400}));
  EXPECT_EQ(applied(OwnBlob{"ada", sha('c'), 67, small}), Applied::applied);
  EXPECT_EQ(applied(OwnBlob{"grace", sha('c'), 67, {0, 0, 67}}), Applied::applied);
  EXPECT_EQ(storage().usage("ada").value().bytes, 1'400);
  CreateStudy other = limited(3, small);
  other.spec.bundle = {sha('e'), 1};
  EXPECT_EQ(apply_one(other).excess, (Excess{Excess::What::bytes, 1'400, 1, 1'400}));
}

TEST_P(StorageContract, TheAuditLogTellsOnlyOfWhatHappened) {
  apply({CreateProject{"birds"}, note("project.create"), CreateProject{"birds"},
         note("project.create"), note("server.start", false)});
  at(kNow + 5);
  apply({note("never")});  // no change comes before it in its batch
  apply({CreateProject{"fish"}, note("project.create")});
  const auto entries = storage().audit(0, 100).value();
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_EQ(entries[0].action, "project.create");
  EXPECT_EQ(entries[0].actor, "ada");
  EXPECT_EQ(entries[0].object, "o");
  EXPECT_EQ(entries[0].address, "127.0.0.1");
  EXPECT_EQ(entries[0].at, kNow);
  EXPECT_EQ(entries[1].action, "server.start");
  EXPECT_EQ(entries[2].at, kNow + 5);
  EXPECT_THAT(storage().audit(entries[0].id, 1).value(), SizeIs(1));
  EXPECT_EQ(storage().audit(entries[0].id, 1).value()[0].id, entries[1].id);
  EXPECT_THAT(storage().audit(entries[2].id, 10).value(), IsEmpty());
}

TEST_P(StorageContract, OldAuditEntriesGoAndTheirNumbersDoNotComeBack) {
  apply({note("a", false), note("b", false)});
  at(kNow + 10);
  apply({note("c", false)});
  EXPECT_EQ(applied(TrimAudit{.before = kNow, .kept = 0}), Applied::repeated);
  EXPECT_EQ(applied(TrimAudit{.before = kNow + 10, .kept = 0}), Applied::applied);
  const auto left = storage().audit(0, 10).value();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].action, "c");
  apply_one(TrimAudit{.before = kNow + 11, .kept = 0});
  apply({note("d", false)});
  EXPECT_GT(storage().audit(0, 10).value().at(0).id, left[0].id);
}

NoteAudit note_by(const std::string& actor, const std::string& object = {}) {
  return {{.actor = actor, .action = "study.pause", .object = object}, false};
}

std::map<std::string, std::int64_t> entries_by_actor(Storage& storage) {
  std::map<std::string, std::int64_t> counts;
  for (const AuditEntry& entry : storage.audit(0, 100'000).value()) ++counts[entry.actor];
  return counts;
}

// If the clock is years ahead, a batch still removes few audit entries, and never the newest ones.
TEST_P(StorageContract, AgeRemovesFewAuditEntriesAtOnceAndNeverTheNewest) {
  std::vector<Transition> batch;
  for (int i = 0; i < 50; ++i) batch.emplace_back(note_by("ada"));
  apply(batch);
  const TrimAudit trim{.before = kNow + 1'000'000, .kept = 10, .most = 15};
  for (const std::int64_t left : {35, 20, 10, 10}) {
    apply_one(trim);
    EXPECT_EQ(storage().audit_size().value().entries, left);
  }
  EXPECT_EQ(storage().audit(0, 1).value().at(0).id, 41);
}

// If one person causes very many audit entries, only this person's oldest entries are removed.
TEST_P(StorageContract, TooManyAuditEntriesAreTakenFromThePersonWithTheMost) {
  apply({note_by("admin"), note_by("grace"), note_by("grace")});
  std::vector<Transition> batch;
  for (int i = 0; i < 200; ++i) batch.emplace_back(note_by("flood", std::to_string(i)));
  apply(batch);
  EXPECT_EQ(applied(TrimAudit{.entries = 300}), Applied::repeated);
  EXPECT_EQ(applied(TrimAudit{.entries = 50}), Applied::applied);
  EXPECT_EQ(storage().audit_size().value().entries, 50);
  EXPECT_EQ(entries_by_actor(storage()),
            (std::map<std::string, std::int64_t>{{"admin", 1}, {"flood", 47}, {"grace", 2}}));
  EXPECT_EQ(storage().audit(3, 1).value().at(0).object, "153");  // the oldest are gone

  const std::int64_t bytes = storage().audit_size().value().bytes;
  EXPECT_EQ(applied(TrimAudit{.bytes = bytes}), Applied::repeated);
  EXPECT_EQ(applied(TrimAudit{.bytes = bytes - 1}), Applied::applied);
  EXPECT_LT(storage().audit_size().value().bytes, bytes);
  EXPECT_EQ(entries_by_actor(storage()).at("grace"), 2);
  apply_one(TrimAudit{.entries = 1, .most = 5});
  EXPECT_EQ(entries_by_actor(storage()).at("admin"), 1);
}

TEST_P(StorageContract, TheSizeOfTheAuditLogIsThatOfItsEntries) {
  apply({note_by("ada", "ü"), note_by("grace"), note("project.create", false)});
  apply_one(TrimAudit{.entries = 2});
  reopen();
  AuditSize counted;
  for (const AuditEntry& entry : storage().audit(0, 10).value()) {
    ++counted.entries;
    counted.bytes +=
        kAuditEntryBytes +
        static_cast<std::int64_t>(entry.actor.size() + entry.action.size() + entry.object.size() +
                                  entry.address.size() + entry.detail.size());
  }
  EXPECT_EQ(storage().audit_size().value(), counted);
  EXPECT_EQ(counted.entries, 2);
}

// After a restart the server's time continues from the time that storage has kept. So no row may
// have a later time.
TEST_P(StorageContract, TheKeptTimeIsNeverBeforeAStoredOne) {
  EXPECT_EQ(storage().kept_time().value(), 0);
  for (const std::int64_t passed : {0, 1, 500, 999, 1'000, 1'001, 5'000, 4'000, 3'000'000}) {
    at(kNow + passed);
    apply_one(note_by("ada"));
    const std::int64_t kept = storage().kept_time().value();
    EXPECT_GE(kept, kNow + passed);
    EXPECT_LE(kept, kNow + std::max<std::int64_t>(passed, 5'000) + kTimeAheadMs);
  }
  const std::int64_t kept = storage().kept_time().value();
  reopen();
  EXPECT_EQ(storage().kept_time().value(), kept);
  at(kNow - 1'000'000);
  apply_one(KeepTime{});
  EXPECT_EQ(storage().kept_time().value(), kept);
  at(kNow + 9'000'000);
  apply_one(KeepTime{});
  EXPECT_GE(storage().kept_time().value(), kNow + 9'000'000);
}

TEST_P(StorageContract, ReopenedStorageKnowsEverybody) {
  apply({CreateProject{"birds"}, code('c')});
  const Outcome ada = apply_one(create_principal("ada", '1'));
  apply({joining("d1", 'c'), OwnBlob{"ada", sha('b'), 9, {}}, note("blob.own")});
  reopen();
  const Identities all = storage().identities().value();
  EXPECT_THAT(all.projects, SizeIs(1));
  EXPECT_EQ(all.enrolments.at(0).uses, 1);
  EXPECT_EQ(all.principals.at(0).name, "ada");
  EXPECT_EQ(all.tokens.at(0).id, ada.token);
  EXPECT_EQ(storage().usage("ada").value().bytes, 9);
  EXPECT_THAT(storage().audit(0, 10).value(), SizeIs(1));
}

}  // namespace
}  // namespace hyperflock::storage
