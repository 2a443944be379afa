// Tests when a certificate is renewed, and what the server makes of the program that gets one. A
// shell script stands in for lego here; deploy/tests/test_acme.py has the real one and an
// authority.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>

#include "acme/child.h"
#include "acme/lego.h"
#include "acme/renewal.h"
#include "base/testing/patience.h"
#include "base/testing/scratch_folder.h"

namespace hyperflock::acme {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::int64_t kDayS = 86'400;

std::string script(const ScratchFolder& folder, const std::string& text) {
  const std::string file = folder.file("client");
  std::ofstream(file) << "#!/bin/sh\n" << text << '\n';
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

LegoSettings settings(const ScratchFolder& folder, const std::string& program) {
  return {.program = program,
          .domain = "flock.example.org",
          .email = "me@example.org",
          .directory = "https://authority.example/dir",
          .ca_file = folder.file("ca.pem"),
          .listen = ":80",
          .folder = folder.file("acme")};
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Acme, ACertificateIsRenewedInTheLastThirdOfItsTime) {
  const Validity quarter{.from_s = kNow - 60 * kDayS, .until_s = kNow + 30 * kDayS};
  EXPECT_FALSE(is_due(quarter, kNow, 0));
  EXPECT_TRUE(is_due(quarter, kNow + 1, 0));
  const Validity week{.from_s = kNow, .until_s = kNow + 6 * kDayS};
  EXPECT_FALSE(is_due(week, kNow + 4 * kDayS, 0));
  EXPECT_TRUE(is_due(week, kNow + 5 * kDayS, 0));
  EXPECT_TRUE(is_due(week, kNow, 7));
  EXPECT_FALSE(is_due(week, kNow, 6));
}

TEST(Acme, TheClientGetsItsWords) {
  const ScratchFolder folder;
  const std::string seen = folder.file("seen");
  Lego lego(
      settings(folder, script(folder, "echo \"$@ $LEGO_CA_CERTIFICATES\" >>" + seen +
                                          "; umask 0; mkdir -p \"$3/sub\"; : >\"$3/sub/key\"")),
      [] { return kNow; });
  ASSERT_TRUE(lego.obtain());
  ASSERT_TRUE(lego.renew());
  const std::string begin = "--accept-tos --path " + folder.file("acme") +
                            " --domains flock.example.org --email me@example.org --server "
                            "https://authority.example/dir --http --http.port :80 ";
  const std::string end = " " + folder.file("ca.pem") + "\n";
  EXPECT_EQ(text_of(seen),
            begin + "run" + end + begin + "renew --days 100000 --no-random-sleep" + end);
  EXPECT_EQ(lego.chain_file(), folder.file("acme") + "/certificates/flock.example.org.crt");
  EXPECT_EQ(fs::status(folder.file("acme")).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(folder.file("acme") + "/sub/key").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(Acme, AMissingClientIsNamed) {
  const ScratchFolder folder;
  Lego lego(settings(folder, "hyperflock-no-such-program"), [] { return kNow; });
  const Status done = lego.obtain();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "no_acme_client");
  EXPECT_NE(done.error().message.find("apt install lego"), std::string::npos);
}

TEST(Acme, AFailureSaysWhyAndIsNotRepeatedAtOnce) {
  const ScratchFolder folder;
  const std::string client = script(folder,
                                    "echo x >>\"$0.calls\"\necho progress\n"
                                    "printf 'Could not obtain:\\n\\t\\033[31mthe name\\n'\nexit 1");
  std::int64_t now = kNow;
  const auto tried = [&] {
    // A new object, as after a restart.
    return Lego(settings(folder, client), [&now] { return now; }).obtain();
  };
  const Status first = tried();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, "acme_failed");
  EXPECT_EQ(first.error().message,
            "No certificate for flock.example.org from https://authority.example/dir: Could not "
            "obtain: [31mthe name");
  now += 899;
  const Status early = tried();
  ASSERT_FALSE(early);
  EXPECT_NE(early.error().message.find("the next attempt is 1 minutes away"), std::string::npos);
  EXPECT_EQ(text_of(client + ".calls"), "x\n");
  now += 1;
  EXPECT_FALSE(tried());
  EXPECT_EQ(text_of(client + ".calls"), "x\nx\n");
  (void)script(folder, "exit 0");
  now += 1'000;
  EXPECT_TRUE(tried());
  EXPECT_FALSE(fs::exists(folder.file("acme") + "/failed-at"));
}

TEST(Acme, AClientThatHangsIsEndedAndInheritsNothing) {
  const ScratchFolder folder;
  const std::string seen = folder.file("seen");
  std::atomic<bool> cancelled{false};
  const std::ofstream open_here(folder.file("open"));
  std::thread canceller([&] {
    EXPECT_TRUE(until([&] { return fs::exists(seen) && fs::file_size(seen) != 0; }));
    cancelled = true;
  });
  const auto ended = run_program({"sh", "-c",
                                  "ls /proc/self/fd | wc -w >" + seen + ".new; mv " + seen +
                                      ".new " + seen + "; exec sleep 9999"},
                                 {}, cancelled, 10 * kTestLimitMs);
  canceller.join();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 128 + 9);
  EXPECT_EQ(text_of(seen), "4\n");  // three streams, and the folder that ls reads
}

TEST(Acme, TheNewestOutputIsKept) {
  const std::atomic<bool> cancelled{false};
  const auto ended = run_program({"sh", "-c", "seq 100000; exit 3"}, {}, cancelled, kTestLimitMs);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 3);
  EXPECT_EQ(ended->output.size(), 64U * 1'024);
  EXPECT_TRUE(ended->output.ends_with("100000\n"));
}

TEST(Acme, RenewalLooksAgainUntilItEnds) {
  std::latch tried(3);
  std::atomic<int> calls{0};
  {
    const Renewal renewal({.every_ms = 1,
                           .days = 0,
                           .wall_s = [] { return kNow; },
                           .validity = [] { return Validity{.from_s = 0, .until_s = kNow}; },
                           .renew = []() -> Status { return Error{"acme_failed", "no"}; },
                           .cancel = [] {},
                           .renewed =
                               [&](const Status& done) {
                                 EXPECT_FALSE(done);
                                 if (++calls <= 3) tried.count_down();
                               }});
    tried.wait();
  }
  const int ended = calls;
  EXPECT_GE(ended, 3);
}

}  // namespace
}  // namespace hyperflock::acme
