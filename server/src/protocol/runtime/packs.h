// Packs: packages such as scikit-learn, which a browser fetches only for a study that needs them.
// Reads the server's list of packs, packs.json (worker-runtime/runtime/README.md), and compares it
// with what a study needs (R76). Pure; any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/messages.h"
#include "protocol/runtime/runtime_index.h"

namespace hyperflock::protocol {

struct Pack {
  std::string version;
  Runtime::Download download;
  std::vector<std::string> needs;  // names of other packs
};

struct PackList {
  std::string pyodide;  // the version for which the packs are built; empty: there are no packs
  std::map<std::string, Pack, std::less<>> packs;
};

// Reads the text of a packs.json. Error: `packs_malformed`. The sentence says what is wrong: the
// text is no such list, a pack needs one that is not listed, or packs need each other in a circle.
Result<PackList> parse_pack_list(std::string_view text);

// Returns these packs and all that they need, each once. Packs that are not listed are left out.
std::vector<const Pack*> with_needs(const PackList& list, const std::vector<PackRef>& packs);

// The longest comment that a bundle may have, in bytes.
inline constexpr std::size_t kMaxBundleComment = 4096;

// Returns the names of the packs that the comment of a bundle names, sorted. `end` has the
// bundle's last kMaxBundleComment bytes, or all of it.
std::vector<std::string> packs_of_bundle(std::string_view end);

// Returns the packs of a study, sorted by name: those that its bundle names, with the versions of
// the server's list. `wanted` are those that the spec lists; a spec of an older client lists none.
// `pyodide` is the version of the study's runtime; empty if the server has no runtime. The errors
// name a field of the spec:
//
// - `pack_mismatch`: the spec lists packs, but not those of the bundle.
// - `missing_pack`: the server does not have a pack.
// - `runtime_mismatch`: the server has another version of a pack, or its packs are built for
//   another Pyodide.
Result<std::vector<PackRef>> choose_packs(const std::vector<PackRef>& wanted,
                                          const std::vector<std::string>& bundle,
                                          const PackList& list, std::string_view pyodide);

}  // namespace hyperflock::protocol
