#include "report.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "protocol/json/json_writer.h"

namespace hyperflock::bench {
namespace {

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line)) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

void append_machine(std::string& out) {
  utsname system{};
  ::uname(&system);
  struct sysinfo memory{};
  ::sysinfo(&memory);
  const double gib =
      static_cast<double>(memory.totalram) * memory.mem_unit / (1024.0 * 1024.0 * 1024.0);
  protocol::ObjectWriter(out)
      .text("cpu", processor())
      .integer("cores", std::thread::hardware_concurrency())
      .integer("memory_gib", std::llround(gib))
      .text("kernel", system.release)
      .end();
}

}  // namespace

void write_report(const std::string& path, const std::string& name,
                  const std::vector<Figure>& figures) {
  std::string out;
  protocol::ObjectWriter report(out);
  report.text("name", name);
  append_machine(report.begin("machine"));
  protocol::append_list(report.begin("figures"), figures, [&out](const Figure& figure) {
    protocol::ObjectWriter row(out);
    row.text("name", figure.name).number("value", figure.value).text("unit", figure.unit);
    if (!figure.op.empty()) row.text("op", figure.op).number("goal", figure.goal);
    if (!figure.peer.empty()) {
      protocol::ObjectWriter peer(row.begin("peer"));
      peer.text("name", figure.peer).number("value", figure.peer_value).end();
    }
    row.end();
  });
  report.end();
  const std::filesystem::path file(path);
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  std::ofstream stream(file);
  stream << out << '\n';
  if (!stream.flush()) throw std::runtime_error("cannot write " + path);
}

bool all_reached(const std::vector<Figure>& figures) {
  return std::ranges::all_of(figures, [](const Figure& figure) {
    if (figure.op == ">=") return figure.value >= figure.goal;
    return figure.op != "<=" || figure.value <= figure.goal;
  });
}

int finish(const std::string& path, const std::string& name, const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) {
    std::printf("%-24s %12.2f %s\n", figure.name.c_str(), figure.value, figure.unit.c_str());
  }
  write_report(path, name, figures);
  if (all_reached(figures)) return 0;
  std::puts("A goal was missed.");
  return 1;
}

}  // namespace hyperflock::bench
