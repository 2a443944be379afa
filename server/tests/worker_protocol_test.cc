// Tests protocol.md over real WebSockets: a device's session from its opening to the acknowledged
// result, and every bad input with its code, while another study goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <thread>

#include "app/machine/version.h"
#include "base/testing/patience.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using protocol::Ack;
using protocol::ErrorMessage;
using protocol::LeaseOffer;
using protocol::Refused;
using protocol::ResultAck;
using protocol::Verdict;
using protocol::Wait;

constexpr int kPolicy = 1008;

class WorkerProtocolTest : public ::testing::Test {
 protected:
  TestServer server_;
};

TEST_F(WorkerProtocolTest, JoinHelloReadyLeaseResultNextLease) {
  const std::int64_t study = server_.submit(2);
  TestWorker worker(server_, server_.join());
  ASSERT_TRUE(worker.welcome());
  EXPECT_EQ(worker.welcome()->lease_ms, 45'000);
  const protocol::Lease lease = worker.ready();
  EXPECT_EQ(to_int(lease.study), study);
  EXPECT_EQ(to_int(lease.trial), 0);
  EXPECT_EQ(lease.params, R"({"x":0})");
  EXPECT_EQ(lease.seed, protocol::trial_seed(7, 0));
  EXPECT_EQ(lease.entry, "module:function");
  EXPECT_EQ(lease.owner, "researcher");
  EXPECT_EQ(lease.total, 2);

  worker.send(TestWorker::result(lease.attempt, 0.5, 1, true));
  const auto ack = worker.receive<ResultAck>();
  EXPECT_EQ(ack.verdict, Verdict::accepted);
  ASSERT_TRUE(ack.lease);
  EXPECT_EQ(to_int(ack.lease->trial), 1);

  worker.send(TestWorker::result(ack.lease->attempt, 0.25, 2, true));
  EXPECT_EQ(worker.receive<ResultAck>().verdict, Verdict::accepted);
  EXPECT_EQ(worker.receive<Wait>().reason, protocol::WaitReason::no_work);

  EXPECT_TRUE(server_.reaches(study, "finished"));
  const auto row = server_.rest("GET", "/api/studies/" + std::to_string(study));
  EXPECT_EQ(json_at(row.body, "complete"), "2");
  EXPECT_EQ(json_at(row.body, "best.trial"), "0");
  const auto trial = server_.rest("GET", "/api/studies/" + std::to_string(study) + "/trials/0");
  EXPECT_EQ(json_at(trial.body, "points"), "[[0,0.25]]");
  EXPECT_EQ(json_at(trial.body, "device.backend"), "cpu");
  const std::string trials = "/api/studies/" + std::to_string(study) + "/trials";
  const auto page = server_.rest("GET", trials + "?points=1");
  EXPECT_EQ(json_at(page.body, "trials.0.points"), "[[0,0.25]]");
  EXPECT_EQ(json_at(page.body, "cursor"), json_at(row.body, "cursor"));
  EXPECT_THAT(server_.rest("GET", trials).body, ::testing::Not(::testing::HasSubstr("points")));
  EXPECT_EQ(json_at(trial.body, "attempts_list.0.state"), "accepted");
  EXPECT_EQ(json_at(trial.body, "attempts_list.0.software"),
            "hyperflock-server/" + std::string(kVersion) + " worker/1");
}

TEST_F(WorkerProtocolTest, R14_TheSameResultAgainGetsTheSameAnswer) {
  server_.submit(2);
  TestWorker worker(server_, server_.join());
  const auto lease = worker.ready();
  for (int i = 0; i < 2; ++i) {
    worker.send(TestWorker::result(lease.attempt, 0.5));
    EXPECT_EQ(worker.receive<ResultAck>().verdict, Verdict::accepted);
  }
}

TEST_F(WorkerProtocolTest, R26_AWaitingWorkerIsOfferedNewWork) {
  TestWorker worker(server_, server_.join());
  worker.send(protocol::Ready{});
  EXPECT_EQ(worker.receive<Wait>().reason, protocol::WaitReason::no_work);
  server_.submit(1);
  EXPECT_EQ(to_int(worker.receive<LeaseOffer>().lease.trial), 0);
}

TEST_F(WorkerProtocolTest, HeartbeatsReportsAndCallsAreAnswered) {
  server_.submit(1);
  TestWorker worker(server_, server_.join());
  const auto lease = worker.ready();
  worker.send(protocol::Heartbeat{{{lease.attempt, 3, protocol::PulseState::running}}});
  EXPECT_EQ(worker.receive<Ack>(), Ack{});
  worker.send(protocol::Report{lease.attempt, 1, {{0, 0.5}, {1, 0.25}}});
  EXPECT_EQ(worker.receive<Ack>(), (Ack{lease.attempt, 1}));
  worker.send(protocol::Call{.id = 5,
                             .attempt = lease.attempt,
                             .method = "should_prune",
                             .step = 1,
                             .points = {{2, 0.125}}});
  EXPECT_EQ(worker.receive<protocol::Reply>(), (protocol::Reply{5, false}));
  worker.send(protocol::Call{6, lease.attempt, "shell"});
  const auto error = worker.receive<ErrorMessage>();
  EXPECT_EQ(error.code, "unknown_method");
  EXPECT_EQ(error.id, 6);
  worker.send(protocol::Release{lease.attempt, 2, protocol::ReleaseReason::stopped});
  EXPECT_EQ(worker.receive<Ack>(), (Ack{lease.attempt, 2}));
}

TEST_F(WorkerProtocolTest, R16_AnAttemptOfNobody) {
  TestWorker worker(server_, server_.join());
  worker.send(TestWorker::result(AttemptId{12'345}, 1));
  const auto error = worker.receive<ErrorMessage>();
  EXPECT_EQ(error.code, "unknown_attempt");
  EXPECT_EQ(error.attempt, AttemptId{12'345});
}

TEST_F(WorkerProtocolTest, R8_ANewerSessionReplacesTheOlder) {
  const TestDevice device = server_.join();
  TestWorker first(server_, device);
  TestWorker second(server_, device);
  EXPECT_EQ(first.socket().wait_close(), 4001);
}

TEST_F(WorkerProtocolTest, R22_ACleanCloseReleasesAtOnce) {
  server_.submit(1);
  TestWorker first(server_, server_.join());
  const auto lease = first.ready();
  TestWorker second(server_, server_.join());
  second.send(protocol::Ready{});
  EXPECT_EQ(second.receive<Wait>().reason, protocol::WaitReason::no_work);
  first.socket().close(1000);
  const auto offered = second.receive<LeaseOffer>();
  EXPECT_EQ(offered.lease.trial, lease.trial);
  EXPECT_NE(offered.lease.attempt, lease.attempt);
}

TEST_F(WorkerProtocolTest, R21_ALostConnectionKeepsItsLease) {
  server_.submit(2);
  const TestDevice device = server_.join();
  std::optional<TestWorker> worker(std::in_place, server_, device);
  const auto lease = worker->ready();
  worker->socket().socket().cut();
  worker.emplace(server_, device, std::vector{lease.attempt});
  EXPECT_EQ(worker->welcome()->attempts, std::vector{lease.attempt});
  worker->send(TestWorker::result(lease.attempt, 1));
  EXPECT_EQ(worker->receive<ResultAck>().verdict, Verdict::accepted);
}

TEST_F(WorkerProtocolTest, R20_ASilentDeviceLosesItsTrialToAnother) {
  TestServer quick([](ServeConfig& config) {
    config.lease_ms = 1'000;
    config.heartbeat_ms = 300;
  });
  const std::int64_t study = quick.submit(1);
  TestWorker silent(quick, quick.join());
  const auto lost = silent.ready();
  TestWorker other(quick, quick.join());
  const auto offered = other.await_lease();
  EXPECT_EQ(offered.trial, lost.trial);
  other.send(TestWorker::result(offered.attempt, 0.5));
  EXPECT_EQ(other.receive<ResultAck>().verdict, Verdict::accepted);
  // By R13, the late result is stored as evidence.
  silent.send(TestWorker::result(lost.attempt, 0.75));
  EXPECT_EQ(silent.receive<ResultAck>().verdict, Verdict::evidence);
  const auto row = quick.rest("GET", "/api/studies/" + std::to_string(study));
  EXPECT_EQ(json_at(row.body, "complete"), "1");
  EXPECT_EQ(json_at(row.body, "attempts"), "2");
}

TEST_F(WorkerProtocolTest, CancelRevokesWhatRuns) {
  const std::int64_t study = server_.submit(1);
  TestWorker worker(server_, server_.join());
  const auto lease = worker.ready();
  EXPECT_EQ(server_.rest("POST", "/api/studies/" + std::to_string(study) + "/cancel").status, 200);
  const auto revoke = worker.receive<protocol::Revoke>();
  EXPECT_EQ(revoke.attempt, lease.attempt);
  EXPECT_EQ(revoke.code, protocol::RevokeCode::cancelled);
}

TEST_F(WorkerProtocolTest, WorkersAreListed) {
  server_.submit(1);
  TestWorker worker(server_, server_.join());
  worker.ready();
  const auto list = server_.rest("GET", "/api/workers");
  EXPECT_EQ(json_at(list.body, "workers.0.state"), "computing");
  EXPECT_EQ(json_at(list.body, "workers.0.class"), "desktop");
  EXPECT_EQ(json_at(list.body, "workers.0.trial"), "0");
}

// ---- what is refused

TEST_F(WorkerProtocolTest, R6_HelloRefusals) {
  const TestDevice device = server_.join();
  const auto refusal = [this](const protocol::ClientMessage& message) {
    TestWorker worker(server_);
    worker.send(message);
    const std::string code = worker.receive<Refused>().code;
    EXPECT_EQ(worker.socket().wait_close(), kPolicy) << code;
    return code;
  };
  auto hello = std::get<protocol::Hello>(TestWorker::hello(device));
  hello.protocol = 0;
  EXPECT_EQ(refusal(hello), "client_too_old");
  hello.protocol = 2;
  EXPECT_EQ(refusal(hello), "server_too_old");
  EXPECT_EQ(refusal(TestWorker::hello({device.id, "hfd_wrong"})), "bad_token");
  EXPECT_EQ(refusal(TestWorker::hello({"d_nobody", device.secret})), "bad_token");
  EXPECT_EQ(refusal(protocol::Ready{}), "hello_expected");
  protocol::Hello researcher;
  researcher.protocol = 1;
  researcher.role = protocol::Role::researcher;
  researcher.token = server_.secrets().researcher_token;
  researcher.agent = "test";
  EXPECT_EQ(refusal(researcher), "wrong_role");
}

TEST_F(WorkerProtocolTest, R6_HelloMustComeInTime) {
  TestServer hurried([](ServeConfig& config) { config.hello_ms = 50; });
  TestWorker worker(hurried);
  EXPECT_EQ(worker.receive<Refused>().code, "hello_timeout");
  EXPECT_EQ(worker.socket().wait_close(), kPolicy);
}

TEST_F(WorkerProtocolTest, R1_AFrameTooLarge) {
  TestWorker worker(server_, server_.join());
  worker.socket().send(std::string((std::size_t{1} << 20) + 1, ' '));
  EXPECT_EQ(worker.receive<ErrorMessage>().code, "frame_too_large");
  EXPECT_EQ(worker.socket().wait_close(), 1009);
}

TEST_F(WorkerProtocolTest, R1_AFrameTooLargeInFragments) {
  TestWorker worker(server_, server_.join());
  const std::string part(400'000, ' ');
  worker.socket().send_frame(net::Opcode::text, part, false);
  worker.socket().send_frame(net::Opcode::continuation, part, false);
  worker.socket().send_frame(net::Opcode::continuation, part, false);
  EXPECT_EQ(worker.receive<ErrorMessage>().code, "frame_too_large");
  EXPECT_EQ(worker.socket().wait_close(), 1009);
}

TEST_F(WorkerProtocolTest, R1_ALargeFrameWithinTheLimitIsRead) {
  server_.submit(1);
  TestWorker worker(server_, server_.join());
  const std::string ready = R"({"type":"ready"})";
  worker.socket().send(ready + std::string((std::size_t{1} << 20) - ready.size(), ' '));
  EXPECT_EQ(to_int(worker.receive<LeaseOffer>().lease.trial), 0);
}

TEST_F(WorkerProtocolTest, R1_BinaryFramesAreMalformed) {
  TestWorker worker(server_, server_.join());
  worker.socket().send_frame(net::Opcode::binary, R"({"type":"ready"})");
  EXPECT_EQ(worker.receive<ErrorMessage>().code, "malformed");
}

TEST_F(WorkerProtocolTest, R2_R3_ErrorsKeepTheConnection) {
  server_.submit(1);
  TestWorker worker(server_, server_.join());
  const auto error_of = [&worker](const char* text) {
    worker.socket().send(text);
    return worker.receive<ErrorMessage>();
  };
  EXPECT_EQ(error_of("{").code, "malformed");
  EXPECT_EQ(error_of(R"({"type":"dance"})").code, "unknown_type");
  EXPECT_EQ(error_of(R"({"type":"watch","study":1,"after":0})").code, "unknown_type");
  const auto missing = error_of(R"({"type":"result","attempt":1})");
  EXPECT_EQ(missing.code, "missing_field");
  EXPECT_EQ(missing.field, "seq");
  EXPECT_EQ(error_of(R"({"type":"report","attempt":1,"seq":1,"points":[[0,1e999]]})").code,
            "bad_number");
  EXPECT_EQ(to_int(worker.ready().trial), 0);
}

TEST_F(WorkerProtocolTest, R3_ARefusedCallIsAnsweredWithItsId) {
  TestWorker worker(server_, server_.join());
  const auto refused = [&worker](const char* text) {
    worker.socket().send(text);
    return worker.receive<ErrorMessage>();
  };
  const auto bad = refused(R"({"type":"call","id":7,"attempt":0,"method":"should_prune"})");
  EXPECT_EQ(bad.code, "bad_number");
  EXPECT_EQ(bad.field, "attempt");
  EXPECT_EQ(bad.id, 7);
  EXPECT_EQ(refused(R"({"type":"call","id":8})").id, 8);
  EXPECT_EQ(refused(R"({"type":"call","id":-8})").id, std::nullopt);
  EXPECT_EQ(refused(R"({"type":"report","id":9})").id, std::nullopt);
  EXPECT_EQ(refused(R"({"type":"call","id":9)").id, std::nullopt);
}

TEST_F(WorkerProtocolTest, R3_ARefusedResultIsAnsweredWithItsNumbers) {
  server_.submit(1);
  TestWorker worker(server_, server_.join());
  const AttemptId attempt = worker.ready().attempt;
  const auto refused = [&worker](std::string_view type, std::string_view fields) {
    worker.socket().send(R"({"type":")" + std::string(type) + R"(","attempt":1,)" +
                         std::string(fields) + "}");
    return worker.receive<ErrorMessage>();
  };
  const auto bad = refused("result", R"("seq":3,"outcome":"complete","values":[])");
  EXPECT_EQ(bad.field, "values");
  EXPECT_EQ(bad.attempt, attempt);
  EXPECT_EQ(bad.seq, 3);
  EXPECT_EQ(refused("report", R"("seq":4,"points":[[0,"a"]])").seq, 4);
  EXPECT_EQ(refused("release", R"("seq":5,"reason":"bored")").seq, 5);
  EXPECT_EQ(refused("result", R"("seq":0)").seq, std::nullopt);
  EXPECT_EQ(refused("result", R"("seq":0)").attempt, std::nullopt);
  EXPECT_EQ(refused("output", R"("seq":6,"lines":[7])").seq, std::nullopt);
}

TEST_F(WorkerProtocolTest, R1_AKeyThatComesTwiceIsMalformed) {
  TestWorker worker(server_, server_.join());
  worker.socket().send(R"({"type":"ready","more":{"a":[{"b":1},{"b":1,"b":2}]}})");
  const auto error = worker.receive<ErrorMessage>();
  EXPECT_EQ(error.code, "malformed");
  EXPECT_EQ(error.field, "more.a[1].b");
}

TEST_F(WorkerProtocolTest, R3_TenErrorsEndTheConnection) {
  TestWorker worker(server_, server_.join());
  for (int i = 0; i < 10; ++i) worker.socket().send("{");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(worker.receive<ErrorMessage>().code, "malformed");
  EXPECT_EQ(worker.socket().wait_close(), kPolicy);
}

TEST_F(WorkerProtocolTest, BadInputBesideAStudyThatFinishes) {
  const std::int64_t study = server_.submit(20);
  const TestDevice good = server_.join();
  const TestDevice bad = server_.join();
  auto vandal = std::async(std::launch::async, [this, &bad] {
    for (int i = 0; i < 10; ++i) {
      TestWorker worker(server_, bad);
      worker.socket().send("][");
      worker.socket().send_frame(net::Opcode::binary, "\xff");
      worker.socket().send(R"({"type":"result","attempt":-1})");
      worker.socket().socket().cut();
    }
  });
  TestWorker worker(server_, good);
  auto lease = worker.ready();
  for (int i = 0; i < 20; ++i) {
    worker.send(TestWorker::result(lease.attempt, i, i + 1, true));
    auto ack = worker.receive<ResultAck>();
    EXPECT_EQ(ack.verdict, Verdict::accepted);
    if (ack.lease) lease = *ack.lease;
  }
  vandal.get();
  EXPECT_TRUE(server_.reaches(study, "finished"));
  const auto row = server_.rest("GET", "/api/studies/" + std::to_string(study));
  EXPECT_EQ(json_at(row.body, "complete"), "20");
  EXPECT_EQ(json_at(row.body, "attempts"), "20");
}

TEST_F(WorkerProtocolTest, APeerThatOnlySendsIsHeldBack) {
  constexpr std::size_t kQueueBytes = 4'096;
  TestServer strict([](ServeConfig& config) {
    config.queue_limit_bytes = kQueueBytes;
    config.slow_peer_ms = kTestLimitMs;
  });
  TestWorker worker(strict, strict.join());
  worker.socket().socket().shrink_send_buffer(65'536);
  std::string frames;
  const std::string frame = protocol::serialize(protocol::ClientMessage(protocol::Heartbeat{}));
  for (int i = 0; i < 1'000; ++i) net::append_frame(frames, net::Opcode::text, frame);
  // The answers to this peer fill all buffers, so the server stops reading. Then this process can
  // send nothing more. The kernel decides how large the buffers are.
  std::size_t sent = 0;
  const int descriptor = worker.socket().socket().descriptor();
  for (int quiet = 0; quiet < 10;) {
    const std::size_t at = sent % frames.size();
    const ssize_t taken =
        ::send(descriptor, frames.data() + at, frames.size() - at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (taken > 0) {
      sent += static_cast<std::size_t>(taken);
      quiet = 0;
      continue;
    }
    ASSERT_LE(strict.metric("hyperflock_websocket_queue_bytes"), kQueueBytes);
    ++quiet;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(strict.metric("hyperflock_slow_peers_closed_total"), 0);
  // The server serves other peers meanwhile. The peer continues as soon as it reads its answers.
  TestWorker other(strict, strict.join());
  other.send(protocol::Heartbeat{});
  other.receive<Ack>();
  for (std::size_t i = 0; i < sent / (frames.size() / 1'000); ++i) worker.receive<Ack>();
}

TEST_F(WorkerProtocolTest, R2_UnknownFieldsAreIgnored) {
  server_.submit(1);
  TestWorker worker(server_, server_.join());
  worker.socket().send(R"({"type":"ready","later_version":{"a":[1,2,3]}})");
  EXPECT_EQ(to_int(worker.receive<LeaseOffer>().lease.trial), 0);
}

// Tests a device that sends long messages without end, each of which is allowed. Parsing all of
// them would take too much of the server's time.
TEST_F(WorkerProtocolTest, R1_BytesBeyondADevicesRateAreNotParsed) {
  server_.restart_with([](ServeConfig& config) {
    config.message_kib_burst = 2'048;
    config.message_kib_per_s = 0.001;
  });
  const std::string large =
      R"({"type":"heartbeat","attempts":[],"more":")" + std::string(900 * 1'024, 'x') + "\"}";
  const TestDevice device = server_.join();
  {
    TestWorker worker(server_, device);
    for (int i = 0; i < 2; ++i) {
      worker.socket().send(large);
      worker.receive<Ack>();
    }
    worker.socket().send(large);
    EXPECT_EQ(worker.receive<ErrorMessage>().code, "message_quota");
    EXPECT_EQ(worker.socket().wait_close(), 1013);
  }
  // A new connection does not restore the device's quota, but short messages are still accepted.
  TestWorker again(server_, device);
  again.send(protocol::Ready{});
  again.receive<Wait>();
  again.socket().send(large);
  EXPECT_EQ(again.receive<ErrorMessage>().code, "message_quota");
  EXPECT_EQ(again.socket().wait_close(), 1013);
  TestWorker other(server_, server_.join());
  other.socket().send(large);
  other.receive<Ack>();
}

TEST_F(WorkerProtocolTest, R1_MessagesThatComeTooFastWaitAndAreNotLost) {
  server_.restart_with([](ServeConfig& config) { config.messages_per_s = 20; });  // one in 50 ms
  TestWorker worker(server_, server_.join());
  const auto begun = std::chrono::steady_clock::now();
  constexpr int kMessages = 6;
  for (int i = 0; i < kMessages; ++i) worker.send(protocol::Heartbeat{});
  for (int i = 0; i < kMessages; ++i) worker.receive<Ack>();
  // The first two are read at once. The clock of the server has whole milliseconds.
  EXPECT_GE(std::chrono::steady_clock::now() - begun,
            std::chrono::milliseconds(50 * (kMessages - 2) - 5));
}

}  // namespace
}  // namespace hyperflock::app
