// Handles the upload of an artifact: PUT /api/attempts/<attempt>/artifacts/<sha256> (see rest.md).
// Runs on threads that may block.
#pragma once

#include "http/core/router.h"

namespace hyperflock::http {

extern const UploadHandler kArtifactUpload;

}  // namespace hyperflock::http
