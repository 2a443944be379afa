// Serves built pages and the runtime of browsers from memory. Folders are listed once at the start,
// and only listed files are served, so no request can name another path. A file is read at its
// first request and kept. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "http/core/message.h"

namespace hyperflock::http {

// The text in a built page that stands for the origin at which a browser or crawler asked for it.
inline constexpr std::string_view kOriginPlaceholder = "https://origin.invalid";

// Returns whether an If-None-Match header names the entity tag.
bool names_etag(std::string_view if_none_match, std::string_view etag);

// Returns whether an Accept-Encoding header accepts `coding` with a weight above 0.
bool accepts(std::string_view accept_encoding, std::string_view coding);

class StaticFiles {
 public:
  // Lets the agent's thread fetch data from this origin, too. Empty: from its own only.
  void allow_data_from(std::string origin) { data_origin_ = std::move(origin); }

  // Lists `folder` below the URL prefix (`/app/`). It leaves out symbolic links and dot files.
  // `x.br` and `x.gz` are pre-compressed forms of `x`. A missing folder counts as empty.
  void mount(const std::string& url_prefix, const std::string& folder);
  // Lists one file. In a page that contains kOriginPlaceholder, each answer has the origin of its
  // request in place of it, because link previews take complete addresses only. Such a page is sent
  // uncompressed.
  void mount_file(const std::string& url, const std::string& path);

  bool knows(std::string_view path) const { return files_.contains(std::string(path)); }
  std::size_t size() const { return files_.size(); }

  // Returns the answer if the file is in memory in the form that the client accepts; else nullopt.
  // Does not block.
  std::optional<Response> cached(const Request& request) const;
  // Returns the answer, and reads the file if necessary. REQUIRES: knows(request.path).
  Response load(const Request& request) const;

 private:
  enum class Coding { plain, gzip, brotli };
  struct Contents {
    std::shared_ptr<const std::string> bytes;
    std::string etag;
  };
  // A file in one encoding. `contents` is written once, under the mutex of StaticFiles.
  struct Form {
    std::string path;  // empty: there is no such form
    mutable Contents contents;
  };
  struct File {
    Form plain;
    Form gzip;
    Form brotli;
    std::string_view content_type;
    bool immutable = false;
    bool python_thread = false;  // whether it gets python_thread_policy()
    bool gpu_thread = false;     // whether it gets kGpuThreadPolicy
    bool agent_thread = false;   // whether it gets agent_thread_policy() if there is a data origin
    bool names_origin = false;   // whether it contains kOriginPlaceholder
  };

  static Coding choose(const File& file, std::string_view accept_encoding);
  static const Form& form(const File& file, Coding coding);
  Response respond(const Request& request, const File& file, Coding coding,
                   const Contents& contents) const;
  void add(const std::string& url, const std::string& path);

  std::string data_origin_;
  std::unordered_map<std::string, File> files_;
  mutable std::mutex mutex_;
};

}  // namespace hyperflock::http
