// The folder of packs that a server serves (--packs): packages such as scikit-learn, which a
// browser fetches only for a study that needs them. Adds packs to it and removes them.
//
//   FOLDER/packs.json                     the list (worker-runtime/runtime/README.md)
//   FOLDER/<pack>-<hash>/<pack>.zip[.br|.gz]
//
// A pack's folder gets its name when its files are complete and durable, and the list is replaced
// last. So a program that is killed leaves the packs that were there before. One thread; other
// processes wait for nothing: they are refused (`packs_busy`).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/runtime/packs.h"

namespace hyperflock::packs {

// The name of the folder of packs in a state folder.
inline constexpr const char* kStateFolder = "packs";

// A form in which a file is served.
enum class Form { plain, brotli, gzip };

// Where packs come from: a folder like this one, or another server.
class PackSource {
 public:
  PackSource() = default;
  virtual ~PackSource() = default;
  PackSource(const PackSource&) = delete;
  PackSource& operator=(const PackSource&) = delete;

  // Returns the text of packs.json. Errors: `not_found`, `unreachable`.
  virtual Result<std::string> list() const = 0;
  // Returns a file of a pack's folder in one form. Errors: `pack_damaged` if there is none, and
  // `unreachable`.
  virtual Result<std::string> file(const std::string& folder, const std::string& name,
                                   Form form) const = 0;
};

// Reads packs from a folder.
class FolderSource final : public PackSource {
 public:
  explicit FolderSource(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Result<std::string> list() const override;
  Result<std::string> file(const std::string& folder, const std::string& name,
                           Form form) const override;

 private:
  std::filesystem::path folder_;
};

// Returns the packs of a folder; none if the folder has no list. Error: `packs_malformed`.
Result<protocol::PackList> read(const std::filesystem::path& folder);

// What a command has done: the packs in the order in which they were done, and the bytes that were
// written.
struct Done {
  std::vector<std::string> packs;
  std::uint64_t bytes = 0;
};

// Adds packs and all that they need. Each file must have the hash that the source's list names, and
// its compressed forms the sizes. A pack that is there already is left as it is; another version of
// it is replaced. `pyodide` is the version of the server's runtime; empty: it is not compared.
// Errors, after which the folder's packs are as before:
//
// - `not_found`, `unreachable`, `packs_malformed`: the source has no list, or one that cannot be
//   used, such as one with a circle of needs.
// - `missing_pack`: the list lacks a pack.
// - `runtime_mismatch`: the packs are built for another Pyodide than the runtime, or than those
// that
//   the folder has.
// - `pack_damaged`: a file is missing or truncated, or has another hash.
// - `packs_busy`, `file_unwritable`: another command uses the folder, or it cannot be written.
Result<Done> add(const std::filesystem::path& folder, const std::vector<std::string>& names,
                 const PackSource& source, std::string_view pyodide);

// Removes packs; all of them if `names` is empty. Errors: `missing_pack`, `pack_needed` if another
// pack that stays needs one of them, and those of add() about the folder.
Result<Done> remove(const std::filesystem::path& folder, const std::vector<std::string>& names);

}  // namespace hyperflock::packs
