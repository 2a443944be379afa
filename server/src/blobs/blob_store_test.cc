// Tests that a blob with its final name is complete and has the right bytes, even after a crash.
#include "blobs/blob_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "base/testing/scratch_folder.h"

namespace hyperflock::blobs {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;

constexpr std::string_view kHello = "hello, flock";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Blobs : public testing::Test {
 protected:
  std::unique_ptr<BlobStore> open(std::uint64_t max_bytes = 1'000) {
    return BlobStore::open(folder_.path() / "blobs", max_bytes).value();
  }
  static Result<BlobStore::Stored> put(const BlobStore& store, std::string_view text,
                                       const std::string& sha256) {
    auto writer = store.begin().value();
    TRY(writer->append(bytes_of(text)));
    return writer->finish(sha256);
  }
  std::size_t uploads() const {
    return static_cast<std::size_t>(std::distance(
        fs::directory_iterator(folder_.path() / "blobs" / "uploads"), fs::directory_iterator()));
  }

  ScratchFolder folder_;
  const std::string hello_ = sha256_hex(kHello);
};

TEST(Sha256Hex, MatchesTheStandardsExample) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256Hex, IsTheSameInPieces) {
  Sha256 hash;
  hash.update(bytes_of("a"));
  hash.update({});
  hash.update(bytes_of("bc"));
  EXPECT_EQ(hash.hex(), sha256_hex("abc"));
}

TEST_F(Blobs, AreStoredByTheirHash) {
  const auto store = open();
  EXPECT_FALSE(store->exists(hello_));
  auto writer = store->begin().value();
  ASSERT_TRUE(writer->append(bytes_of(kHello.substr(0, 5))).has_value());
  ASSERT_TRUE(writer->append(bytes_of(kHello.substr(5))).has_value());
  EXPECT_FALSE(store->exists(hello_));
  const auto stored = writer->finish(hello_);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->bytes, kHello.size());
  EXPECT_TRUE(stored->is_new);

  EXPECT_EQ(store->size(hello_), kHello.size());
  const auto file = store->path_of(hello_);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(*file, folder_.path() / "blobs" / hello_.substr(0, 2) / hello_.substr(2));
  EXPECT_EQ(content(*file), kHello);
  EXPECT_EQ(uploads(), 0U);
}

TEST_F(Blobs, MayBeEmpty) {
  const auto store = open();
  EXPECT_TRUE(store->begin().value()->finish(sha256_hex("")).has_value());
  EXPECT_EQ(store->size(sha256_hex("")), 0U);
}

TEST_F(Blobs, SameBytesTwiceAreStoredOnce) {
  const auto store = open();
  EXPECT_TRUE(put(*store, kHello, hello_)->is_new);
  EXPECT_FALSE(put(*store, kHello, hello_)->is_new);
  EXPECT_EQ(uploads(), 0U);
}

TEST_F(Blobs, WrongHashLeavesNothing) {
  const auto store = open();
  const auto refused = put(*store, "hello, flocK", hello_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "hash_mismatch");
  EXPECT_THAT(refused.error().message, HasSubstr(sha256_hex("hello, flocK")));
  EXPECT_FALSE(store->exists(hello_));
  EXPECT_FALSE(store->exists(sha256_hex("hello, flocK")));
  EXPECT_EQ(uploads(), 0U);
}

TEST_F(Blobs, LimitIsTheLastSizeThatFits) {
  const auto store = open(10);
  EXPECT_TRUE(put(*store, "0123456789", sha256_hex("0123456789")).has_value());
  auto writer = store->begin().value();
  ASSERT_TRUE(writer->append(bytes_of("0123456789")).has_value());
  const auto refused = writer->append(bytes_of("x"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "blob_too_large");
  EXPECT_EQ(uploads(), 0U);
  EXPECT_FALSE(writer->append(bytes_of("x")).has_value());
  EXPECT_FALSE(writer->finish(sha256_hex("0123456789")).has_value());
}

TEST_F(Blobs, AbandonedUploadIsRemoved) {
  const auto store = open();
  {
    auto writer = store->begin().value();
    ASSERT_TRUE(writer->append(bytes_of(kHello)).has_value());
    EXPECT_EQ(uploads(), 1U);
  }
  EXPECT_EQ(uploads(), 0U);
}

TEST_F(Blobs, UploadsThatACrashLeftAreSweptAtOpenAndBlobsStay) {
  ASSERT_TRUE(put(*open(), kHello, hello_).has_value());
  std::ofstream(folder_.path() / "blobs" / "uploads" / "a1b2c3") << "half a bl";
  const auto store = open();
  EXPECT_EQ(uploads(), 0U);
  EXPECT_TRUE(store->exists(hello_));
}

TEST_F(Blobs, NamesThatAreNoHashAreNeverLookedUp) {
  const auto store = open();
  std::ofstream(folder_.path() / "secret") << "s";
  for (const std::string& name : {std::string(), std::string("../secret"), std::string("uploads"),
                                  std::string(64, 'g'), std::string(64, 'A'), std::string(63, 'a'),
                                  std::string(65, 'a'), "../" + std::string(61, 'a')}) {
    EXPECT_FALSE(store->path_of(name).has_value()) << name;
    EXPECT_FALSE(store->exists(name)) << name;
  }
}

TEST_F(Blobs, FolderThatCannotBeUsedIsAnError) {
  std::ofstream(folder_.path() / "file") << "x";
  const auto refused = BlobStore::open(folder_.path() / "file", 10);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "storage_open");
}

TEST_F(Blobs, DiskThatFailsIsReportedAndLeavesNothing) {
  const auto store = open();
  auto writer = store->begin().value();
  ASSERT_TRUE(writer->append(bytes_of(kHello)).has_value());
  // The blob's folder cannot be created, because a file has its name.
  std::ofstream(folder_.path() / "blobs" / hello_.substr(0, 2)) << "x";
  const auto refused = writer->finish(hello_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "storage_unavailable");
  EXPECT_EQ(uploads(), 0U);
}

TEST_F(Blobs, UploadsOfTheSameBytesAtOnceAllSucceed) {
  const auto store = open(100'000);
  const std::string text(60'000, 'z');
  const std::string sha256 = sha256_hex(text);
  std::vector<int> succeeded(8);
  std::vector<std::thread> threads;
  threads.reserve(succeeded.size());
  for (int& ok : succeeded) {
    threads.emplace_back([&] { ok = put(*store, text, sha256).has_value() ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(succeeded, Each(1));
  EXPECT_EQ(content(store->path_of(sha256).value()), text);
  EXPECT_EQ(uploads(), 0U);
}

}  // namespace
}  // namespace hyperflock::blobs
