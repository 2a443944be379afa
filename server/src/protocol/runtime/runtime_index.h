// Reads the runtime's versions from its index.json (worker-runtime/runtime/README.md), and compares
// them with what a study needs (R58). Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/messages.h"

namespace hyperflock::protocol {

// A runtime: its id, which is a hash of its content, and the versions of its pieces by name. Each
// piece is a package, such as `numpy`, or another part of the runtime.
struct Runtime {
  std::string id;
  std::map<std::string, std::string, std::less<>> pieces;

  // What a browser downloads of a piece.
  struct Download {
    std::string path;  // of the piece's largest file, by which a browser tells if it has the piece
    std::int64_t brotli = 0;  // bytes of all its files, compressed
    std::int64_t gzip = 0;
    bool operator==(const Download&) const = default;
  };
  // By the piece's name. A piece whose files the index does not list is left out.
  std::map<std::string, Download, std::less<>> downloads{};
};

// Returns the runtime that the text of an index.json describes; nullopt if it is malformed.
std::optional<Runtime> parse_runtime_index(std::string_view text);

// Returns whether trials that need `older` can run on `newer`, because both have the same versions
// of Pyodide, NumPy and Chainer. Other contents, such as the worker's code, do not change results.
bool replaces(const Runtime& newer, const Runtime& older);

// Returns the id of the first of these runtimes on which the study's trials run: one with the
// versions that the study names, and the study's version of Chainer. Error: `runtime_mismatch`,
// which says why the first of the runtimes does not fit. If `runtimes` is empty, the id is empty
// too.
Result<std::string> choose_runtime(const StudySpec& spec, const std::vector<Runtime>& runtimes);

}  // namespace hyperflock::protocol
