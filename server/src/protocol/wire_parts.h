// The parts that several messages share (points, blobs, failures, leases), read and written. Used
// by the codecs only.
#pragma once

#include <string>
#include <vector>

#include "protocol/json_reader.h"
#include "protocol/json_writer.h"
#include "protocol/messages.h"

namespace hyperflock::protocol {

std::vector<Point> read_points(const Value& in);
Failure read_failure(const Value& in);
BlobRef read_blob(const Value& in);
std::vector<DataRef> read_data(const Value& in);
Lease read_lease(const Value& in);
Checkpoint read_checkpoint(const Value& in);
// What a runtime says of its device; empty: nothing.
std::string read_backend(const Value& runtime);

void append_points(std::string& out, const std::vector<Point>& points);
void append_failure(std::string& out, const Failure& failure);
void append_blob(std::string& out, const BlobRef& blob);
void append_data(std::string& out, const std::vector<DataRef>& data);
void append_lease(std::string& out, const Lease& lease);
void append_checkpoint(std::string& out, const Checkpoint& checkpoint);
void append_attempts(std::string& out, const std::vector<AttemptId>& attempts);

}  // namespace hyperflock::protocol
