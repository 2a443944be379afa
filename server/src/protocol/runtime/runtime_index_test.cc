// Tests which studies a server's runtime can run (R58).
#include "protocol/runtime/runtime_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyperflock::protocol {
namespace {

std::string index(const std::string& numpy, char id = 'a') {
  return R"({"runtime":")" + std::string(64, id) + R"(","pieces":{
  "pyodide":{"version":"314.0.3","base":"/runtime/pyodide-1/","files":[]},
  "numpy":{"version":")" +
         numpy + R"("},"chainer-7.8.1":{"version":"7.8.1"},"odd":{"version":3}}})";
}

StudySpec spec(const std::string& numpy, const std::string& chainer = "7.8.1") {
  StudySpec spec;
  spec.chainer = chainer;
  spec.versions.pyodide = "314.0.3";
  spec.versions.numpy = numpy;
  return spec;
}

TEST(RuntimeIndex, R58_VersionsByPiece) {
  const auto runtime = parse_runtime_index(index("2.4.3"));
  ASSERT_TRUE(runtime.has_value());
  EXPECT_EQ(runtime->id, std::string(64, 'a'));
  EXPECT_EQ(runtime->pieces.size(), 3U);
  EXPECT_EQ(runtime->pieces.at("numpy"), "2.4.3");
}

TEST(RuntimeIndex, DownloadsAreThoseOfEachPiecesFiles) {
  const auto runtime = parse_runtime_index(R"({"runtime":")" + std::string(64, 'a') +
                                           R"(","pieces":{
  "pyodide":{"version":"1","base":"/runtime/pyodide-1/","files":[
    {"name":"lock.json","bytes":100,"br":90,"gz":null},
    {"name":"core.wasm","bytes":9000,"br":3000,"gz":3500},{"bytes":7},7]},
  "arraycore":{"version":"1","base":"/runtime/arraycore-1/","files":[
    {"name":"arraycore-relaxed.wasm","bytes":60,"br":20,"gz":30},
    {"name":"arraycore.wasm","bytes":50,"br":20,"gz":30},{"name":"a.zip","bytes":9}]},
  "odd":{"version":"1","base":3,"files":[]},"six":{"version":"1"}}})");
  ASSERT_TRUE(runtime.has_value());
  using Download = Runtime::Download;
  const std::map<std::string, Download, std::less<>> expected{
      {"pyodide", Download{"/runtime/pyodide-1/core.wasm", 3090, 3600}},
      {"arraycore", Download{"/runtime/arraycore-1/arraycore.wasm", 29, 39}},
  };
  EXPECT_EQ(runtime->downloads, expected);
}

TEST(RuntimeIndex, R58_ATextThatIsNoIndexSaysNothing) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
        std::string(R"({"runtime":"../x","pieces":{}})"), std::string(R"({"pieces":3})"),
        R"({"runtime":")" + std::string(64, 'a') + R"(","pieces":[]})"}) {
    EXPECT_FALSE(parse_runtime_index(text).has_value()) << text;
  }
}

TEST(RuntimeIndex, R58_TheFirstRuntimeWithTheVersionsIsChosen) {
  const std::vector<Runtime> runtimes{*parse_runtime_index(index("2.5.0", 'b')),
                                      *parse_runtime_index(index("2.4.3"))};
  EXPECT_EQ(choose_runtime(spec("2.4.3"), runtimes).value(), std::string(64, 'a'));
  EXPECT_EQ(choose_runtime(spec("2.5.0"), runtimes).value(), std::string(64, 'b'));
  EXPECT_EQ(choose_runtime(spec(""), runtimes).value(), std::string(64, 'b'));
  EXPECT_EQ(choose_runtime(spec("9.9.9", "1.0"), {}).value(), "");  // no runtime is known
}

TEST(RuntimeIndex, R58_ARuntimeThatDiffersByItsOtherPiecesReplacesAnother) {
  const Runtime older = *parse_runtime_index(index("2.4.3"));
  Runtime newer = *parse_runtime_index(index("2.4.3", 'b'));
  newer.pieces["worker"] = "0.3.0";
  newer.pieces["chainer-5.4.0"] = "5.4.0";
  EXPECT_TRUE(replaces(newer, older));
  EXPECT_FALSE(replaces(older, newer));  // it lacks a version of Chainer
  EXPECT_FALSE(replaces(*parse_runtime_index(index("2.5.0", 'b')), older));
}

TEST(RuntimeIndex, R58_AVersionThatNoRuntimeHasIsRefused) {
  const std::vector<Runtime> runtimes{*parse_runtime_index(index("2.4.3"))};
  const auto numpy = choose_runtime(spec("2.3.0"), runtimes);
  ASSERT_FALSE(numpy.has_value());
  EXPECT_EQ(numpy.error().code, "runtime_mismatch");
  EXPECT_EQ(numpy.error().field, "versions.numpy");
  EXPECT_NE(numpy.error().message.find("numpy 2.3.0"), std::string::npos);
  const auto chainer = choose_runtime(spec("2.4.3", "6.0.0"), runtimes);
  ASSERT_FALSE(chainer.has_value());
  EXPECT_EQ(chainer.error().field, "runtime.chainer");
}

}  // namespace
}  // namespace hyperflock::protocol
