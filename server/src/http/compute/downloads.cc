#include "http/compute/downloads.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "protocol/json/json_writer.h"

namespace hyperflock::http {
namespace {

using protocol::append_integer;
using protocol::append_list;
using protocol::ObjectWriter;
using protocol::Runtime;
using protocol::StudySpec;

// Returns the pieces that a python thread loads for a trial of the study
// (worker-runtime/src/agent/python_host). A bundle that imports Optuna by itself is not looked
// into.
std::vector<std::string> pieces_of(const StudySpec& study) {
  std::vector<std::string> names{"pyodide", "numpy", "six", "worker", "chainer-" + study.chainer};
  if (!study.backend.empty()) names.emplace_back("arraycore");
  if (study.kind == protocol::StudyKind::asked)
    names.insert(names.end(), {"packaging", "colorlog", "tqdm", "optuna"});
  return names;
}

const Runtime* runtime_of(const StudySpec& study, const std::vector<Runtime>& runtimes) {
  const auto found = std::ranges::find(runtimes, study.runtime_index, &Runtime::id);
  return found == runtimes.end() ? nullptr : &*found;
}

void append_blob(std::string& out, const protocol::BlobRef& blob) {
  ObjectWriter(out).text("sha256", blob.sha256).integer("bytes", blob.bytes).end();
}

}  // namespace

std::string downloads_json(const std::vector<StudySpec>& studies,
                           const std::vector<Runtime>& runtimes, const protocol::PackList& packs,
                           Compression form) {
  std::vector<const Runtime::Download*> pieces;
  std::vector<std::pair<const StudySpec*, std::vector<std::size_t>>> shown;
  for (const StudySpec& study : studies) {
    const Runtime* runtime = runtime_of(study, runtimes);
    if (runtime == nullptr) continue;
    std::vector<std::size_t> used;
    const auto use = [&](const Runtime::Download& download) {
      // Studies share most of their pieces, so each is written once.
      const auto known =
          std::ranges::find(pieces, download.path, [](const auto* piece) { return piece->path; });
      used.push_back(static_cast<std::size_t>(known - pieces.begin()));
      if (known == pieces.end()) pieces.push_back(&download);
    };
    for (const std::string& name : pieces_of(study)) {
      const auto download = runtime->downloads.find(name);
      if (download != runtime->downloads.end()) use(download->second);
    }
    for (const protocol::Pack* pack : protocol::with_needs(packs, study.packs)) use(pack->download);
    shown.emplace_back(&study, std::move(used));
  }

  std::string out;
  ObjectWriter downloads(out);
  append_list(downloads.begin("pieces"), pieces, [&](const Runtime::Download* piece) {
    ObjectWriter(out)
        .text("path", piece->path)
        .integer("bytes", form == Compression::brotli ? piece->brotli : piece->gzip)
        .end();
  });
  append_list(downloads.begin("studies"), shown, [&](const auto& one) {
    const auto& [study, used] = one;
    ObjectWriter row(out);
    append_list(row.begin("pieces"), used,
                [&](std::size_t index) { append_integer(out, static_cast<std::int64_t>(index)); });
    row.begin("blobs") += '[';
    append_blob(out, study->bundle);
    for (const protocol::DataRef& data : study->data) {
      out += ',';
      append_blob(out, data.blob);
    }
    out += ']';
    row.end();
  });
  downloads.end();
  return out;
}

}  // namespace hyperflock::http
