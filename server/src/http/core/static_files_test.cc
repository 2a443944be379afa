// Tests static files: content types, compressed forms, caching, and that no file outside the folder
// is served.
#include "http/core/static_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_folder.h"

namespace hyperflock::http {
namespace {

namespace fs = std::filesystem;

class StaticFilesTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  static Request request(const std::string& path, const std::string& accept = "",
                         const std::string& etag = "") {
    Request made;
    made.method = Method::get;
    made.path = path;
    made.host = "127.0.0.1:8780";
    made.accept_encoding = accept;
    made.if_none_match = etag;
    return made;
  }

  static std::string header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }

  static std::string text(const Response& response) {
    const auto* shared = std::get_if<std::shared_ptr<const std::string>>(&response.body);
    return shared != nullptr ? **shared : std::get<std::string>(response.body);
  }

  ScratchFolder folder_;
  StaticFiles files_;
};

TEST_F(StaticFilesTest, APageNamesTheOriginOfItsRequest) {
  write("join.html", R"(<meta content="https://origin.invalid/p.png"><a href="/selftest">)");
  write("join.html.gz", "compressed");
  write("plain.html", "<p>");
  write("plain.html.gz", "compressed");
  files_.mount_file("/join", folder_.file("join.html"));
  files_.mount_file("/plain", folder_.file("plain.html"));
  Request asked = request("/join", "gzip");
  const Response first = files_.load(asked);
  EXPECT_EQ(text(first), R"(<meta content="http://127.0.0.1:8780/p.png"><a href="/selftest">)");
  EXPECT_EQ(header(first, "Content-Encoding"), "");
  asked.host = "flock.example.org";
  asked.secure = true;
  const Response second = files_.load(asked);
  EXPECT_EQ(text(second),
            R"(<meta content="https://flock.example.org/p.png"><a href="/selftest">)");
  EXPECT_NE(header(first, "ETag"), header(second, "ETag"));
  asked.if_none_match = header(second, "ETag");
  EXPECT_EQ(files_.load(asked).status, 304);
  asked.if_none_match = header(first, "ETag");
  EXPECT_EQ(files_.load(asked).status, 200);
  // A host that could end the attribute is no part of the page.
  asked.if_none_match.clear();
  asked.host = "x\"><script>";
  EXPECT_EQ(text(files_.load(asked)), R"(<meta content="/p.png"><a href="/selftest">)");
  EXPECT_EQ(header(files_.load(request("/plain", "gzip")), "Content-Encoding"), "gzip");
}

TEST_F(StaticFilesTest, ServesKindsWithTheirTypes) {
  write("app/a.mjs", "m");
  write("app/a.wasm", "w");
  write("app/a.whl", "z");
  files_.mount("/app/", folder_.file("app"));
  EXPECT_EQ(files_.load(request("/app/a.mjs")).content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(files_.load(request("/app/a.wasm")).content_type, "application/wasm");
  EXPECT_EQ(files_.load(request("/app/a.whl")).content_type, "application/zip");
}

TEST_F(StaticFilesTest, ChoosesThePrecompressedForm) {
  write("app/a.js", "plain");
  write("app/a.js.br", "brotli");
  write("app/a.js.gz", "gzip");
  files_.mount("/app/", folder_.file("app"));
  const auto get = [this](const char* accept) { return files_.load(request("/app/a.js", accept)); };
  EXPECT_EQ(text(get("gzip, deflate, br")), "brotli");
  EXPECT_EQ(header(get("gzip, deflate, br"), "Content-Encoding"), "br");
  EXPECT_EQ(text(get("gzip;q=0.5")), "gzip");
  EXPECT_EQ(text(get("br;q=0, gzip")), "gzip");
  EXPECT_EQ(text(get("br;q=0.0")), "plain");
  EXPECT_EQ(text(get("")), "plain");
  EXPECT_EQ(header(get(""), "Content-Encoding"), "");
  EXPECT_EQ(header(get(""), "Vary"), "Accept-Encoding");
  EXPECT_EQ(get("br").content_type, "text/javascript; charset=utf-8");
  EXPECT_FALSE(files_.knows("/app/a.js.br"));
}

TEST_F(StaticFilesTest, AnswersNotModifiedForTheFormsOwnEtag) {
  write("app/a.js", "plain");
  write("app/a.js.br", "brotli");
  files_.mount("/app/", folder_.file("app"));
  const std::string plain = header(files_.load(request("/app/a.js")), "ETag");
  const std::string brotli = header(files_.load(request("/app/a.js", "br")), "ETag");
  EXPECT_NE(plain, brotli);
  EXPECT_EQ(files_.load(request("/app/a.js", "", plain)).status, 304);
  EXPECT_EQ(files_.load(request("/app/a.js", "", "W/" + plain + ", \"x\"")).status, 304);
  EXPECT_EQ(files_.load(request("/app/a.js", "", "*")).status, 304);
  EXPECT_EQ(files_.load(request("/app/a.js", "br", plain)).status, 200);
  EXPECT_EQ(text(files_.load(request("/app/a.js", "", plain))), "");
}

TEST_F(StaticFilesTest, ImmutableWhereTheNameHasAHash) {
  write("runtime/index.json", "{}");
  write("runtime/pyodide-0123456789abcdef/pyodide.mjs", "x");
  write("page.html", "<!doctype html>");
  files_.mount("/runtime/", folder_.file("runtime"));
  files_.mount_file("/join", folder_.file("page.html"));
  EXPECT_EQ(header(files_.load(request("/runtime/index.json")), "Cache-Control"), "no-cache");
  EXPECT_EQ(header(files_.load(request("/join")), "Cache-Control"), "no-cache");
  EXPECT_EQ(files_.load(request("/join")).content_type, "text/html; charset=utf-8");
  EXPECT_EQ(header(files_.load(request("/runtime/pyodide-0123456789abcdef/pyodide.mjs")),
                   "Cache-Control"),
            "public, max-age=31536000, immutable");
}

TEST_F(StaticFilesTest, PythonThreadScriptsHaveTheirOwnPolicy) {
  write("app/python-thread-AbC.js", "x");
  write("app/agent-thread-AbC.js", "x");
  write("app/gpu-thread-AbC.js", "x");
  files_.mount("/app/", folder_.file("app"));
  EXPECT_EQ(files_.load(request("/app/python-thread-AbC.js")).content_security_policy,
            python_thread_policy("127.0.0.1:8780", false));
  EXPECT_EQ(files_.load(request("/app/agent-thread-AbC.js")).content_security_policy, "");
  EXPECT_EQ(files_.load(request("/app/gpu-thread-AbC.js")).content_security_policy,
            kGpuThreadPolicy);
  Request evil = request("/app/python-thread-AbC.js");
  evil.host = "x; script-src *";
  EXPECT_EQ(files_.load(evil).status, 400);
}

TEST_F(StaticFilesTest, NothingOutsideIsReachable) {
  write("secret", "s");
  write("app/a.js", "x");
  write("app/.hidden", "x");
  fs::create_symlink(folder_.path() / "secret", folder_.path() / "app" / "link");
  files_.mount("/app/", folder_.file("app"));
  for (const char* path : {"/app/../secret", "/app//a.js", "/app/./a.js", "/app/%2e%2e/secret",
                           "/app/", "/app", "/app/link", "/app/.hidden", "/secret"}) {
    EXPECT_FALSE(files_.knows(path)) << path;
  }
  EXPECT_TRUE(files_.knows("/app/a.js"));
}

TEST_F(StaticFilesTest, ReadsOnceAndKeeps) {
  write("app/a.js", "first");
  files_.mount("/app/", folder_.file("app"));
  EXPECT_FALSE(files_.cached(request("/app/a.js")).has_value());
  EXPECT_EQ(text(files_.load(request("/app/a.js"))), "first");
  write("app/a.js", "second");
  ASSERT_TRUE(files_.cached(request("/app/a.js")).has_value());
  EXPECT_EQ(text(*files_.cached(request("/app/a.js"))), "first");
}

TEST_F(StaticFilesTest, AFileThatWentAwayIsNotFound) {
  write("app/a.js", "x");
  files_.mount("/app/", folder_.file("app"));
  fs::remove(folder_.path() / "app/a.js");
  EXPECT_EQ(files_.load(request("/app/a.js")).status, 404);
}

}  // namespace
}  // namespace hyperflock::http
