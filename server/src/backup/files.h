// Files of backups: they are copied so that they are whole and durable, or not there. Any thread;
// the calls block on the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "base/result.h"

namespace hyperflock::backup {

// Returns the error for a failed system call: `backup_no_room` or `backup_failed`.
Error disk_error(const std::filesystem::path& file, int error);

// Returns the SHA-256 of a file in hexadecimal. Error: `backup_failed`.
Result<std::string> hash_of(const std::filesystem::path& file);

// `link`: the two names may share one file, if both are on one disk. It must never change.
enum class How { link, copy };

// Gives `target` the content of `source`, durably, with mode 0600. Replaces a file of this name.
// Its folder must be synced afterwards. Errors: `backup_no_room`, `backup_failed`.
Status place(const std::filesystem::path& source, const std::filesystem::path& target, How how);

// Writes a small file durably with mode 0600. Errors: as place().
Status write_file(const std::filesystem::path& target, const std::string& text);
Result<std::string> read_file(const std::filesystem::path& file);

// Creates a folder with mode 0700, and those above it, if it is not there.
Status make_folder(const std::filesystem::path& folder);

// Returns whether a program may make a folder of its own here, whose last file is `marker`: the
// folder is empty, or has only the beginning that an earlier attempt left, because the disk was
// full or the program was killed. `beginning` is a folder that such an attempt makes first, or
// empty.
bool is_free_for(const std::filesystem::path& folder, const std::string& marker,
                 const std::string& beginning = {});

// Makes new names in a folder durable.
Status sync_folder(const std::filesystem::path& folder);

}  // namespace hyperflock::backup
