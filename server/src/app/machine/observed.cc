// See observed.h.
#include "app/machine/observed.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/machine/version.h"
#include "storage/sqlite/open.h"

namespace hyperflock::app {
namespace {

namespace fs = std::filesystem;
using telemetry::Gauge;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double size_of(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : static_cast<double>(bytes);
}

double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double total = 0;
  double resident = 0;
  in >> total >> resident;
  return in ? resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

double open_files() {
  std::error_code error;
  const fs::directory_iterator files("/proc/self/fd", error);
  // One of them is the folder itself.
  return error ? 0
               : static_cast<double>(
                     std::max<std::ptrdiff_t>(0, std::distance(begin(files), end(files)) - 1));
}

}  // namespace

void observe_start(telemetry::Metrics& metrics) {
  metrics.build(std::string(kVersion), storage::sqlite_version());
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  metrics.set(Gauge::start_time_seconds, std::chrono::duration<double>(since_1970).count());
}

void observe_process(telemetry::Metrics& metrics) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  metrics.raise(telemetry::Counter::cpu_seconds,
                seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
  metrics.set(Gauge::resident_bytes, resident_bytes());
  metrics.set(Gauge::open_files, open_files());
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  metrics.set(Gauge::most_open_files, static_cast<double>(limit.rlim_cur));
}

void observe_disk(telemetry::Metrics& metrics, const std::string& state_dir) {
  struct statvfs disk{};
  if (::statvfs(state_dir.c_str(), &disk) == 0) {
    metrics.set(Gauge::disk_free_bytes,
                static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize));
    metrics.set(Gauge::disk_bytes,
                static_cast<double>(disk.f_blocks) * static_cast<double>(disk.f_frsize));
  }
  const std::string database = storage::database_of(state_dir);
  metrics.set(Gauge::database_bytes, size_of(database));
  metrics.set(Gauge::database_log_bytes, size_of(database + "-wal"));
}

void observe_readers(telemetry::Metrics& metrics, const hub::ReaderPool& readers) {
  for (std::size_t band = 0; band < hub::kBands; ++band) {
    metrics.set(Gauge::reader_queue,
                static_cast<double>(readers.waiting(static_cast<hub::Band>(band))),
                hub::kBandNames[band]);
  }
}

}  // namespace hyperflock::app
