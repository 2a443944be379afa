// Tests ask-and-tell studies over real sockets: an owner on /ws/client, devices on /ws/worker, one
// server.
#include <gmock/gmock.h>

#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using protocol::FinishedCall;
using protocol::PointsCall;
using protocol::PruneCall;
using protocol::ResumedCall;
using protocol::StartedCall;
using protocol::SuggestCall;

constexpr const char* kDistribution = R"({"name": "FloatDistribution"})";

protocol::Call suggest(AttemptId attempt, std::int64_t id, const std::string& name,
                       const std::string& distribution = kDistribution) {
  return {.id = id,
          .attempt = attempt,
          .method = "suggest",
          .step = {},
          .name = name,
          .distribution = distribution,
          .points = {}};
}

protocol::Call should_prune(AttemptId attempt, std::int64_t id,
                            std::vector<protocol::Point> points) {
  return {.id = id,
          .attempt = attempt,
          .method = "should_prune",
          .step = points.empty() ? 0 : points.back().step,
          .points = std::move(points)};
}

std::string path(std::int64_t study, const std::string& rest = {}) {
  return "/api/studies/" + std::to_string(study) + rest;
}

TEST(Owner, ATrialFromItsAskToItsOutcome) {
  const TestServer server;
  const std::int64_t study = server.submit_asked();
  TestWorker worker(server, server.join());
  worker.send(protocol::Ready{});
  EXPECT_EQ(worker.receive<protocol::Wait>().reason, protocol::WaitReason::no_work);

  TestOwner owner(server, study);
  EXPECT_EQ(owner.receive().generation, 1);
  owner.says({.room = 5, .target = 10});
  EXPECT_EQ(owner.receive().demand, 1);  // the worker waits for a trial (R45)
  EXPECT_EQ(server.metric("hyperflock_study_owners_attached"), 1);
  owner.asks({3}, 4);
  const protocol::Lease lease = worker.receive<protocol::LeaseOffer>().lease;
  EXPECT_EQ(lease.trial, TrialNumber{3});
  EXPECT_EQ(lease.total, 10);
  EXPECT_TRUE(lease.asked);
  EXPECT_EQ(owner.item<StartedCall>().attempt, lease.attempt);

  worker.send(suggest(lease.attempt, 1, "rate"));
  const auto asked = owner.item<SuggestCall>();
  EXPECT_EQ(asked.name, "rate");
  EXPECT_EQ(asked.distribution, kDistribution);
  EXPECT_EQ(server.metric("hyperflock_owner_calls_waiting"), 1);
  owner.answers(asked.id, "0.25");
  EXPECT_EQ(worker.receive<protocol::Reply>().text, "0.25");
  worker.send(suggest(lease.attempt, 2, "rate"));  // the answer comes from the trial's log (R47)
  EXPECT_EQ(worker.receive<protocol::Reply>().text, "0.25");
  worker.send(suggest(lease.attempt, 3, "rate", "{}"));
  EXPECT_EQ(worker.receive<protocol::ErrorMessage>().code, "suggest_mismatch");

  // The owner also gets the points that the device sends with its call (R48).
  worker.send(should_prune(lease.attempt, 4, {{1, 0.5}, {2, 0.75}}));
  const auto prune = owner.item<PruneCall>();
  EXPECT_EQ(prune.points.size(), 2U);
  owner.answers(prune.id, "true");
  EXPECT_TRUE(worker.receive<protocol::Reply>().value);
  const std::string open = server.rest("GET", path(study, "/unfinished")).body;
  EXPECT_EQ(json_at(open, "trials.0.suggested.0.2"), "0.25");
  EXPECT_EQ(json_at(open, "trials.0.state"), "running");
  const std::string curves = server.rest("GET", path(study, "/unfinished?points=1")).body;
  EXPECT_EQ(json_at(curves, "trials.0.points"), "[[1,0.5],[2,0.75]]");
  EXPECT_EQ(json_at(curves, "trials.0.suggested.0.2"), "0.25");

  auto result = TestWorker::result(lease.attempt, 0.5);
  result.attrs = R"({"user":{}})";
  worker.send(result);
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
  const auto finished = owner.item<FinishedCall>();
  EXPECT_EQ(finished.values, std::vector<double>{0.5});
  EXPECT_EQ(finished.attrs, result.attrs);
  EXPECT_EQ(finished.params, R"({"rate":0.25})");
  EXPECT_GT(finished.seq, 0);
  EXPECT_EQ(finished.points.size(), 1U);

  const std::string row = server.rest("GET", path(study)).body;
  EXPECT_EQ(json_at(row, "sampler.attached"), "true");
  EXPECT_EQ(json_at(row, "sampler.label"), "test");
  EXPECT_EQ(json_at(row, "wanted"), "10");
  EXPECT_EQ(json_at(row, "total"), "1");
  EXPECT_EQ(json_at(row, "best.params"), R"({"rate":0.25})");
  const std::string trials = server.rest("GET", path(study, "/trials")).body;
  EXPECT_EQ(json_at(trials, "trials.0.attrs"), result.attrs);

  owner.says({.finish = true});  // ends the study, because no trial is unfinished (R50)
  EXPECT_EQ(json_at(owner.socket().receive_text(), "code"), "study_stopped");
  EXPECT_TRUE(server.reaches(study, "finished"));
}

TEST(Owner, R42_TheNewestClaimReplacesAndAStandbyTakesOver) {
  const TestServer server;
  const std::int64_t study = server.submit_asked();
  TestOwner first(server, study);
  EXPECT_EQ(first.receive().generation, 1);
  TestOwner standby(server, study, true);
  EXPECT_EQ(standby.receive().generation, 0);
  TestOwner second(server, study);
  EXPECT_EQ(second.receive().generation, 2);
  EXPECT_EQ(first.socket().wait_close(), 4005);
  second.socket().close(1000);
  EXPECT_EQ(standby.receive().generation, 3);
}

TEST(Owner, R42_SomebodyElsesStudyIsUnknownAndAGridIsNotAsked) {
  const TestServer server;
  const std::int64_t study = server.submit_asked();
  const auto made = server.rest_as(server.secrets().admin_token, "POST", "/api/researchers",
                                   R"({"name":"grace"})");
  TestOwner stranger(server, json_at(made.body, "token"), study, false);
  EXPECT_EQ(json_at(stranger.socket().receive_text(), "code"), "unknown_study");
  TestOwner of_a_grid(server, server.submit(1, "grid"));
  EXPECT_EQ(json_at(of_a_grid.socket().receive_text(), "code"), "not_asked");
  TestOwner administrator(server, server.secrets().admin_token, study, false);
  EXPECT_EQ(administrator.receive().generation, 1);
}

// The server looks for the next best trial in pieces, and a watcher hears of it.
TEST(Owner, R57_TheBestTrialIsTakenBackAndTheNextOneIsFound) {
  const TestServer server;
  const std::int64_t study = server.submit_asked();
  TestOwner owner(server, study);
  owner.receive();
  owner.asks({0, 1, 2});
  TestWorker worker(server, server.join());
  for (int i = 0; i < 3; ++i) {
    const protocol::Lease lease = worker.await_lease();
    worker.send(TestWorker::result(lease.attempt, static_cast<double>(to_int(lease.trial))));
    worker.receive<protocol::ResultAck>();
  }
  const auto best = [&] { return json_at(server.rest("GET", path(study)).body, "best.trial"); };
  EXPECT_EQ(best(), "2");
  owner.says({.constraints = {{TrialNumber{2}, {1}}}});
  EXPECT_TRUE(until([&] { return best() == "1"; }));
  EXPECT_TRUE(until([&] {
    return server.rest("GET", path(study)).body.find("best_pending") == std::string::npos;
  }));
  owner.says({.constraints = {{TrialNumber{1}, {1}}, {TrialNumber{0}, {1}}}});
  EXPECT_TRUE(until([&] {
    const auto none = server.rest("GET", path(study, "/best"));
    return none.body.find("meets its constraints") != std::string::npos;
  }));
  EXPECT_EQ(status_and_code(server.rest("GET", path(study, "/best"))), "404 no_feasible_trial");
}

TEST(Owner, R43_ACallWithoutAnOwnerEndsAndTheAttemptGoesBack) {
  const TestServer server([](ServeConfig& config) { config.call_ms = 1; });
  const std::int64_t study = server.submit_asked();
  TestOwner owner(server, study);
  owner.receive();
  owner.asks({0});
  TestWorker worker(server, server.join());
  const protocol::Lease lease = worker.await_lease();
  owner.socket().close(1000);
  EXPECT_TRUE(until([&] {
    return json_at(server.rest("GET", path(study)).body, "sampler.attached") == "false";
  }));
  worker.send(suggest(lease.attempt, 1, "x"));
  const auto error = worker.receive<protocol::ErrorMessage>();
  EXPECT_EQ(error.code, "no_owner");
  EXPECT_EQ(error.id, 1);
  worker.send(protocol::Release{lease.attempt, 1, protocol::ReleaseReason::no_owner});
  worker.receive<protocol::Ack>();
  worker.send(protocol::Ready{});
  worker.receive<protocol::Wait>();
  TestOwner next(server, study);
  EXPECT_EQ(next.receive().generation, 2);
  EXPECT_EQ(worker.receive<protocol::LeaseOffer>().lease.trial, TrialNumber{0});
}

TEST(Owner, R43_ARestartKeepsTheLogAndTheTrials) {
  TestServer server;
  const std::int64_t study = server.submit_asked();
  const TestDevice device = server.join();
  std::optional<TestWorker> worker(std::in_place, server, device);
  std::optional<TestOwner> owner(std::in_place, server, study);
  owner->receive();
  owner->asks({0, 1});
  const protocol::Lease lease = worker->await_lease();
  owner->item<StartedCall>();
  worker->send(suggest(lease.attempt, 1, "x"));
  owner->answers(owner->item<SuggestCall>().id, "1");
  worker->receive<protocol::Reply>();
  server.restart();
  worker.emplace(server, device, std::vector{lease.attempt});
  EXPECT_EQ(json_at(server.rest("GET", path(study)).body, "sampler.attached"), "false");
  worker->send(suggest(lease.attempt, 2, "x"));
  EXPECT_EQ(worker->receive<protocol::Reply>().text, "1");
  worker->send(suggest(lease.attempt, 3, "y"));
  owner.emplace(server, study);
  EXPECT_EQ(owner->receive().generation, 2);
  const auto asked = owner->item<SuggestCall>();
  EXPECT_EQ(asked.name, "y");
  owner->answers(asked.id, "2");
  EXPECT_EQ(worker->receive<protocol::Reply>().text, "2");
  worker->send(TestWorker::result(lease.attempt, 0.5, 1, true));
  EXPECT_EQ(worker->receive<protocol::ResultAck>().lease->trial, TrialNumber{1});
}

TEST(Owner, R48_ALaterAttemptFromACheckpointResumes) {
  const TestServer server;
  const std::int64_t study = server.submit_asked();
  TestOwner owner(server, study);
  owner.receive();
  owner.asks({0});
  const TestDevice device = server.join();
  TestWorker worker(server, device);
  const protocol::Lease lease = worker.await_lease();
  owner.item<StartedCall>();
  worker.send(protocol::Report{lease.attempt, 1, {{1, 0.5}, {2, 0.25}}});
  worker.receive<protocol::Ack>();
  EXPECT_EQ(owner.item<PointsCall>().points.size(), 2U);
  const std::string bytes = "PK\x03\x04 a tree";
  const auto saved =
      net::http_request(server.compute(), "PUT",
                        "/api/attempts/" + std::to_string(to_int(lease.attempt)) + "/checkpoints/" +
                            blobs::sha256_hex(bytes) + "?format=tree&step=1",
                        {{"Authorization", "Device " + device.id + ":" + device.secret}}, bytes);
  EXPECT_EQ(saved.status, 201) << saved.body;
  worker.send(protocol::Release{lease.attempt, 2, protocol::ReleaseReason::page_hidden});
  worker.receive<protocol::Ack>();
  const protocol::Lease again = worker.await_lease();
  owner.item<StartedCall>();
  EXPECT_EQ(owner.item<ResumedCall>().step, 1);
  EXPECT_EQ(again.checkpoint->attempt, lease.attempt);
}

TEST(Owner, R50_ACancelledStudyTellsItsOwner) {
  const TestServer server;
  const std::int64_t study = server.submit_asked();
  TestOwner owner(server, study);
  owner.receive();
  owner.asks({0});
  server.rest("POST", path(study, "/cancel"), "{}");
  std::string code = json_at(owner.socket().receive_text(), "code");
  // The owner's reply that asks for the trial may arrive after the cancellation. Then the server
  // first refuses this reply.
  if (code == "study_stopped") code = json_at(owner.socket().receive_text(), "code");
  EXPECT_EQ(code, "study_cancelled");
  TestOwner late(server, study);
  EXPECT_EQ(json_at(late.socket().receive_text(), "code"), "study_cancelled");
}

TEST(Owner, R44_TheQuotaHoldsForWhatIsAsked) {
  const TestServer server;
  const std::string& admin = server.secrets().admin_token;
  const auto people = server.rest_as(admin, "GET", "/api/me");
  const auto made =
      server.rest_as(admin, "POST", "/api/researchers", R"({"name":"grace","quota":{"trials":2}})");
  const std::int64_t study = server.submit_asked();
  EXPECT_EQ(people.status, 200);
  // The quota that applies is that of the person who claims the study. An administrator has no
  // quota.
  TestOwner owner(server, study);
  owner.receive();
  const auto me = server.rest("GET", "/api/me");
  const std::string limit = R"({"quota":{"trials":2}})";
  ASSERT_EQ(made.status, 201) << made.body;
  for (int id = 1; id < 9; ++id) {
    server.rest_as(admin, "POST", "/api/researchers/" + std::to_string(id), limit);
  }
  TestOwner limited(server, study);
  EXPECT_EQ(limited.receive().generation, 2);
  limited.asks({0, 1, 2});
  const std::string refused = limited.socket().receive_text();
  EXPECT_EQ(json_at(refused, "code"), "quota_exceeded");
  EXPECT_EQ(json_at(refused, "field"), "trials");
  limited.asks({0, 1});
  TestWorker worker(server, server.join());
  EXPECT_EQ(worker.await_lease().trial, TrialNumber{0});
}

}  // namespace
}  // namespace hyperflock::app
