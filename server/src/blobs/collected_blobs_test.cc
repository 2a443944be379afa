// Tests that an uploaded blob is removed when no row names it, and never before.
#include "blobs/collected_blobs.h"

#include <gtest/gtest.h>

#include "base/testing/scratch_folder.h"

namespace hyperflock::blobs {
namespace {

class CollectedBlobsTest : public ::testing::Test {
 protected:
  using Upload = std::unique_ptr<CollectedBlobs::Upload>;

  void open(const std::vector<std::string>& kept) {
    store_.reset();
    store_ = std::move(CollectedBlobs::open(folder_.file("collected"), 1'000, kept)).value();
  }
  // Returns an upload whose bytes are on the disk.
  Upload uploaded(const std::string& text) {
    Upload upload = std::move(store_->begin(sha256_hex(text))).value();
    EXPECT_TRUE(upload->append(std::as_bytes(std::span(text))).has_value());
    EXPECT_TRUE(upload->finish().has_value());
    return upload;
  }
  void save(const std::string& text) { uploaded(text)->named(); }
  void drop(const std::string& text) {
    store_->drop({sha256_hex(text)});
    store_->sweep();
  }
  bool has(const std::string& text) const { return store_->size(sha256_hex(text)).has_value(); }

  ScratchFolder folder_;
  std::unique_ptr<CollectedBlobs> store_;
};

TEST_F(CollectedBlobsTest, WhatIsNamedStaysUntilItIsDropped) {
  open({});
  save("one");
  EXPECT_TRUE(has("one"));
  drop("one");
  EXPECT_FALSE(has("one"));
}

TEST_F(CollectedBlobsTest, AnUploadThatNothingNamesGoes) {
  open({});
  uploaded("one").reset();
  EXPECT_FALSE(has("one"));
}

TEST_F(CollectedBlobsTest, AnUploadThatNothingNamesLeavesWhatWasThereBefore) {
  open({});
  save("one");
  uploaded("one").reset();
  EXPECT_TRUE(has("one"));
}

TEST_F(CollectedBlobsTest, BytesThatAreDroppedWhileTheyAreUploadedAgainStay) {
  open({});
  save("one");
  Upload again = uploaded("one");
  drop("one");  // before the second upload is named
  EXPECT_TRUE(has("one"));
  again->named();
  again.reset();
  store_->sweep();
  EXPECT_TRUE(has("one"));
}

TEST_F(CollectedBlobsTest, BytesThatAreNamedBetweenADropAndItsSweepStay) {
  open({});
  save("one");
  Upload again = uploaded("one");
  store_->drop({sha256_hex("one")});
  again->named();
  again.reset();
  store_->sweep();
  EXPECT_TRUE(has("one"));
}

TEST_F(CollectedBlobsTest, BytesThatAreDroppedWhileAFailedUploadRunsGo) {
  open({});
  save("one");
  Upload again = uploaded("one");
  drop("one");
  again.reset();
  EXPECT_FALSE(has("one"));
}

TEST_F(CollectedBlobsTest, BytesThatAreHeldStayUntilItIsKnownWhetherARowNamesThem) {
  open({});
  save("one");
  save("two");
  auto hold = store_->hold({sha256_hex("one"), sha256_hex("two"), sha256_hex("one")});
  drop("one");
  drop("two");
  EXPECT_TRUE(has("one"));
  hold->named();
  drop("two");  // after its name was stored
  hold.reset();
  store_->sweep();
  EXPECT_TRUE(has("one"));
  EXPECT_FALSE(has("two"));
  hold = store_->hold({sha256_hex("one"), sha256_hex("never there")});
  drop("one");
  hold.reset();
  EXPECT_FALSE(has("one"));
}

TEST_F(CollectedBlobsTest, AStartRemovesWhatNoRowNames) {
  open({});
  save("kept");
  save("orphan");
  open({sha256_hex("kept")});
  EXPECT_TRUE(has("kept"));
  EXPECT_FALSE(has("orphan"));
}

}  // namespace
}  // namespace hyperflock::blobs
