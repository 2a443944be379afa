// The objects that the sites of both origins use. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "auth/blob_links.h"
#include "auth/identity_cache.h"
#include "blobs/collected_blobs.h"
#include "blobs/disk_room.h"
#include "http/core/admission.h"
#include "http/core/device_reports.h"
#include "http/core/possession.h"
#include "http/core/static_files.h"
#include "hub/hub.h"
#include "hub/output_book.h"
#include "hub/reader_pool.h"
#include "protocol/runtime/packs.h"
#include "protocol/runtime/runtime_index.h"
#include "storage/storage.h"
#include "telemetry/metrics.h"
#include "webhook/address_rules.h"

namespace hyperflock::http {

using hub::Hub;
using hub::OutputBook;
using hub::ReaderPool;

// The objects that a site uses. They outlive the site, and any thread may use them.
struct SiteContext {
  Hub& hub;
  ReaderPool& readers;
  storage::Storage& storage;
  blobs::CollectedBlobs& blobs;      // of researchers
  blobs::CollectedBlobs& collected;  // of attempts
  blobs::DiskRoom& room;
  const OutputBook& outputs;
  DeviceReports& reports;
  const auth::BlobLinks& links;
  auth::IdentityCache& identities;
  Admission& admission;
  Possession& possession;
  telemetry::Metrics& metrics;
  const StaticFiles& files;                 // of this site; the origins share no files
  std::vector<protocol::Runtime> runtimes;  // those that browsers get, the newest first
  protocol::PackList packs;                 // those that browsers get
  std::string server_version;
  std::string join_origin;  // the compute origin for volunteers, without a slash at the end
  std::string own_origin;   // of this site, as browsers see it; empty: only its Host is known
  std::string data_origin;  // of the cache from which devices fetch data; empty: join_origin
  // Returns the codes of troubles with which the server still takes work, such as `backup_failed`.
  std::function<std::vector<std::string>()> warnings = [] { return std::vector<std::string>(); };
  std::uint64_t max_blob_bytes = std::uint64_t{512} << 20;
  std::uint64_t max_checkpoint_bytes = std::uint64_t{64} << 20;
  std::uint64_t max_artifact_bytes = std::uint64_t{64} << 20;
  const webhook::AddressRules* webhooks = nullptr;  // null: no study may have a webhook
  std::int64_t max_devices = 0;                     // that may have joined; 0: any number
  bool open_metrics = false;                        // on this machine /metrics needs no token
  bool open_registration = true;                    // whether anybody may register as a researcher
};

}  // namespace hyperflock::http
