// Recognises requests that a page of another origin made its visitor's browser send. All other
// requests come from the server's own pages or from programs. Pure; any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "http/core/message.h"

namespace hyperflock::http {

// Returns an error if a page of another origin caused the request. Current browsers say where a
// request comes from in Sec-Fetch-Site over https or to this machine, and otherwise in Origin.
// Programs send neither header. `own_origin` is this site's origin as browsers see it, if it is
// known; a proxy may have changed the Host header. Error: `cross_origin`.
Status check_same_origin(const Request& request, std::string_view own_origin);

// Checks that the body's type is JSON. A page cannot send this type to another origin unless that
// origin agrees, which this server never does. Error: `not_json`.
Status check_json(const Request& request);

// Returns whether a Host header has a numeric loopback address or `localhost`. Another site cannot
// make one of these names point here by its DNS, as it can with its own names.
bool names_loopback(std::string_view host);

}  // namespace hyperflock::http
