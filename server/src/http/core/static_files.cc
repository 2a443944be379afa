#include "http/core/static_files.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>
#include <vector>

#include "base/hex.h"
#include "base/text.h"

namespace hyperflock::http {
namespace {

namespace fs = std::filesystem;

struct MimeType {
  std::string_view extension;
  std::string_view type;
};

constexpr std::array kMimeTypes{
    MimeType{".html", "text/html; charset=utf-8"},
    MimeType{".js", "text/javascript; charset=utf-8"},
    MimeType{".mjs", "text/javascript; charset=utf-8"},
    MimeType{".css", "text/css; charset=utf-8"},
    MimeType{".json", "application/json"},
    MimeType{".map", "application/json"},
    MimeType{".wasm", "application/wasm"},
    MimeType{".svg", "image/svg+xml"},
    MimeType{".png", "image/png"},
    MimeType{".ico", "image/x-icon"},
    MimeType{".woff2", "font/woff2"},
    MimeType{".webmanifest", "application/manifest+json"},
    MimeType{".txt", "text/plain; charset=utf-8"},
    MimeType{".zip", "application/zip"},
    MimeType{".whl", "application/zip"},
};

std::string_view content_type_of(const fs::path& path) {
  const std::string extension = path.extension().string();
  const auto* found =
      std::ranges::find(kMimeTypes, std::string_view(extension), &MimeType::extension);
  return found == kMimeTypes.end() ? "application/octet-stream" : found->type;
}

// Returns whether the file with this URL never changes, such as `/app/name-HASH.js` or
// `/runtime/piece-HASH/file`.
bool immutable_url(std::string_view url) {
  if (url.starts_with("/app/")) return true;
  constexpr std::string_view kRuntime = "/runtime/";
  if (!url.starts_with(kRuntime)) return false;
  url.remove_prefix(kRuntime.size());
  const std::size_t slash = url.find('/');
  return slash != std::string_view::npos &&
         url.substr(0, slash).find('-') != std::string_view::npos;
}

// Returns the elements of a comma-separated header, trimmed.
std::vector<std::string_view> elements(std::string_view list) {
  std::vector<std::string_view> found;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    found.push_back(trimmed(list.substr(0, comma)));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return found;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns the page with the request's origin. Without a valid host the addresses become relative.
std::string with_origin(std::string page, const Request& request) {
  std::string origin;
  if (valid_host(request.host)) origin = (request.secure ? "https://" : "http://") + request.host;
  for (std::size_t at = page.find(kOriginPlaceholder); at != std::string::npos;
       at = page.find(kOriginPlaceholder, at + origin.size())) {
    page.replace(at, kOriginPlaceholder.size(), origin);
  }
  return page;
}

std::string etag_of(const std::string& bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return '"' + hex(std::span(digest).first(16)) + '"';
}

}  // namespace

bool names_etag(std::string_view if_none_match, std::string_view etag) {
  return std::ranges::any_of(elements(if_none_match), [etag](std::string_view element) {
    if (element.starts_with("W/")) element.remove_prefix(2);
    return element == "*" || element == etag;
  });
}

bool accepts(std::string_view accept_encoding, std::string_view coding) {
  for (const std::string_view element : elements(accept_encoding)) {
    const std::size_t semicolon = element.find(';');
    if (trimmed(element.substr(0, semicolon)) != coding) continue;
    if (semicolon == std::string_view::npos) return true;
    std::string_view weight = trimmed(element.substr(semicolon + 1));
    if (!weight.starts_with("q=")) return true;
    weight.remove_prefix(2);
    return weight.find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

void StaticFiles::add(const std::string& url, const std::string& path) {
  const fs::path file_path(path);
  File file;
  file.plain.path = path;
  std::error_code error;
  if (fs::is_regular_file(path + ".gz", error)) file.gzip.path = path + ".gz";
  if (fs::is_regular_file(path + ".br", error)) file.brotli.path = path + ".br";
  file.content_type = content_type_of(file_path);
  file.immutable = immutable_url(url);
  const std::string name = file_path.filename().string();
  file.python_thread = url.starts_with("/app/") && name.starts_with("python-thread");
  file.gpu_thread = url.starts_with("/app/") && name.starts_with("gpu-thread");
  file.agent_thread = url.starts_with("/app/") && name.starts_with("agent-thread");
  if (file_path.extension() == ".html" && read_file(path).contains(kOriginPlaceholder)) {
    file.names_origin = true;
    file.gzip.path.clear();
    file.brotli.path.clear();
  }
  files_.insert_or_assign(url, std::move(file));
}

void StaticFiles::mount_file(const std::string& url, const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) add(url, path);
}

void StaticFiles::mount(const std::string& url_prefix, const std::string& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied,
                                           error);
  if (error) return;
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (entry.is_symlink(error) || !entry.is_regular_file(error) || name.starts_with('.')) continue;
    const fs::path extension = entry.path().extension();
    if (extension == ".br" || extension == ".gz") {
      fs::path original = entry.path();
      if (fs::is_regular_file(original.replace_extension(), error)) continue;
    }
    add(url_prefix + entry.path().lexically_relative(folder).generic_string(),
        entry.path().string());
  }
}

StaticFiles::Coding StaticFiles::choose(const File& file, std::string_view accept_encoding) {
  if (!file.brotli.path.empty() && accepts(accept_encoding, "br")) return Coding::brotli;
  if (!file.gzip.path.empty() && accepts(accept_encoding, "gzip")) return Coding::gzip;
  return Coding::plain;
}

const StaticFiles::Form& StaticFiles::form(const File& file, Coding coding) {
  switch (coding) {
    case Coding::gzip:
      return file.gzip;
    case Coding::brotli:
      return file.brotli;
    case Coding::plain:
      break;
  }
  return file.plain;
}

Response StaticFiles::respond(const Request& request, const File& file, Coding coding,
                              const Contents& stored) const {
  Response response;
  Contents contents = stored;
  if (file.names_origin) {
    contents.bytes = std::make_shared<const std::string>(with_origin(*stored.bytes, request));
    contents.etag = etag_of(*contents.bytes);
  }
  response.headers.emplace_back("ETag", contents.etag);
  response.headers.emplace_back(
      "Cache-Control", file.immutable ? "public, max-age=31536000, immutable" : "no-cache");
  if (!file.gzip.path.empty() || !file.brotli.path.empty())
    response.headers.emplace_back("Vary", "Accept-Encoding");
  if (file.python_thread) {
    if (!valid_host(request.host)) {
      return error_response(
          Error{"bad_request", "The Host header names no host; open the page by its own address."});
    }
    response.content_security_policy = python_thread_policy(request.host, request.secure);
  }
  if (file.gpu_thread) response.content_security_policy = kGpuThreadPolicy;
  if (file.agent_thread && !data_origin_.empty())
    response.content_security_policy = agent_thread_policy(data_origin_);
  if (names_etag(request.if_none_match, contents.etag)) {
    response.status = 304;
    return response;
  }
  response.content_type = file.content_type;
  if (coding == Coding::brotli) response.headers.emplace_back("Content-Encoding", "br");
  if (coding == Coding::gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  response.body = contents.bytes;
  return response;
}

std::optional<Response> StaticFiles::cached(const Request& request) const {
  const auto found = files_.find(request.path);
  if (found == files_.end()) return std::nullopt;
  const Coding coding = choose(found->second, request.accept_encoding);
  Contents contents;
  {
    const std::lock_guard lock(mutex_);
    contents = form(found->second, coding).contents;
  }
  if (!contents.bytes) return std::nullopt;
  return respond(request, found->second, coding, contents);
}

Response StaticFiles::load(const Request& request) const {
  if (auto ready = cached(request)) return std::move(*ready);
  const File& file = files_.find(request.path)->second;
  const Coding coding = choose(file, request.accept_encoding);
  const Form& wanted = form(file, coding);
  std::ifstream in(wanted.path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) {
    return error_response(
        Error{"not_found", "The file is no longer there; build the pages again and restart."});
  }
  Contents contents{std::make_shared<const std::string>(std::move(bytes)), {}};
  contents.etag = etag_of(*contents.bytes);
  {
    const std::lock_guard lock(mutex_);
    wanted.contents = contents;
  }
  return respond(request, file, coding, contents);
}

}  // namespace hyperflock::http
