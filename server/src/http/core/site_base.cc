#include "http/core/site_base.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hyperflock::http {
namespace {

// Files are no route: their names are known to StaticFiles alone.
constexpr std::size_t kStaticRoute = std::numeric_limits<std::size_t>::max();

}  // namespace

SiteBase::SiteBase(const SiteContext& context, std::span<const Route> routes,
                   std::span<const std::string_view> pages, std::string_view policy)
    : context_(context), routes_(routes), pages_(pages), policy_(policy) {}

Plan SiteBase::ready(Response response) { return Plan{Plan::Kind::answer, std::move(response), 0}; }

Plan SiteBase::plan(Request& request) {
  const Found found = find_route(routes_, request.method, request.path);
  if (const auto* none = std::get_if<NoMatch>(&found)) return plan_file(request, none->allow);
  const Match& match = std::get<Match>(found);
  const Route& route = routes_[match.route];
  request.route = match.route;
  request.captures = match.captures;
  if (route.work == Work::websocket) return Plan{Plan::Kind::websocket, {}, 0};
  const Status admitted = admit(route, request);
  if (!admitted) return ready(error_response(admitted.error()));
  if (route.work == Work::upload) return plan_upload(request);
  return Plan{Plan::Kind::handle, {}, route.body_limit};
}

Plan SiteBase::plan_file(Request& request, const std::string& allow) const {
  const bool reads = request.method == Method::get || request.method == Method::head;
  const bool known = context_.files.knows(request.path);
  if (known && reads) {
    if (auto cached = context_.files.cached(request)) return ready(with_policy(std::move(*cached)));
    request.route = kStaticRoute;
    return Plan{Plan::Kind::handle, {}, 0};
  }
  if (known || !allow.empty()) {
    Response response =
        error_response(Error{"method_not_allowed", "This address does not take this method."});
    response.headers.emplace_back("Allow", known ? "GET, HEAD" : allow);
    return ready(std::move(response));
  }
  if (std::ranges::find(pages_, request.path) != pages_.end()) {
    return ready(error_response(Error{
        "not_found", "The pages are not built or not given to the server (serve --app FOLDER)."}));
  }
  return ready(error_response(Error{"not_found", "Nothing is served at this address."}));
}

Response SiteBase::with_policy(Response response) const {
  if (!policy_.empty()) response.content_security_policy = policy_;
  return response;
}

void SiteBase::handle(std::shared_ptr<const Request> request, Reply reply) {
  if (request->route == kStaticRoute) return reply(with_policy(context_.files.load(*request)));
  const std::string_view pattern = routes_[request->route].pattern;
  if (pattern == "/") {
    Response response;
    response.status = 302;
    response.headers.emplace_back("Location", pages_.front());
    return reply(std::move(response));
  }
  if (pattern == "/healthz") return reply(json_response(200, R"({"status":"ok"})"));
  answer(std::move(request), std::move(reply));
}

}  // namespace hyperflock::http
