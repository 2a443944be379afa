// Metrics of which nobody is told: they are looked up just before metrics are read. The functions
// may block on the disk.
#pragma once

#include <string>

#include "hub/reader_pool.h"
#include "storage/storage.h"
#include "telemetry/metrics.h"

namespace hyperflock::app {

// Sets the metrics of this process that do not change: the build and the time of its start.
void observe_start(telemetry::Metrics& metrics);

// Sets the metrics of this process: its time, memory and files.
void observe_process(telemetry::Metrics& metrics);

// Sets the metrics of the disk and the database's files.
void observe_disk(telemetry::Metrics& metrics, const std::string& state_dir);

// Sets the metrics of the queues of the threads that read.
void observe_readers(telemetry::Metrics& metrics, const hub::ReaderPool& readers);

}  // namespace hyperflock::app
