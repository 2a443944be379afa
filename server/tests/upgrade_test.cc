// Starts the server on a state folder of release 0.2.0, whose devices compute meanwhile: what was
// acknowledged before is there, and results that were on their way count.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <span>
#include <vector>

#include "auth/tokens.h"
#include "blobs/sha256.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/schema.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using protocol::ResultAck;
using protocol::Verdict;

// The version of the schema that release 0.2.0 has.
constexpr std::size_t kRelease = 11;
constexpr std::int64_t kDevices = 8;
constexpr int kTrials = 400;
constexpr std::string_view kBundle = "a bundle";

// Writes the rows of such a server: each device has an accepted result, and computes another trial.
// Trial n has the attempt n + 1.
std::vector<TestDevice> make_old(const TestServer& server, const std::string& path) {
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
  storage::sqlite::Db db(path, storage::sqlite::Db::Mode::read_write);
  for (const auto& migration : storage::sqlite::migrations().first(kRelease))
    db.exec(migration.sql);
  db.exec("PRAGMA user_version = " + std::to_string(kRelease));
  db.exec("PRAGMA application_id = 1212574827");

  const ServeConfig& config = server.config();
  const FirstStart& secrets = server.secrets();
  db.exec("INSERT INTO principals (id, name, role) VALUES (1, 'root', 0), (2, 'ada', 1)");
  for (const auto& [principal, token] :
       {std::pair(1, secrets.admin_token), std::pair(2, secrets.researcher_token)}) {
    db.run(
        "INSERT INTO tokens (principal, token_hash, created_at, expires_at, revoked_at)"
        " VALUES (?, ?, 10, 0, 0)",
        principal, auth::token_hash(token));
  }
  db.run("INSERT INTO projects (id, name, created_at) VALUES (1, ?, 10)", config.project);
  db.exec("INSERT INTO members VALUES (2, 1)");
  db.run(
      "INSERT INTO codes (code_hash, project, label, created_by, created_at, expires_at,"
      " max_uses, uses, revoked_at) VALUES (?, ?, '', '', 10, 0, 0, 0, 0)",
      auth::token_hash(secrets.enrolment_code), config.project);

  const std::string sha256 = blobs::sha256_hex(kBundle);
  const auto spec =
      protocol::parse_study_spec(TestServer::spec(kTrials, "old", sha256, kBundle.size()));
  EXPECT_TRUE(spec.has_value());
  db.run(
      "INSERT INTO studies (id, owner, project, submit_key, direction, total, created_at, spec)"
      " VALUES (1, 'ada', ?, 'old', 1, ?, 12, ?)",
      config.project, kTrials, protocol::serialize_study_spec(*spec));
  db.run(
      "INSERT INTO study_progress (study, state, complete, pruned, failed, running, attempts,"
      " cursor, finished_at, best_trial, best_value) VALUES (1, 0, ?1, 0, 0, ?1, 2 * ?1, ?1, 0,"
      " 0, 0.5)",
      kDevices);
  db.run("INSERT INTO project_blobs VALUES (?, ?)", config.project, sha256);
  db.run("INSERT INTO study_blobs VALUES (1, ?)", sha256);
  db.run("INSERT INTO owner_blobs VALUES ('ada', ?, ?)", sha256,
         static_cast<std::int64_t>(kBundle.size()));

  std::vector<TestDevice> devices;
  for (std::int64_t i = 0; i < kDevices; ++i) {
    const TestDevice device{auth::new_device_id(), auth::new_token(auth::TokenKind::device_secret)};
    db.run("INSERT INTO devices VALUES (?, ?, ?, 'phone', 'chromium', 11, NULL)", device.id,
           config.project, auth::token_hash(device.secret));
    db.run(
        "INSERT INTO trials (study, number, state, seq, attempts, accepted_attempt,"
        " newest_attempt, seed, started_at, finished_at, params)"
        " VALUES (1, ?1, 1, ?1 + 1, 1, ?1 + 1, ?1 + 1, 7, 13, 14, '{}')",
        i);
    db.run(
        "INSERT INTO attempts (id, study, number, kind, state, verdict, result_seq, load_ms,"
        " run_ms, started_at, finished_at, device, device_class, engine, backend,"
        " result_values) VALUES (?1 + 1, 1, ?1, 0, 1, 0, 1, 1, 1, 13, 14, ?2, 'phone',"
        " 'chromium', 'cpu', x'000000000000e03f')",
        i, device.id);
    db.run("INSERT INTO points VALUES (?1 + 1, 1, 0.25), (?1 + 1, 2, 0.5)", i);
    db.run(
        "INSERT INTO trials (study, number, state, seq, attempts, newest_attempt, seed,"
        " started_at, finished_at, params) VALUES (1, ?1, 0, 0, 1, ?1 + 1, 7, 14, 0, '{}')",
        kDevices + i);
    db.run(
        "INSERT INTO attempts (id, study, number, kind, state, result_seq, load_ms, run_ms,"
        " started_at, finished_at, device, device_class, engine, backend, result_values)"
        " VALUES (?1 + 1, 1, ?1, 0, 0, 0, 0, 0, 14, 0, ?2, 'phone', 'chromium', '', x'')",
        kDevices + i, device.id);
    devices.push_back(device);
  }
  return devices;
}

TEST(Upgrade, OfAReleaseWithDevicesAtWorkLosesNothing) {
  TestServer server;
  server.upload(std::string(kBundle));
  std::vector<TestDevice> devices;
  const std::string database = server.config().state_dir + "/hyperflock.db";
  server.restart([&] { devices = make_old(server, database); });
  EXPECT_TRUE(std::filesystem::exists(database + ".v" + std::to_string(kRelease)));

  const std::string study = "/api/studies/1";
  EXPECT_EQ(json_at(server.rest("GET", study).body, "complete"), std::to_string(kDevices));
  // All devices come back at once, as after a restart, and go on with full speed.
  std::atomic<std::int64_t> acknowledged{0};
  std::vector<std::future<void>> at_work;
  for (std::int64_t i = 0; i < kDevices; ++i) {
    at_work.push_back(std::async(std::launch::async, [&, i] {
      const AttemptId before{i + 1};
      const AttemptId held{kDevices + i + 1};
      TestWorker worker(server, devices[static_cast<std::size_t>(i)], {held});
      EXPECT_EQ(worker.welcome()->attempts, std::vector{held});
      // The device did not hear that its first result had been accepted, so it sends it again.
      worker.send(TestWorker::result(before, 0.5, 1));
      EXPECT_EQ(worker.receive<ResultAck>().verdict, Verdict::accepted);
      worker.send(TestWorker::result(held, 0.25, 2));
      EXPECT_EQ(worker.receive<ResultAck>().verdict, Verdict::accepted);
      ++acknowledged;
      for (std::int64_t seq = 3; seq < 13; ++seq) {
        const double value = 0.125 / static_cast<double>(seq);
        worker.send(TestWorker::result(worker.await_lease().attempt, value, seq));
        EXPECT_EQ(worker.receive<ResultAck>().verdict, Verdict::accepted);
        ++acknowledged;
      }
    }));
  }
  for (std::future<void>& one : at_work) one.get();
  const std::string row = server.rest("GET", study).body;
  EXPECT_EQ(json_at(row, "complete"), std::to_string(kDevices + acknowledged));
  EXPECT_EQ(json_at(row, "best.value"), "0.5");
  EXPECT_EQ(json_at(server.rest("GET", study + "/trials/0").body, "trial"), "0");
}

}  // namespace
}  // namespace hyperflock::app
