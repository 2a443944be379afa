// Tests profiles with the recording executor, whose clock advances by a microsecond with each
// dispatch, and with the CPU alone.
#include "runtime/profile.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "abi/calls/context.h"
#include "abi/calls/ufuncs.h"
#include "backend/cpu/cpu_backend.h"
#include "testing/recorded_ring.h"

namespace arraycore {
namespace {

using Fields = std::vector<std::string>;

// Splits a profile into lines, and each line into fields. The first field of a line is its kind.
// The result has, for each kind, the other fields of each of its lines.
std::map<std::string, std::vector<Fields>> told(const std::string& text) {
  std::map<std::string, std::vector<Fields>> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    std::istringstream fields(line);
    std::string kind;
    std::getline(fields, kind, '\t');
    Fields& made = lines[kind].emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) made.push_back(field);
  }
  return lines;
}

struct ProfileTest : testing::Test {
  ProfileTest() {
    context = std::make_unique<Context>(make_cpu_backend(), std::move(ring.backend), arrays,
                                        std::nullopt);
  }
  ~ProfileTest() override { context.reset(); }
  ArrayId array() {
    const std::vector<float> ones(100, 1);
    return context->create(DType::float32, Dims{100}, ones.data()).value();
  }
  ArrayId call(const char* ufunc, ArrayId a, ArrayId b) {
    return calls::binary(*context, ops::find(ufunc).value(), a, b).value();
  }
  std::size_t count(ring::Opcode opcode) const {
    std::size_t found = 0;
    for (const auto& command : ring.executor->commands())
      if (command.opcode == opcode) ++found;
    return found;
  }

  RecordedRing ring;
  ArrayTable arrays;
  std::unique_ptr<Context> context;
  std::string text;
};

TEST_F(ProfileTest, EachDispatchIsItsOperationsAndHasItsTime) {
  const ArrayId a = array();
  call("subtract", a, a);  // this is before the profile and not in it
  ASSERT_TRUE(context->launcher().begin_profile());
  const ArrayId b = array();
  call("add", a, b);
  call("multiply", a, b);
  call("add", b, a);
  ASSERT_TRUE(context->launcher().end_profile(text));
  call("add", a, b);
  const auto lines = told(text);
  std::map<std::string, Fields> rows;
  for (const Fields& row : lines.at("row")) rows[row.at(6)] = row;
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.at("upload").at(2), "400");
  EXPECT_EQ(rows.at("add").at(0), "2");
  EXPECT_EQ(rows.at("add").at(1), "2");
  EXPECT_EQ(rows.at("add").at(5), "2000");
  EXPECT_EQ(rows.at("multiply").at(5), "1000");
  EXPECT_EQ(lines.at("span").size(), 4U);
  ASSERT_EQ(lines.at("kernel").size(), 3U);
  EXPECT_EQ(lines.at("kernel").at(2), (Fields{"1", "2000", "1000", "3"}));
  EXPECT_EQ(lines.at("profile").at(0).at(2), "0");
  EXPECT_EQ(count(ring::Opcode::trace), 3U);  // for the begin, the emptying and the end
}

TEST_F(ProfileTest, MoreDispatchesThanTheDeviceHasRoomForAreAllKept) {
  const ArrayId a = array();
  ASSERT_TRUE(context->launcher().begin_profile());
  constexpr int kCalls = RingMemory::kTraced + 100;
  for (int i = 0; i < kCalls; ++i) context->release(call("add", a, a));
  ASSERT_TRUE(context->launcher().end_profile(text));
  const auto lines = told(text);
  EXPECT_EQ(lines.at("row").at(0).at(1), std::to_string(kCalls));
  EXPECT_EQ(lines.at("profile").at(0).at(2), "0");
  EXPECT_EQ(lines.at("kernel").size(), static_cast<std::size_t>(kCalls));
}

TEST_F(ProfileTest, WithoutOneNothingIsAskedOfTheDevice) {
  const ArrayId a = array();
  call("add", a, a);
  EXPECT_EQ(context->launcher().profile(), nullptr);
  EXPECT_EQ(count(ring::Opcode::trace), 0U);
  EXPECT_EQ(context->launcher().end_profile(text).error().code, "not_profiled");
}

TEST_F(ProfileTest, ALostDeviceEndsItAndWhatIsKnownIsTold) {
  const ArrayId a = array();
  ASSERT_TRUE(context->launcher().begin_profile());
  call("add", a, a);
  ASSERT_TRUE(ring.executor->pump());
  ring.executor->faults.lose_device_at =
      static_cast<std::uint32_t>(ring.executor->commands().size());
  const Status ended = context->launcher().end_profile(text);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::device_lost);
  EXPECT_EQ(told(text).at("row").at(0).at(6), "add");
  EXPECT_EQ(context->launcher().profile(), nullptr);
  ASSERT_TRUE(context->reset());
  ASSERT_TRUE(context->launcher().begin_profile()) << "another may begin";
  ASSERT_TRUE(context->reset());
  EXPECT_EQ(context->launcher().profile(), nullptr) << "a reset ends it";
}

TEST(ProfileOnTheCpu, ALaunchIsItsOwnDispatch) {
  ArrayTable arrays;
  Context context(make_cpu_backend(), nullptr, arrays, std::nullopt);
  const std::vector<float> ones(100, 1);
  const ArrayId a = context.create(DType::float32, Dims{100}, ones.data()).value();
  std::string text;
  ASSERT_TRUE(context.launcher().begin_profile());
  EXPECT_EQ(context.launcher().begin_profile().error().code, "profiled_already");
  ASSERT_TRUE(calls::binary(context, ops::find("add").value(), a, a));
  ASSERT_TRUE(context.launcher().end_profile(text));
  const auto lines = told(text);
  ASSERT_EQ(lines.at("row").size(), 1U);
  EXPECT_EQ(lines.at("row").at(0).at(1), "1");
  EXPECT_EQ(lines.at("row").at(0).at(6), "add");
  EXPECT_EQ(lines.count("kernel"), 0U);
}

}  // namespace
}  // namespace arraycore
