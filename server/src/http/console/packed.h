// Compresses long answers for clients that ask for it, without sockets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "http/core/message.h"

namespace hyperflock::http {

// Shorter answers are sent as they are: few bytes would be saved.
inline constexpr std::size_t kLeastPackedBytes = 16 * 1024;

// Returns the bytes in the form of gzip (RFC 1952), at the fastest level.
std::string gzip(std::string_view bytes);

// Returns a response with JSON like json_response(200, text). If the text is long and the client
// accepts gzip, the body is compressed. Only for answers that need a credential in a header: then
// no other page can ask for them and learn a secret from their lengths.
Response packed_json(const Request& request, std::string text);

}  // namespace hyperflock::http
