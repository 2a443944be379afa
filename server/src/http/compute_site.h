// The compute origin: join page, runtime, joining, blobs for devices. See rest.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "auth/identity_book.h"
#include "blobs/blob_store.h"
#include "blobs/checkpoint_store.h"
#include "http/admission.h"
#include "http/output_book.h"
#include "http/reader_pool.h"
#include "http/service.h"
#include "http/site.h"
#include "http/static_files.h"
#include "ops/metrics.h"
#include "storage/storage.h"

namespace hyperflock::http {

// What a site works with. All of it outlives them and may be used from any thread.
struct SiteContext {
  Service& service;
  ReaderPool& readers;
  storage::Storage& storage;
  blobs::BlobStore& blobs;
  blobs::CheckpointStore& checkpoints;
  const OutputBook& outputs;
  auth::IdentityBook& book;
  Admission& admission;
  ops::Metrics& metrics;
  const StaticFiles& files;  // of this site alone: the origins share no file
  std::string server_version;
  std::string join_origin;  // the compute origin as volunteers see it, without a slash at the end
  std::uint64_t max_blob_bytes = std::uint64_t{512} << 20;
  bool open_metrics = false;  // /metrics without a token
};

std::unique_ptr<Site> make_compute_site(const SiteContext& context);

}  // namespace hyperflock::http
