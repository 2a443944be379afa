// Tests device reports in a real folder: which are kept, their order, and what a restart finds.
#include "http/core/device_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/scratch_folder.h"

namespace hyperflock::http {
namespace {

DeviceReport report(const std::string& engine) {
  return {"phone", engine, {{"webgpu", "missing", "no \"adapter\""}}};
}

std::vector<std::string> texts_of(const std::vector<DeviceReports::Stored>& reports) {
  std::vector<std::string> texts;
  for (const DeviceReports::Stored& one : reports) texts.push_back(one.json);
  return texts;
}

TEST(DeviceReports, AreGivenBackAsTheyCame) {
  const ScratchFolder folder;
  const auto reports = DeviceReports::open(folder.file("reports"));
  ASSERT_TRUE(reports);
  EXPECT_EQ((*reports)->newest(0, 5).size(), 0U);
  const auto number = (*reports)->add(report("webkit 26"), "digits", 1'000);
  ASSERT_TRUE(number);
  EXPECT_EQ(*number, 1);
  EXPECT_THAT(
      texts_of((*reports)->newest(0, 5)),
      testing::ElementsAre(
          R"({"report":1,"received_at":1000,"project":"digits","class":"phone","engine":"webkit 26",)"
          R"("checks":[{"name":"webgpu","state":"missing","detail":"no \"adapter\""}]})"));
}

TEST(DeviceReports, OnlyTheNewestAreKeptAlsoOverARestart) {
  const ScratchFolder folder;
  {
    const auto reports = DeviceReports::open(folder.file("reports"), 3);
    ASSERT_TRUE(reports);
    for (int i = 1; i <= 12; ++i) ASSERT_TRUE((*reports)->add(report("e"), "p", i));
  }
  const auto again = DeviceReports::open(folder.file("reports"), 3);
  ASSERT_TRUE(again);
  EXPECT_THAT(texts_of((*again)->newest(0, 9)),
              testing::ElementsAre(testing::HasSubstr("\"report\":12,"),
                                   testing::HasSubstr("\"report\":11,"),
                                   testing::HasSubstr("\"report\":10,")));
  EXPECT_THAT(texts_of((*again)->newest(12, 1)),
              testing::ElementsAre(testing::HasSubstr("\"report\":11,")));
  EXPECT_EQ(*(*again)->add(report("e"), "p", 0), 13);
  EXPECT_EQ((*again)->newest(0, 1).size(), 1U);
}

TEST(DeviceReports, AHalfWrittenOneAndAStrangersFileAreLeftOut) {
  const ScratchFolder folder;
  {
    ASSERT_TRUE(DeviceReports::open(folder.file("reports")));
  }
  std::ofstream(folder.file("reports/7.json")) << R"({"report":7,"chec)";
  std::ofstream(folder.file("reports/notes.txt")) << "{}";
  const auto reports = DeviceReports::open(folder.file("reports"));
  ASSERT_TRUE(reports);
  EXPECT_EQ((*reports)->newest(0, 5).size(), 0U);
  EXPECT_EQ(*(*reports)->add(report("e"), "p", 0), 8);
}

TEST(DeviceReports, AFolderThatCannotBeIsSaid) {
  const ScratchFolder folder;
  std::ofstream(folder.file("file")) << "no folder";
  const auto reports = DeviceReports::open(folder.file("file/reports"));
  ASSERT_FALSE(reports);
  EXPECT_EQ(reports.error().code, "storage_open");
}

}  // namespace
}  // namespace hyperflock::http
