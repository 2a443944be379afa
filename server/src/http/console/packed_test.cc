// Tests compressed answers: their bytes are read again by another implementation, and only clients
// that ask for them get them.
#include "http/console/packed.h"

#include <gtest/gtest.h>

#include <boost/beast/zlib/inflate_stream.hpp>
#include <random>
#include <string>
#include <variant>

namespace hyperflock::http {
namespace {

namespace zlib = boost::beast::zlib;

// Returns the bytes of a gzip file without checking its sum; the size is checked.
std::string unpacked(const std::string& file) {
  EXPECT_GE(file.size(), 18U);
  EXPECT_EQ(file.substr(0, 4), std::string("\x1f\x8b\x08\0", 4));
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= static_cast<std::uint32_t>(static_cast<unsigned char>(file[file.size() - 4 + i]))
            << (8 * i);
  std::string out(size + 1, '\0');
  zlib::inflate_stream stream;
  zlib::z_params params;
  params.next_in = file.data() + 10;
  params.avail_in = file.size() - 18;
  params.next_out = out.data();
  params.avail_out = out.size();
  boost::beast::error_code error;
  stream.write(params, zlib::Flush::finish, error);
  EXPECT_EQ(error, zlib::error::end_of_stream);
  EXPECT_EQ(params.total_out, size);
  out.resize(params.total_out);
  return out;
}

std::string packed_body(const Response& response) { return std::get<std::string>(response.body); }

std::string packed_header(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return "";
}

TEST(Gzip, IsReadAgainWhateverTheBytes) {
  std::mt19937 random(7);
  std::string noise(300'000, '\0');
  for (char& one : noise) one = static_cast<char>(random());
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string(1'000'000, '0'), noise, noise + noise}) {
    EXPECT_TRUE(unpacked(gzip(bytes)) == bytes) << bytes.size();
  }
  EXPECT_LT(gzip(std::string(1'000'000, '0')).size(), 10'000U);
}

// The sum of "123456789" is the check value of CRC-32.
TEST(Gzip, EndsWithTheSumAndTheSize) {
  const std::string file = gzip("123456789");
  EXPECT_EQ(file.substr(file.size() - 8), std::string("\x26\x39\xf4\xcb\x09\0\0\0", 8));
}

TEST(PackedJson, IsCompressedForThoseWhoAcceptIt) {
  const std::string text(kLeastPackedBytes, '1');
  Request request;
  request.accept_encoding = "gzip, deflate, br";
  const Response packed = packed_json(request, text);
  EXPECT_EQ(packed_header(packed, "Content-Encoding"), "gzip");
  EXPECT_EQ(packed_header(packed, "Vary"), "Accept-Encoding");
  EXPECT_EQ(packed_header(packed, "Cache-Control"), "no-store");
  EXPECT_EQ(packed.content_type, "application/json");
  EXPECT_TRUE(unpacked(packed_body(packed)) == text);
  for (const char* other : {"", "br", "gzip;q=0", "identity"}) {
    request.accept_encoding = other;
    EXPECT_TRUE(packed_body(packed_json(request, text)) == text) << other;
    EXPECT_EQ(packed_header(packed_json(request, text), "Content-Encoding"), "") << other;
  }
}

TEST(PackedJson, SendsShortAnswersAsTheyAre) {
  Request request;
  request.accept_encoding = "gzip";
  const std::string text(kLeastPackedBytes - 1, '1');
  EXPECT_TRUE(packed_body(packed_json(request, text)) == text);
}

}  // namespace
}  // namespace hyperflock::http
