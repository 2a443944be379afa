// Tests that every documented error code is raised by a running server or by one that cannot start,
// and that the documents list no other. (tests/house_rules.py compares the documents with the
// sources.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>

#include "app/config.h"
#include "app/machine/descriptors.h"
#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "cli/credentials.h"
#include "cli/http_client.h"
#include "paths.h"
#include "storage/postgres/open.h"
#include "storage/postgres/testing/test_postgres.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"
#include "storage/testing/faulty_storage.h"
#include "storage/testing/scratch_database.h"
#include "tests/support/backup_codes.h"
#include "tests/support/move_codes.h"
#include "tests/support/pack_codes.h"
#include "tests/support/seen_codes.h"
#include "tests/support/spare_codes.h"

namespace hyperflock::storage {

// As in a program that is built without PostgreSQL (postgres/absent.cc).
Result<std::unique_ptr<Storage>> open_absent_storage(PostgresSettings settings, WallClock clock,
                                                     TakenShard* taken);

}  // namespace hyperflock::storage

namespace hyperflock::app {
namespace {

// ---- a way to raise each code

using Provoke = std::string (*)();

const std::map<std::string, Provoke>& provocations() {
  static const std::map<std::string, Provoke> kAll = with_packs(with_moves(with_passphrases({
      // frames and fields
      {"malformed", [] { return told("{"); }},
      {"frame_too_large", [] { return told(std::string((std::size_t{1} << 20) + 1, ' ')); }},
      {"unknown_type", [] { return told(R"({"type":"dance"})"); }},
      {"missing_field", [] { return told(R"({"type":"release"})"); }},
      {"bad_field", [] { return told(R"({"type":"heartbeat","attempts":1})"); }},
      {"bad_number", [] { return told(R"({"type":"report","attempt":0})"); }},
      {"too_long",
       [] {
         return told(R"({"type":"call","id":1,"attempt":1,"method":")" + std::string(257, 'x') +
                     R"("})");
       }},
      {"too_many",
       [] {
         std::string pulses;
         for (int i = 1; i <= 17; ++i)
           pulses += R"({"attempt":1,"progress":0,"state":"running"})" + std::string(i < 17, ',');
         return told(R"({"type":"heartbeat","attempts":[)" + pulses + "]}");
       }},
      // the first messages
      {"hello_expected", [] { return refused(protocol::Ready{}); }},
      {"hello_timeout",
       [] {
         const TestServer hurried([](ServeConfig& config) { config.hello_ms = 50; });
         TestWorker worker(hurried);
         return code_received(worker);
       }},
      {"client_too_old", [] { return refused(hello_of_version(0)); }},
      {"server_too_old", [] { return refused(hello_of_version(2)); }},
      {"bad_token", [] { return refused(hello_of_version(1)); }},
      {"banned",
       [] {
         const TestServer server;
         const TestDevice device = server.join();
         server.rest_as(server.secrets().admin_token, "POST",
                        "/api/devices/" + device.id + "/revoke");
         TestWorker worker(server);
         worker.send(TestWorker::hello(device));
         return code_received(worker);
       }},
      {"full",
       [] {
         const TestServer strict([](ServeConfig& config) { config.max_connections = 1; });
         const TestWorker worker(strict, strict.join());
         TestSocket second(strict.compute());
         return code_of(http_raw(second, ""));
       }},
      {"too_many_connections",
       [] {
         const TestServer strict(
             [](ServeConfig& config) { config.max_connections_per_address = 1; });
         TestSocket first(strict.console());
         http_raw(first, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
         TestSocket second(strict.console());
         return code_of(http_raw(second, ""));
       }},
      {"bad_forwarded",
       [] {
         const TestServer behind(
             [](ServeConfig& config) { config.trusted_proxies = {"127.0.0.1"}; });
         return code_of(
             http_request(behind.compute(), "GET", "/healthz", {{"X-Forwarded-For", "somebody"}}));
       }},
      {"bad_proxy_header",
       [] {
         return sent_raw(
             [](const TestServer&) { return "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"; });
       }},
      {"cross_origin",
       [] {
         const TestServer server;
         return code_of(http_request(server.console(), "POST", "/api/register",
                                     {{"Origin", "https://evil.example"}}, "{}"));
       }},
      {"not_json",
       [] {
         const TestServer server;
         return code_of(http_request(server.console(), "POST", "/api/register", {}, "{}"));
       }},
      {"message_too_slow",
       [] {
         const TestServer strict([](ServeConfig& config) { config.slow_message_ms = 50; });
         TestWorker worker(strict, strict.join());
         worker.socket().send_frame(net::Opcode::text, "{", false);
         return code_received(worker);
       }},
      {"few_descriptors", [] { return fit_budgets(10, {1, 1}).error().code; }},
      {"wrong_role",
       [] {
         protocol::Hello researcher;
         researcher.protocol = protocol::kProtocolVersion;
         researcher.role = protocol::Role::researcher;
         return refused(researcher);
       }},
      {"too_many_requests",
       [] {
         const TestServer server([](ServeConfig& config) { config.waiting_requests = 0; });
         return code_of(server.rest("GET", "/api/studies"));
       }},
      {"rate_limited",
       [] {
         const TestServer strict([](ServeConfig& config) {
           config.joins_burst = 1;
           config.joins_per_s = 0.001;
         });
         strict.join();
         return code_of(http_request(strict.compute(), "POST", "/api/join", {}, join_body(strict)));
       }},
      // attempts
      {"unknown_attempt",
       [] { return told(R"({"type":"report","attempt":9,"seq":1,"points":[]})"); }},
      {"unknown_method",
       [] { return told(R"({"type":"call","id":1,"attempt":9,"method":"suggest_dance"})"); }},
      {"series_count",
       [] {
         return logged([](TestWorker& worker, AttemptId attempt) {
           for (const char* names : {"a", "b"}) {
             protocol::Report report{attempt, names[0] - 'a' + 1, {}};
             protocol::Series& series = report.series.emplace();
             series.steps = {0};
             for (int i = 0; i < 129; ++i)
               series.columns.push_back({names + std::to_string(i), {1.0}});
             worker.send(report);
           }
           worker.receive<protocol::Ack>();
         });
       }},
      {"series_size",
       [] {
         return logged([](TestWorker& worker, AttemptId attempt) {
           constexpr std::int64_t kColumns = 250;
           constexpr std::int64_t kRows = 1'000;
           for (std::int64_t seq = 1; seq <= 5; ++seq) {
             protocol::Report report{attempt, seq, {}};
             protocol::Series& series = report.series.emplace();
             for (std::int64_t i = 0; i < kRows; ++i) series.steps.push_back(seq * kRows + i);
             for (std::int64_t i = 0; i < kColumns; ++i) {
               series.columns.push_back({std::to_string(i), {}});
               series.columns.back().values.assign(kRows, 0.0);
             }
             worker.send(report);
             if (seq < 5) worker.receive<protocol::Ack>();
           }
         });
       }},
      {"too_many_leases",
       [] {
         const TestServer server;
         server.submit(2);
         TestWorker worker(server, server.join());
         worker.ready();
         worker.send(protocol::Ready{});
         return code_received(worker);
       }},
      // REST
      {"bad_request",
       [] { return sent_raw([](const TestServer&) { return "nonsense\r\n\r\n"; }); }},
      {"headers_too_large", large_head},
      {"length_required",
       [] {
         return sent_raw([](const TestServer& server) {
           return "POST /api/studies HTTP/1.1\r\nHost: x" + bearer(server) + "\r\n";
         });
       }},
      {"unauthorized", [] { return code_of(TestServer().rest_as("hfr_no", "GET", "/api/me")); }},
      {"forbidden", [] { return answered("POST", "/api/researchers"); }},
      {"not_found", [] { return answered("GET", "/nothing"); }},
      {"bad_link", forged_link},
      {"link_expired", expired_link},
      {"method_not_allowed", [] { return answered("PUT", "/api/studies"); }},
      {"body_too_large",
       [] { return answered("POST", "/api/studies", std::string(600'000, ' ')); }},
      {"hash_mismatch",
       [] { return answered("PUT", "/api/blobs/" + std::string(64, '0'), "other bytes"); }},
      {"blob_too_large",
       [] {
         const TestServer small([](ServeConfig& config) { config.max_blob_bytes = 10; });
         return code_of(small.rest("PUT", "/api/blobs/" + std::string(64, '0'), "eleven bytes"));
       }},
      {"checkpoint_too_large", [] { return saved(std::string("PK\x03\x04 too much", 13)); }},
      {"checkpoint_malformed", [] { return saved("no zip"); }},
      {"checkpoint_quota",
       [] {
         const Saving saving;
         std::string code;
         for (int i = 0; i < 50 && code != "checkpoint_quota"; ++i) code = saving.save("no zip");
         return code;
       }},
      {"artifact_too_large", [] { return Saving().upload("a", "eleven bytes"); }},
      {"artifact_exists",
       [] {
         const Saving saving;
         saving.upload("a", "bytes");
         return saving.upload("a", "others");
       }},
      {"artifact_no_room",
       [] {
         Saving saving;
         saving.server.restart_with(
             [](ServeConfig& config) { config.min_free_bytes = std::uint64_t{1} << 50; });
         return saving.upload("a", "bytes");
       }},
      {"device_share",
       [] {
         const Saving saving(std::uint64_t{4} << 20);
         saving.server.rest_as(saving.server.secrets().admin_token, "POST", "/api/researchers/2",
                               R"({"quota":{"bytes":4194304}})");
         return saving.upload("a", std::string(std::size_t{3} << 20, 'x'));
       }},
      {"too_many_devices",
       [] {
         TestServer server([](ServeConfig& config) { config.max_devices = 1; });
         server.join();
         return code_of(http_request(server.compute(), "POST", "/api/join", {}, join_body(server)));
       }},
      {"message_quota",
       [] {
         TestServer server([](ServeConfig& config) {
           config.message_kib_burst = 2'048;
           config.message_kib_per_s = 0.001;
         });
         TestWorker worker(server, server.join());
         const std::string frame =
             R"({"type":"heartbeat","attempts":[],"more":")" + std::string(1'000'000, 'x') + "\"}";
         std::string answer;
         for (int i = 0; i < 3; ++i) {
           worker.socket().send(frame);
           answer = worker.socket().receive_text();
         }
         return json_at(answer, "code");
       }},
      {"points_quota",
       [] {
         return logged([](TestWorker& worker, AttemptId attempt) {
           // Missing values count against the budget as others do, but their text is short. So
           // twelve messages use up the budget. On a busy machine it grows meanwhile, and more are
           // needed.
           protocol::Series series;
           for (int step = 0; step < 1'000; ++step) series.steps.push_back(step);
           for (int i = 0; i < 180; ++i)
             series.columns.push_back(
                 {std::to_string(i), std::vector<std::optional<double>>(1'000)});
           for (int i = 1; i <= 12; ++i) {
             protocol::Report report{attempt, i, {}};
             report.series = series;
             worker.send(report);
             const std::string answer = worker.socket().receive_text();
             if (json_at(answer, "type") == "error") break;
           }
           worker.receive<protocol::Ack>();
           worker.send(protocol::Report{attempt, 101, {{1, 0.5}}, series});
         });
       }},
      {"no_room",
       [] {
         const TestServer server(
             [](ServeConfig& config) { config.min_free_bytes = std::uint64_t{1} << 50; });
         return code_of(server.rest("PUT", "/api/blobs/" + blobs::sha256_hex("x"), "x"));
       }},
      {"disk_full",
       [] {
         const TestServer server(
             [](ServeConfig& config) { config.reserve_bytes = std::uint64_t{1} << 40; });
         return code_of(http_request(server.console(), "GET", "/readyz"));
       }},
      {"artifact_quota",
       [] {
         const Saving saving;
         std::string code;
         for (int i = 0; i < 50 && code != "artifact_quota"; ++i)
           code = saving.upload("a", "bytes");
         return code;
       }},
      {"artifact_count",
       [] {
         Saving saving;
         saving.fill();
         return saving.upload("a", "bytes");
       }},
      {"unknown_artifact",
       [] {
         const Saving saving;
         return code_of(saving.server.rest("GET", "/api/studies/1/artifacts/a"));
       }},
      {"unknown_blob",
       [] {
         return answered("POST", "/api/studies", TestServer::spec(1, "k", std::string(64, '0'), 1));
       }},
      {"bad_enrolment_code",
       [] {
         const TestServer server;
         return code_of(
             http_request(server.compute(), "POST", "/api/project", {}, R"({"code":"no"})"));
       }},
      {"unknown_study", [] { return answered("GET", "/api/studies/9"); }},
      {"not_asked",
       [] {
         const TestServer server;
         TestOwner owner(server, server.submit(1));
         return json_at(owner.socket().receive_text(), "code");
       }},
      {"not_owner",
       [] {
         return owner_told(
             [](TestOwner& owner) { owner.send(protocol::OwnerReply{.study = StudyId{9}}); });
       }},
      {"trial_exists", [] { return owner_told([](TestOwner& owner) { owner.asks({0, 0}); }); }},
      {"study_stopped",
       [] { return owner_told([](TestOwner& owner) { owner.says({.finish = true}); }); }},
      {"suggest_mismatch",
       [] {
         Asking asking;
         asking.suggest("{}");
         asking.owner.answers(asking.owner.item<protocol::SuggestCall>().id, "1");
         asking.worker.receive<protocol::Reply>();
         asking.suggest("[]");
         return code_received(asking.worker);
       }},
      {"no_owner",
       [] {
         Asking asking(1);
         asking.owner.socket().close(1000);
         asking.suggest("{}");
         return code_received(asking.worker);
       }},
      {"owner_error",
       [] {
         Asking asking;
         asking.suggest("{}");
         const std::int64_t id = asking.owner.item<protocol::SuggestCall>().id;
         asking.owner.says({.answers = {{id, "", "ValueError", "low > high"}}});
         return code_received(asking.worker);
       }},
      {"runtime_mismatch",
       [] {
         const ScratchFolder folder;
         std::filesystem::create_directories(folder.file("runtime"));
         std::ofstream(folder.file("runtime/index.json"))
             << R"({"runtime":")" << std::string(64, 'a')
             << R"(","pieces":{"chainer-5.4.0":{"version":"5.4.0"}}})";
         const TestServer server(
             [&](ServeConfig& config) { config.runtime_dir = folder.file("runtime"); });
         return code_of(
             server.rest("POST", "/api/studies", TestServer::spec(1, "k", server.upload("b"), 1)));
       }},
      {"no_complete_trial",
       [] {
         const TestServer server;
         const std::string study = "/api/studies/" + std::to_string(server.submit_asked());
         return code_of(server.rest("GET", study + "/best"));
       }},
      {"no_feasible_trial",
       [] {
         const TestServer server;
         server.rest("POST", "/api/studies", TestServer::spec(1, "k", server.upload("b"), 1));
         TestWorker worker(server, server.join());
         auto result = TestWorker::result(worker.ready().attempt, 0.5);
         result.attrs = R"({"system":{"constraints:a":1}})";
         worker.send(result);
         worker.receive<protocol::ResultAck>();
         return code_of(server.rest("GET", "/api/studies/1/best"));
       }},
      {"not_a_grid",
       [] {
         const TestServer server;
         const std::string study = "/api/studies/" + std::to_string(server.submit_asked());
         return code_of(server.rest("POST", study + "/replay", "{}"));
       }},
      {"unknown_device",
       [] {
         const TestServer server;
         return code_of(
             server.rest_as(server.secrets().admin_token, "POST", "/api/devices/d_nobody/revoke"));
       }},
      {"study_cancelled",
       [] {
         const TestServer server;
         const std::string study = "/api/studies/" + std::to_string(server.submit(1));
         server.rest("POST", study + "/cancel");
         return code_of(server.rest("POST", study + "/replay"));
       }},
      {"no_failed_trial",
       [] {
         const TestServer server;
         const std::string study = "/api/studies/" + std::to_string(server.submit(1));
         const std::string sha256(64, 'a');
         return code_of(server.rest(
             "POST", study + "/replay",
             R"({"code":{"entry":"m:f","bundle":{"sha256":")" + sha256 + R"(","bytes":1}}})"));
       }},
      {"space_changed",
       [] {
         const TestServer server;
         const std::string study = "/api/studies/" + std::to_string(server.submit(2));
         return code_of(
             server.rest("POST", study + "/extend", R"({"space":[{"name":"x","values":[1,2]}]})"));
       }},
      {"study_running",
       [] {
         const TestServer server;
         const std::string study = "/api/studies/" + std::to_string(server.submit(1));
         return code_of(server.rest("DELETE", study));
       }},
      {"study_exists",
       [] {
         const TestServer server;
         server.submit(1, "k");
         return code_of(server.rest(
             "POST", "/api/studies",
             TestServer::spec(2, "k", server.upload("a bundle"), std::string("a bundle").size())));
       }},
      {"bad_range",
       [] {
         return study_in(R"([{"name":"x","range":{"low":1,"high":0}}],"kind":"random","trials":1)");
       }},
      {"bad_webhook", [] { return hooked("https://0x7f.1/"); }},
      {"webhook_refused", [] { return hooked("https://[::ffff:127.0.0.1]/"); }},
      {"webhooks_off",
       [] {
         return hooked("https://a.example/", [](ServeConfig& config) { config.webhooks = false; });
       }},
      {"empty_space", [] { return study_in(R"([{"name":"x","values":[]}])"); }},
      {"space_too_large",
       [] {
         std::string values = "0";
         for (int i = 1; i < 1'000; ++i) values += "," + std::to_string(i);
         std::string space;
         for (int i = 0; i < 6; ++i)
           space += (i == 0 ? "" : ",") + std::string(R"({"name":"x)") + std::to_string(i) +
                    R"(","values":[)" + values + "]}";
         return study_in("[" + space + "]");
       }},
      // people
      {"approval_pending",
       [] {
         const TestServer server;
         std::string token;
         registered(server, "grace", &token);
         return code_of(server.rest_as(token, "GET", "/api/me"));
       }},
      {"approval_refused", [] { return told_after(R"({"state":"refused"})"); }},
      {"suspended", [] { return told_after(R"({"state":"suspended"})"); }},
      {"registration_closed",
       [] {
         const TestServer closed([](ServeConfig& config) { config.open_registration = false; });
         return registered(closed, "grace", nullptr);
       }},
      {"name_taken",
       [] { return by_admin("POST", "/api/researchers", R"({"name":"researcher"})"); }},
      {"name_confusable",
       [] { return by_admin("POST", "/api/researchers", R"({"name":"Admin"})"); }},
      {"bad_name", [] { return by_admin("POST", "/api/researchers", R"({"name":"a\u202eb"})"); }},
      {"last_admin",
       [] { return by_admin("POST", "/api/researchers/1", R"({"state":"suspended"})"); }},
      {"quota_exceeded",
       [] {
         return told_after(R"({"quota":{"bytes":1}})", "PUT", "/api/blobs/" + std::string(64, '0'));
       }},
      {"project_frozen",
       [] {
         const TestServer server;
         server.rest_as(server.secrets().admin_token, "POST", "/api/projects/1/freeze");
         return submitted_to(server);
       }},
      {"bundle_barred",
       [] {
         const TestServer server;
         server.rest_as(server.secrets().admin_token, "POST",
                        "/api/barred/" + blobs::sha256_hex("a bundle"));
         return submitted_to(server);
       }},
      {"owner_suspended",
       [] {
         const TestServer server;
         const std::string study = std::to_string(server.submit(1));
         const std::string& admin = server.secrets().admin_token;
         server.rest_as(admin, "POST", "/api/researchers/2", R"({"state":"suspended"})");
         return code_of(server.rest_as(admin, "POST", "/api/studies/" + study + "/replay"));
       }},
      {"ceiling_exceeded",
       [] {
         const TestServer server;
         server.rest_as(server.secrets().admin_token, "POST", "/api/ceilings",
                        R"({"scope":"server","data_bytes":1})");
         return submitted_to(server);
       }},
      {"not_waiting",
       [] {
         const TestServer server;
         const std::string study = std::to_string(server.submit(1));
         return code_of(server.rest_as(server.secrets().admin_token, "POST",
                                       "/api/studies/" + study + "/approve"));
       }},
      {"unknown_salt",
       [] {
         const std::string hash(64, '0');
         return answered("POST", "/api/blobs/" + hash + "/proof",
                         R"({"salt":")" + hash + R"(","proof":")" + hash + R"("})");
       }},
      {"unknown_project", [] { return by_admin("POST", "/api/projects/99/freeze", "{}"); }},
      {"unknown_token", [] { return answered("POST", "/api/tokens/99/revoke"); }},
      {"unknown_enrolment", [] { return answered("POST", "/api/enrolment/99/revoke"); }},
      {"unknown_researcher", [] { return by_admin("POST", "/api/researchers/99", "{}"); }},
      // trouble
      {"storage_unavailable",
       [] {
         const Troubled trouble;
         trouble.storage->script({storage::FailBefore{}});
         return code_of(trouble.join());
       }},
      {"read_only",
       [] {
         const Troubled trouble;
         trouble.storage->script({storage::FailBefore{}});
         trouble.storage->fail_reads(1'000);
         trouble.join();
         return code_of(http_request(trouble.server->console(), "GET", "/readyz"));
       }},
      {"writer_hangs", while_a_commit_hangs},
      {"internal",
       [] {
         const Troubled trouble;
         trouble.storage->script({storage::Conflict{{0}}});
         return code_of(trouble.join());
       }},
      {"draining",
       [] {
         const Troubled trouble([](ServeConfig& config) { config.drain_ms = kTestLimitMs; });
         trouble.storage->script({storage::Hold{}});
         auto joining = std::async(std::launch::async, [&trouble] { return trouble.join(); });
         trouble.storage->wait_until_held();
         auto stopping = std::async(std::launch::async, [&trouble] { trouble.server->stop(); });
         std::string code;
         until([&] {
           code = code_of(http_request(trouble.server->console(), "GET", "/readyz"));
           return code == "draining";
         });
         trouble.storage->release();
         stopping.get();
         joining.get();
         return code;
       }},
      // a start
      {"bad_flag", [] { return parse_address("nowhere").error().code; }},
      {"bad_tls",
       [] {
         return not_started([](ServeConfig& config, const ScratchFolder& folder) {
           config.tls_cert = config.tls_key = folder.file("nothing.pem");
         });
       }},
      {"bad_state",
       [] {
         return not_started([](ServeConfig& config, const ScratchFolder& folder) {
           std::ofstream(folder.file("file")) << "no folder";
           config.state_dir = folder.file("file/state");
         });
       }},
      {"bind_failed",
       [] {
         const TestServer other;
         return not_started([&other](ServeConfig& config, const ScratchFolder&) {
           config.compute.port = other.compute();
         });
       }},
      {"storage_open",
       [] {
         const TestServer other;
         return not_started([&other](ServeConfig& config, const ScratchFolder&) {
           config.state_dir = other.config().state_dir;
         });
       }},
      {"storage_too_new",
       [] {
         return not_started([](ServeConfig& config, const ScratchFolder&) {
           const std::string database = config.state_dir + "/hyperflock.db";
           Server::start(config).value()->stop();
           storage::sqlite::Db(database, storage::sqlite::Db::Mode::read_write)
               .exec("PRAGMA user_version = 999");
         });
       }},
      {"postgres_unreachable",
       [] {
         return not_started([](ServeConfig& config, const ScratchFolder&) {
           config.database = "postgres://ada@127.0.0.1:1/hyperflock";
         });
       }},
      {"postgres_password",
       [] {
         return not_started([](ServeConfig& config, const ScratchFolder& folder) {
           config.database = storage::TestPostgres::instance().url_with_password();
           config.database_password_file = folder.file("password");
           std::ofstream(config.database_password_file) << "wrong\n";
         });
       }},
      {"postgres_not_built",
       [] {
         return storage::open_absent_storage(
                    {}, [] { return std::int64_t{0}; }, nullptr)
             .error()
             .code;
       }},
      {"shard_held",
       [] {
         const std::string url = storage::TestPostgres::instance().new_schema();
         const TestServer other([&url](ServeConfig& config) { config.database = url; });
         return not_started(
             [&url](ServeConfig& config, const ScratchFolder&) { config.database = url; });
       }},
      {"shard_waiting", code_of_spare},
      {"no_acme_client",
       [] {
         return not_started([](ServeConfig& config, const ScratchFolder& folder) {
           config.domain = "flock.example.org";
           config.acme_client = folder.file("nothing");
         });
       }},
      {"acme_failed",
       [] {
         return not_started([](ServeConfig& config, const ScratchFolder&) {
           config.domain = "flock.example.org";
           config.acme_client = "/bin/false";
         });
       }},
      {"file_unreadable", [] { return cli::read_credentials("/nowhere/file").error().code; }},
      {"file_unwritable", [] { return cli::write_credentials("/nowhere/file", {}).error().code; }},
      {"unreachable",
       [] {
         return cli::ask({.method = "GET",
                          .url = "http://127.0.0.1:1/",
                          .authorization = {},
                          .body = {}})
             .error()
             .code;
       }},
      {"unhealthy",
       [] {
         TestServer server;
         return cli::check_health(server.server().console_origin() + "/nothing", kTestLimitMs)
             .error()
             .code;
       }},
      // backups
      {"backup_inside_state",
       [] {
         const BackupCodes codes;
         return codes.back_up(codes.state() + "/backups");
       }},
      {"not_a_backup_folder",
       [] {
         const BackupCodes codes;
         std::filesystem::create_directories(codes.file("photos/of"));
         return codes.back_up(codes.file("photos"));
       }},
      {"backup_running",
       [] {
         const BackupCodes codes;
         const auto other =
             backup::Repository::open(codes.backups(), backup::Repository::Use::change);
         return codes.back_up(codes.backups());
       }},
      {"not_a_standby_folder",
       [] {
         const BackupCodes codes;
         return codes.promote();
       }},
      {"standby_in_use",
       [] {
         const BackupCodes codes;
         const auto other = codes.ship();
         return codes.promote();
       }},
      {"standby_incomplete",
       [] {
         const BackupCodes codes;
         codes.ship();
         return codes.promote();
       }},
      {"backup_no_room", [] { return BackupCodes().back_up_without_room(); }},
      {"backup_failed",
       [] {
         const BackupCodes codes;
         std::ofstream(codes.file("file")) << "no folder";
         return codes.back_up(codes.file("file/backups"));
       }},
      {"backup_damaged",
       [] {
         const BackupCodes codes;
         codes.damage();
         return codes.restore(codes.file("again"));
       }},
      {"unknown_backup",
       [] {
         const BackupCodes codes;
         EXPECT_EQ(codes.back_up(codes.backups()), "");
         return codes.restore(codes.file("again"), "20200101T000000Z");
       }},
      {"not_empty",
       [] {
         const BackupCodes codes;
         EXPECT_EQ(codes.back_up(codes.backups()), "");
         return codes.restore(codes.state());
       }},
  })));
  return kAll;
}

std::vector<std::string> provoked() {
  std::vector<std::string> codes;
  for (const auto& [code, provoke] : provocations()) codes.push_back(code);
  return codes;
}

// Returns the codes that a document lists between the texts `from` and `to`.
std::vector<std::string> listed(const std::string& name, const std::string& from,
                                const std::string& to) {
  std::ifstream in(std::string(kSourceDirectory) + "/server/docs/" + name);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::size_t begin = text.find(from);
  const std::size_t end = text.find(to, begin);
  EXPECT_NE(begin, std::string::npos) << from;
  EXPECT_NE(end, std::string::npos) << to;
  const std::string list = text.substr(begin, end - begin);
  std::vector<std::string> codes;
  // Codes are the words between pairs of back-quotes.
  std::size_t open = list.find('`');
  while (open != std::string::npos) {
    const std::size_t close = list.find('`', open + 1);
    const std::string quoted = list.substr(open + 1, close - open - 1);
    if (quoted.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos)
      codes.push_back(quoted);
    open = close == std::string::npos ? close : list.find('`', close + 1);
  }
  return codes;
}

class EveryCode : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Documented, EveryCode, ::testing::ValuesIn(provoked()),
                         [](const auto& code) { return code.param; });

TEST_P(EveryCode, IsRaised) { EXPECT_EQ(provocations().at(GetParam())(), GetParam()); }

TEST(ErrorCodes, ThoseOfTheDocumentsAreThoseThatAreRaisedHere) {
  std::vector<std::string> documented = listed("protocol.md", "\nProtocol: ", "\n`bad_field` is");
  for (const char* from : {"\nCodes beyond protocol.md's", "\nCodes of a start"}) {
    for (std::string& code : listed("rest.md", from, ".\n")) documented.push_back(std::move(code));
  }
  EXPECT_THAT(documented, ::testing::UnorderedElementsAreArray(provoked()));
}

}  // namespace
}  // namespace hyperflock::app
