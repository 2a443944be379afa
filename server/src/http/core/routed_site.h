// A site with a table of routes. It looks for a route first, then for a file, and otherwise answers
// 404 or 405. Any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http/core/router.h"
#include "http/core/site.h"
#include "http/core/site_context.h"

namespace hyperflock::http {

// Whose requests a site answers. Devices have threads of their own (hub::Band).
enum class Serves { people, devices };

// The parts in which the sites differ. They must outlive the site.
struct SiteParts {
  std::span<const Route> routes;
  // The paths of the pages that the site serves, the first page first.
  std::span<const std::string_view> pages;
  // The Content-Security-Policy of files; if it is empty, kPagePolicy.
  std::string_view policy;
  // Checks the credential that the route requires and sets the caller in the request. Never blocks.
  Status (*admit)(const SiteContext& context, const Route& route, Request& request);
  Serves serves = Serves::people;
};

class RoutedSite final : public Site {
 public:
  RoutedSite(const SiteContext& context, const SiteParts& parts)
      : context_(context), parts_(parts) {}

  Plan plan(Request& request) override;
  void handle(std::shared_ptr<const Request> request, Reply reply) override;
  Result<std::unique_ptr<Upload>> open_upload(const Request& request) override;

 private:
  Plan plan_upload(const UploadHandler& upload, const Request& request) const;
  Plan plan_file(Request& request, const std::string& allow) const;
  Response with_policy(Response response) const;

  const SiteContext context_;
  const SiteParts parts_;
};

// Handles GET / with a redirect to the site's first page.
template <const auto& kPages>
Result<Response> to_first_page(const SiteContext&, const Request&) {
  Response response;
  response.status = 302;
  response.headers.emplace_back("Location", kPages.front());
  return response;
}

// Handles GET /readyz: says whether the server takes work, and if not, why.
Result<Response> readiness(const SiteContext& context, const Request& request);

// Handles GET /healthz.
Result<Response> alive(const SiteContext& context, const Request& request);

}  // namespace hyperflock::http
