// What the sites of both origins have in common: the order "route, then file", the way from / to
// the first page, health, and what is answered where nothing is. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "auth/identity_book.h"
#include "blobs/collected_blobs.h"
#include "http/core/admission.h"
#include "http/core/device_reports.h"
#include "http/core/router.h"
#include "http/core/site.h"
#include "http/core/static_files.h"
#include "hub/hub.h"
#include "hub/output_book.h"
#include "hub/reader_pool.h"
#include "storage/storage.h"
#include "telemetry/metrics.h"

namespace hyperflock::http {

using hub::Hub;
using hub::OutputBook;
using hub::ReaderPool;

// What a site works with. All of it outlives them and may be used from any thread.
struct SiteContext {
  Hub& hub;
  ReaderPool& readers;
  storage::Storage& storage;
  blobs::CollectedBlobs& blobs;      // that researchers brought
  blobs::CollectedBlobs& collected;  // that attempts uploaded
  const OutputBook& outputs;
  DeviceReports& reports;
  auth::IdentityBook& book;
  Admission& admission;
  telemetry::Metrics& metrics;
  const StaticFiles& files;  // of this site alone: the origins share no file
  std::string server_version;
  std::string join_origin;  // the compute origin as volunteers see it, without a slash at the end
  std::uint64_t max_blob_bytes = std::uint64_t{512} << 20;
  std::uint64_t max_checkpoint_bytes = std::uint64_t{64} << 20;
  std::uint64_t max_artifact_bytes = std::uint64_t{64} << 20;
  std::uint64_t min_free_bytes = std::uint64_t{1} << 30;
  bool open_metrics = false;      // /metrics without a token
  bool open_registration = true;  // anybody may ask to become a researcher
};

class SiteBase : public Site {
 public:
  Plan plan(Request& request) final;
  void handle(std::shared_ptr<const Request> request, Reply reply) final;

 protected:
  // `pages`: those that a build gives; / leads to the first. `policy`: the Content-Security-Policy
  // of files, kPagePolicy when empty. All outlive the site.
  SiteBase(const SiteContext& context, std::span<const Route> routes,
           std::span<const std::string_view> pages, std::string_view policy);

  // Checks the credential that the route wants and notes in the request whose it is. Never blocks.
  virtual Status admit(const Route& route, Request& request) const = 0;
  // For routes with Work::upload.
  virtual Plan plan_upload(const Request& request) const = 0;
  // Routes other than / and /healthz.
  virtual void answer(std::shared_ptr<const Request> request, Reply reply) = 0;

  static Plan ready(Response response);

  const SiteContext context_;

 private:
  Plan plan_file(Request& request, const std::string& allow) const;
  Response with_policy(Response response) const;

  const std::span<const Route> routes_;
  const std::span<const std::string_view> pages_;
  const std::string_view policy_;
};

}  // namespace hyperflock::http
