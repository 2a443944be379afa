#include "http/console/packed.h"

#include <array>
#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/crc.hpp>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "http/core/static_files.h"

namespace hyperflock::http {
namespace {

namespace zlib = boost::beast::zlib;

constexpr int kFastest = 1;
constexpr int kWindowBits = 15;
constexpr int kMemoryLevel = 8;
// The head of gzip: its magic number, deflate, no flags, no time, the fastest level, any system.
constexpr std::array<unsigned char, 10> kHead{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255};

void append_little_endian(std::string& out, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<char>(number >> shift & 0xff));
}

}  // namespace

std::string gzip(std::string_view bytes) {
  std::string out(kHead.begin(), kHead.end());
  out.resize(kHead.size() + zlib::deflate_upper_bound(bytes.size()));
  zlib::deflate_stream stream;
  stream.reset(kFastest, kWindowBits, kMemoryLevel, zlib::Strategy::normal);
  zlib::z_params params;
  params.next_in = bytes.data();
  params.avail_in = bytes.size();
  params.next_out = out.data() + kHead.size();
  params.avail_out = out.size() - kHead.size();
  boost::beast::error_code error;
  stream.write(params, zlib::Flush::finish, error);
  if (error != zlib::error::end_of_stream) throw std::runtime_error("deflate: " + error.message());
  out.resize(kHead.size() + params.total_out);
  out.shrink_to_fit();  // a slow reader holds it for long
  boost::crc_32_type sum;
  sum.process_bytes(bytes.data(), bytes.size());
  append_little_endian(out, sum.checksum());
  append_little_endian(out, static_cast<std::uint32_t>(bytes.size()));
  return out;
}

Response packed_json(const Request& request, std::string text) {
  const bool packs = text.size() >= kLeastPackedBytes && accepts(request.accept_encoding, "gzip");
  Response response = json_response(200, packs ? gzip(text) : std::move(text));
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (packs) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

}  // namespace hyperflock::http
