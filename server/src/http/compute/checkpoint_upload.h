// Handles the upload of a checkpoint: PUT /api/attempts/<attempt>/checkpoints/<sha256> (see
// rest.md). Runs on threads that may block.
#pragma once

#include <memory>

#include "http/core/router.h"

namespace hyperflock::http {

extern const UploadHandler kCheckpointUpload;

}  // namespace hyperflock::http
