// Tests what a join page learns about the downloads of its project's studies.
#include "http/compute/downloads.h"

#include <gtest/gtest.h>

namespace hyperflock::http {
namespace {

using protocol::Runtime;
using protocol::StudySpec;

Runtime runtime_with_all() {
  Runtime runtime;
  runtime.id = "r";
  std::int64_t size = 1;
  for (const char* name : {"pyodide", "numpy", "six", "worker", "chainer-7.8.1", "arraycore",
                           "packaging", "colorlog", "tqdm", "optuna"}) {
    runtime.downloads.emplace(
        name, Runtime::Download{.path = std::string("/") + name, .brotli = size, .gzip = 2 * size});
    size *= 10;
  }
  return runtime;
}

StudySpec spec_with(const std::string& backend = "") {
  StudySpec spec;
  spec.chainer = "7.8.1";
  spec.runtime_index = "r";
  spec.backend = backend;
  spec.bundle = {"b", 7};
  return spec;
}

TEST(Downloads, EachPieceIsNamedOnceAndEachStudyHasItsOwn) {
  StudySpec with_data = spec_with("webgpu");
  with_data.data.push_back({.name = "x", .kind = "npy", .filename = "x.npy", .blob = {"d", 9}});
  EXPECT_EQ(
      downloads_json({spec_with(), with_data}, {runtime_with_all()}, {}, Compression::brotli),
      R"({"pieces":[{"path":"/pyodide","bytes":1},{"path":"/numpy","bytes":10},)"
      R"({"path":"/six","bytes":100},{"path":"/worker","bytes":1000},)"
      R"({"path":"/chainer-7.8.1","bytes":10000},{"path":"/arraycore","bytes":100000}],)"
      R"("studies":[{"pieces":[0,1,2,3,4],"blobs":[{"sha256":"b","bytes":7}]},)"
      R"({"pieces":[0,1,2,3,4,5],"blobs":[{"sha256":"b","bytes":7},{"sha256":"d","bytes":9}]}]})");
}

TEST(Downloads, OptunaBelongsToAskAndTellStudies) {
  StudySpec asked = spec_with();
  asked.kind = protocol::StudyKind::asked;
  const std::string json = downloads_json({asked}, {runtime_with_all()}, {}, Compression::gzip);
  EXPECT_NE(json.find(R"({"path":"/optuna","bytes":2000000000})"), std::string::npos) << json;
  EXPECT_EQ(json.find("arraycore"), std::string::npos) << json;
}

TEST(Downloads, R76_PacksCountWithAllThatTheyNeedAndOnce) {
  protocol::PackList packs;
  packs.packs["scipy"] = {.version = "1", .download = {"/scipy", 8, 16}, .needs = {}};
  packs.packs["scikit-learn"] = {.version = "1", .download = {"/sk", 2, 4}, .needs = {"scipy"}};
  StudySpec with_both = spec_with();
  with_both.packs = {{"scikit-learn", "1"}, {"scipy", "1"}};
  Runtime runtime = runtime_with_all();
  std::erase_if(runtime.downloads, [](const auto& piece) { return piece.first != "numpy"; });
  EXPECT_EQ(downloads_json({with_both, spec_with()}, {runtime}, packs, Compression::brotli),
            R"({"pieces":[{"path":"/numpy","bytes":10},{"path":"/sk","bytes":2},)"
            R"({"path":"/scipy","bytes":8}],)"
            R"("studies":[{"pieces":[0,1,2],"blobs":[{"sha256":"b","bytes":7}]},)"
            R"({"pieces":[0],"blobs":[{"sha256":"b","bytes":7}]}]})");
}

TEST(Downloads, AStudyWithAnotherRuntimeIsLeftOut) {
  StudySpec other = spec_with();
  other.runtime_index = "another";
  const std::string nothing = R"({"pieces":[],"studies":[]})";
  EXPECT_EQ(downloads_json({other}, {runtime_with_all()}, {}, Compression::brotli), nothing);
  EXPECT_EQ(downloads_json({}, {}, {}, Compression::brotli), nothing);
}

}  // namespace
}  // namespace hyperflock::http
