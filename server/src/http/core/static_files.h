// Built pages and the browser's runtime, served from memory. Folders are listed once at the start
// and only what was listed is ever served, so no request can name a path outside. Contents are read
// at the first request and kept. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "http/core/message.h"

namespace hyperflock::http {

class StaticFiles {
 public:
  // Lists `folder` below the URL prefix (`/app/`). Symbolic links and dot files are left out;
  // `x.br` and `x.gz` beside `x` are its pre-compressed forms. A folder that is not there lists
  // nothing.
  void mount(const std::string& url_prefix, const std::string& folder);
  // Lists one file.
  void mount_file(const std::string& url, const std::string& path);

  bool knows(std::string_view path) const { return files_.contains(std::string(path)); }
  std::size_t size() const { return files_.size(); }

  // Returns the answer if the fitting form of the file is in memory. Does not block.
  std::optional<Response> cached(const Request& request) const;
  // Returns the answer, and reads the file if necessary. REQUIRES: knows(request.path).
  Response load(const Request& request) const;

 private:
  enum class Coding { plain, gzip, brotli };
  struct Contents {
    std::shared_ptr<const std::string> bytes;
    std::string etag;
  };
  // One form of a file. `contents` is written once, under the mutex of StaticFiles.
  struct Form {
    std::string path;  // empty: there is none
    mutable Contents contents;
  };
  struct File {
    Form plain;
    Form gzip;
    Form brotli;
    std::string_view content_type;
    bool immutable = false;
    bool python_thread = false;  // gets the policy of the thread that runs trials
    bool gpu_thread = false;     // and of the one that owns the graphics device
  };

  static Coding choose(const File& file, std::string_view accept_encoding);
  static const Form& form(const File& file, Coding coding);
  static Response respond(const Request& request, const File& file, Coding coding,
                          const Contents& contents);
  void add(const std::string& url, const std::string& path);

  std::unordered_map<std::string, File> files_;
  mutable std::mutex mutex_;
};

}  // namespace hyperflock::http
