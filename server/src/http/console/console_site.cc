#include "http/console/console_site.h"

#include <array>
#include <vector>

#include "http/console/console_rest.h"
#include "http/core/routed_site.h"
#include "http/core/same_origin.h"

namespace hyperflock::http {
namespace {

constexpr std::array<std::string_view, 1> kPages{"/research"};
// This policy is stricter than kPagePolicy. Pages of this origin compute nothing, so they need no
// WebAssembly and no worker.
constexpr std::string_view kConsolePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::array<Route, 3> kSiteRoutes{{
    {Method::get, "/", Access::open, answer<to_first_page<kPages>>},
    probe({Method::get, "/healthz", Access::open, answer<alive>}),
    {Method::get, "/ws/client", Access::open},
}};

Status identify(const SiteContext& context, Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!request.authorization.starts_with(kScheme)) {
    return Error{"unauthorized", "Send the header Authorization: Bearer <token>."};
  }
  const auto caller = context.identities.check_token(
      std::string_view(request.authorization).substr(kScheme.size()));
  if (!caller) {
    const auto admitted = context.admission.admit_stranger(request.address);
    if (!admitted) {
      return Error{"rate_limited",
                   "Too many wrong tokens came from this address; wait a minute.",
                   {},
                   admitted.wait_s};
    }
    return Error{
        "unauthorized",
        "The server does not know this token; check it, or ask the operator for a new one."};
  }
  const auto closed = [&reason = caller->principal.reason](std::string code, std::string text) {
    text += reason.empty() ? "; ask the operator why." : ". Reason: " + reason;
    return Error{std::move(code), std::move(text)};
  };
  request.principal = caller->principal;
  request.token = caller->token;
  switch (caller->principal.state) {
    case storage::PrincipalState::active:
      return {};
    case storage::PrincipalState::pending:
      return Error{"approval_pending",
                   "An administrator has not decided about your request yet; ask again later."};
    case storage::PrincipalState::refused:
      return closed("approval_refused", "An administrator refused your request");
    case storage::PrincipalState::suspended:
      break;
  }
  return closed("suspended", "An administrator suspended your access");
}

// Returns whether the request is a change that a researcher could repeat without end. Deletions,
// cancellations and revocations always pass.
bool is_counted(const Route& route) {
  return route.method == Method::post && !route.pattern.ends_with("/cancel") &&
         !route.pattern.ends_with("/revoke");
}

// The page and its scripts contain no secret, so they can be read without a token.
Status admit(const SiteContext& context, const Route& route, Request& request) {
  // Without a token, metrics are open only to local requests to a loopback address or `localhost`.
  // With any host name, a page of another origin could point its own name to this machine and read
  // the metrics.
  const bool is_local = context.open_metrics && request.local && names_loopback(request.host);
  const bool is_open =
      route.access == Access::open || (route.access == Access::metrics && is_local);
  if (is_open) return {};
  Status known = identify(context, request);
  if (known && route.access == Access::admin && !is_admin(request))
    return Error{"forbidden", "Only an administrator may do this."};
  if (!known || is_admin(request) || !is_counted(route)) return known;
  if (const auto admitted = context.admission.admit_change(request.principal.name); !admitted)
    return Error{"rate_limited", "You make very many changes; wait a moment.", {}, admitted.wait_s};
  return known;
}

}  // namespace

std::span<const Route> console_routes() {
  static const std::vector<Route> all = [] {
    std::vector<Route> out(kSiteRoutes.begin(), kSiteRoutes.end());
    for (const auto& part : {study_routes(), rejection_routes(), trial_routes(), series_routes(),
                             blob_routes(), artifact_routes(), webhook_routes(), people_routes(),
                             rules_routes(), enrolment_routes(), operator_routes()}) {
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }();
  return all;
}

std::unique_ptr<Site> make_console_site(const SiteContext& context) {
  return std::make_unique<RoutedSite>(context,
                                      SiteParts{console_routes(), kPages, kConsolePolicy, admit});
}

}  // namespace hyperflock::http
