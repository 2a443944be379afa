// A benchmark's report: figures with goals, and the machine that they were measured on.
#pragma once

#include <string>
#include <vector>

namespace hyperflock::bench {

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::string op{};  // ">=" or "<="; empty: no goal
  double goal = 0;
  std::string peer{};  // another system, or a physical limit, measured in the same run
  double peer_value = 0;
};

// Writes `{"name", "machine", "figures"}` to `path`. Throws std::runtime_error.
void write_report(const std::string& path, const std::string& name,
                  const std::vector<Figure>& figures);

// Returns whether every figure reaches its goal.
bool all_reached(const std::vector<Figure>& figures);

// Prints the figures and writes the report. Returns the exit code, which is 1 if a goal is missed.
// Throws as write_report() does.
int finish(const std::string& path, const std::string& name, const std::vector<Figure>& figures);

}  // namespace hyperflock::bench
