// Tests that the dispatcher is pure: neither a file of dispatch/ nor a project file that it
// includes, directly or indirectly, includes sockets, databases, clocks, threads, random sources or
// a JSON library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "paths.h"

namespace hyperflock::dispatch {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> includes_of(std::istream& text) {
  std::vector<std::string> out;
  for (std::string line; std::getline(text, line);) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", first + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("<\"", word);
    const std::size_t close =
        line.find_first_of(">\"", open == std::string::npos ? open : open + 1);
    if (close != std::string::npos) out.push_back(line.substr(open + 1, close - open - 1));
  }
  return out;
}

bool forbidden(const std::string& include) {
  static const std::set<std::string> kHeaders{
      "chrono", "thread", "mutex", "shared_mutex", "condition_variable", "atomic", "semaphore",
      "random", "future", "ctime", "time.h",       "sys/time.h"};
  static const std::vector<std::string> kLibraries{
      "boost", "asio", "beast", "sqlite", "nlohmann", "libpq", "openssl", "pthread", "unistd"};
  return kHeaders.contains(include) ||
         std::any_of(kLibraries.begin(), kLibraries.end(), [&](const std::string& name) {
           return include.find(name) != std::string::npos;
         });
}

// Returns every file that the dispatcher includes, with the chain of includes that leads to it.
// Tests are left out, because they use SQLite.
std::map<fs::path, std::string> reached_from_dispatch(const fs::path& root) {
  std::map<fs::path, std::string> reached;
  std::vector<fs::path> todo;
  for (const auto& entry : fs::recursive_directory_iterator(root / "dispatch")) {
    const fs::path extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc") continue;
    if (entry.path().filename().string().ends_with("_test.cc")) continue;
    reached.emplace(entry.path(), entry.path().filename().string());
    todo.push_back(entry.path());
  }
  while (!todo.empty()) {
    const fs::path file = todo.back();
    todo.pop_back();
    std::ifstream text(file);
    for (const std::string& include : includes_of(text)) {
      const fs::path target = root / include;
      if (!fs::exists(target)) continue;
      if (reached.emplace(target, reached.at(file) + " -> " + include).second)
        todo.push_back(target);
    }
  }
  return reached;
}

TEST(Purity, DispatchIncludesNoSocketsDatabasesClocksThreadsOrRandomSources) {
  const fs::path root = fs::path(kSourceDirectory) / "server/src";
  const auto reached = reached_from_dispatch(root);
  // Checks the search itself: it must also find files of other folders.
  ASSERT_TRUE(reached.contains(root / "storage/transition.h"));
  ASSERT_TRUE(reached.contains(root / "base/ids.h"));
  for (const auto& [file, way] : reached) {
    std::ifstream text(file);
    for (const std::string& include : includes_of(text))
      EXPECT_FALSE(forbidden(include)) << way << " -> " << include;
  }
}

TEST(Purity, TheSearchSeesWhatItMustRefuse) {
  std::istringstream text(
      "#include <chrono>\n  #  include <boost/asio/ip/tcp.hpp>\n#include "
      "\"nlohmann/json.hpp\"\n#include <map>\n");
  std::vector<std::string> refused;
  for (const std::string& include : includes_of(text)) {
    if (forbidden(include)) refused.push_back(include);
  }
  EXPECT_THAT(refused,
              ::testing::ElementsAre("chrono", "boost/asio/ip/tcp.hpp", "nlohmann/json.hpp"));
}

}  // namespace
}  // namespace hyperflock::dispatch
