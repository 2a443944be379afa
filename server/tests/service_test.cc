// Tests the program as a service: what it reports to the service manager, its watchdog, signals,
// and the lines of its log.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "app/machine/service_manager.h"
#include "base/testing/scratch_folder.h"
#include "storage/testing/faulty_storage.h"
#include "storage/testing/scratch_database.h"
#include "tests/support/test_program.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

// Sets environment variables for programs that are started during the life of this object.
class Environment {
 public:
  explicit Environment(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : variables_) ::unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::string> variables_;
};

// The service manager's end of NOTIFY_SOCKET.
class Manager {
 public:
  explicit Manager(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto length = offsetof(sockaddr_un, sun_path) + name.size() + (name[0] == '@' ? 0 : 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address),
                     static_cast<socklen_t>(length)),
              0);
  }
  ~Manager() { ::close(socket_); }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // Returns the next report, or "nothing" if none comes in time.
  std::string next() const {
    pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(kTestLimitMs)) != 1) return "nothing";
    char text[512];
    const ssize_t size = ::recv(socket_, text, sizeof text, 0);
    return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

 private:
  int socket_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class ServiceTest : public ::testing::Test {
 protected:
  std::string state() const { return folder_.file("state"); }
  std::string ready() const { return folder_.file("ready.json"); }
  std::string printed() const { return folder_.file("printed"); }
  bool prints(const std::string& what) const {
    return until([&] { return text_of(printed()).find(what) != std::string::npos; });
  }

  const ScratchFolder folder_;
};

TEST_F(ServiceTest, ReportsThatItIsReadyReloadsAndStops) {
  for (const std::string& name : {folder_.file("notify"), "@" + folder_.file("abstract")}) {
    const Manager manager(name);
    const Environment environment({{"NOTIFY_SOCKET", name}});
    Program program(state(), ready(), {}, printed());
    EXPECT_EQ(manager.next(), "READY=1");
    EXPECT_TRUE(std::filesystem::exists(ready())) << "it reported before it was ready";
    program.signal(SIGHUP);
    EXPECT_TRUE(manager.next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    EXPECT_EQ(manager.next(), "READY=1");
    EXPECT_EQ(program.end(), 0);
    EXPECT_TRUE(manager.next().starts_with("STOPPING=1\nEXTEND_TIMEOUT_USEC="));
    std::filesystem::remove(ready());
  }
}

TEST_F(ServiceTest, WithoutACertificateAReloadDoesNotEndTheServer) {
  Program program(state(), ready(), {}, printed());
  ASSERT_NE(program.port(), 0);
  program.signal(SIGHUP);
  EXPECT_TRUE(prints(R"("event":"nothing_to_reload")"));
  EXPECT_FALSE(program.has_ended());
  EXPECT_EQ(program.end(), 0);
}

TEST_F(ServiceTest, AClosedTerminalEndsTheServer) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  Program program(state(), ready(), {}, printed(), ::ptsname(terminal));
  ASSERT_NE(program.port(), 0);
  program.signal(SIGHUP);
  EXPECT_TRUE(prints(R"("event":"nothing_to_reload")")) << "the terminal is still open";
  ::close(terminal);
  EXPECT_TRUE(until([&] { return program.has_ended(); }));
  EXPECT_TRUE(prints(R"("event":"stopped")"));
}

TEST_F(ServiceTest, GivesTheWatchdogSignsWhileItsThreadsAnswer) {
  const std::string name = folder_.file("notify");
  const Manager manager(name);
  const Environment environment({{"NOTIFY_SOCKET", name}, {"WATCHDOG_USEC", "100000"}});
  const Program program(state(), ready(), {"--io-threads", "2"}, printed());
  EXPECT_EQ(manager.next(), "READY=1");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(manager.next(), "WATCHDOG=1");
}

TEST_F(ServiceTest, AWatchdogOfAnotherProcessGetsNoSigns) {
  const std::string name = folder_.file("notify");
  const Manager manager(name);
  const Environment environment(
      {{"NOTIFY_SOCKET", name}, {"WATCHDOG_USEC", "1000"}, {"WATCHDOG_PID", "1"}});
  Program program(state(), ready(), {}, printed());
  EXPECT_EQ(manager.next(), "READY=1");
  program.signal(SIGHUP);
  EXPECT_TRUE(manager.next().starts_with("RELOADING=1"));
}

TEST_F(ServiceTest, AWrongSocketDoesNotStopTheServer) {
  for (const std::string& name : {folder_.file("missing"), std::string("relative"),
                                  "@" + std::string(200, 'a'), std::string("@")}) {
    EXPECT_NE(send_datagram(name, "READY=1"), "") << name;
  }
  const Environment environment({{"NOTIFY_SOCKET", "nonsense"}, {"WATCHDOG_USEC", "x"}});
  Program program(state(), ready(), {}, printed());
  EXPECT_NE(program.port(), 0);
  EXPECT_TRUE(prints(R"("event":"notify_failed")"));
  EXPECT_EQ(program.end(), 0);
}

TEST(Watchdog, AWriterThatHangsGivesNoAnswer) {
  storage::ScratchDatabase database;
  auto faulty = std::make_unique<storage::FaultyStorage>(database.open());
  storage::FaultyStorage& storage = *faulty;
  TestServer server([](ServeConfig& config) { config.answer_ms = 1; }, std::move(faulty));
  const auto answers = [&] { return until([&] { return server.server().threads_answered(); }); };
  server.server().ask_threads();
  EXPECT_TRUE(answers());
  storage.script({storage::Hold{}});
  server.server().ask_threads();
  // The Hold may have stopped another batch. Then the question to the writer waits behind this
  // batch.
  EXPECT_FALSE(server.server().threads_answered());
  storage.release();
  EXPECT_TRUE(answers());
}

TEST(Watchdog, AFailedOrFullStorageIsAnAnswer) {
  storage::ScratchDatabase database;
  auto faulty = std::make_unique<storage::FaultyStorage>(database.open());
  storage::FaultyStorage& storage = *faulty;
  TestServer server([](ServeConfig& config) { config.answer_ms = 1; }, std::move(faulty));
  storage.script({storage::FailBefore{}});
  server.server().ask_threads();
  EXPECT_TRUE(until([&] { return server.server().threads_answered(); }));
  storage.fill_disk();
  server.server().ask_threads();
  EXPECT_TRUE(until([&] { return server.server().threads_answered(); }));
}

TEST_F(ServiceTest, LinesForTheJournalHaveTheirPriority) {
  std::ofstream(printed()).close();
  struct stat file{};
  ASSERT_EQ(::stat(printed().c_str(), &file), 0);
  const auto stream = std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
  {
    const Environment environment({{"JOURNAL_STREAM", stream}});
    Program program(state(), ready(), {}, printed());
    ASSERT_NE(program.port(), 0);
    program.end();
  }
  EXPECT_NE(text_of(printed()).find("\n<6>{\"time\":"), std::string::npos) << text_of(printed());
  std::filesystem::remove(printed());
  std::filesystem::remove(ready());
  const Environment environment({{"JOURNAL_STREAM", "1:2"}});
  Program program(state(), ready(), {}, printed());
  ASSERT_NE(program.port(), 0);
  program.end();
  EXPECT_EQ(text_of(printed()).find("<6>"), std::string::npos);
}

}  // namespace
}  // namespace hyperflock::app
