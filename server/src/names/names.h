// Checks and compares names that people give. A name has no invisible characters, and none that
// change the order of other characters. Equal texts have one form (NFC). The functions also find
// names that look alike, so that nobody can take a name that looks like an administrator's. Pure;
// any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hyperflock::names {

// Returns the name in NFC. Error: `bad_name`, which names the field and says what to change in the
// name, such as spaces at its ends. REQUIRES: valid UTF-8.
Result<std::string> plain_name(std::string_view text, std::string_view field);

// Returns a line of text, such as a note, in NFC. It need not be a name and may be empty. Error:
// `bad_name`, if it has a character that a name must not have. REQUIRES: valid UTF-8.
Result<std::string> plain_text(std::string_view text, std::string_view field);

// Returns the text in NFC, the form in which the same text has the same bytes. This function and
// those below REQUIRE valid UTF-8.
std::string nfc(std::string_view text);

// Returns whether people could take one name for the other: they look the same (UTS 39), perhaps
// in another case or width.
bool confusable(std::string_view one, std::string_view other);

// Returns the text with an escape such as `\u{202E}` in place of each character that a name must
// not have. Names in older databases may have such characters, and are shown in this form.
std::string shown(std::string_view text);

}  // namespace hyperflock::names
