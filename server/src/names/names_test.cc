// Tests that nfc() agrees with ICU (by a hash), which names are refused, and which look the same.
#include "names/names.h"

#include <gtest/gtest.h>

#include <string>

#include "blobs/sha256.h"
#include "names/unicode_data.h"

namespace hyperflock::names {
namespace {

std::string utf8(char32_t point) {
  std::string out;
  const auto byte = [&out](char32_t value) {
    out += static_cast<char>(static_cast<unsigned char>(value));
  };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    byte(0xE0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3F));
  } else {
    byte(0xF0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3F));
    byte(0x80 | (point >> 6 & 0x3F));
  }
  if (point >= 0x80) byte(0x80 | (point & 0x3F));
  return out;
}

int class_of(char32_t point) {
  for (const Range& range : combining_classes())
    if (point >= range.first && point <= range.last) return range.value;
  return 0;
}

bool is_plain(const std::string& text) { return plain_name(text, "name").has_value(); }

// generate.py computes the hash of the same texts with ICU's NFC.
TEST(Nfc, IsThatOfIcuForEveryCharacterAndForOrdersOfMarks) {
  std::string all;
  std::u32string marks;
  for (char32_t point = 0; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    all += nfc(utf8(point));
    if (point >= 0x300 && class_of(point) != 0) marks += point;
  }
  for (std::size_t i = 0; i < marks.size(); ++i) {
    all +=
        nfc("a" + utf8(marks[marks.size() - 1 - i]) + utf8(marks[i]) + "\u0301\u1100\u1161\u11a8");
  }
  EXPECT_EQ(blobs::sha256_hex(all), nfc_digest());
}

TEST(PlainName, WritingsOfTheWorldAreNames) {
  for (const char* name : {"Grace Hopper", "山田 太郎", "山田　太郎", "ヤマダ・タロウ", "やまだ",
                           "김철수", "Łukasz", "O'Neill-Smith", "Ж. Ж.", "محمد", "אילן", "नीरज",
                           "कृष्णा", "Ελένη", "Nguyễn Văn A", "量子 2号機"}) {
    EXPECT_TRUE(is_plain(name)) << name;
  }
}

TEST(PlainName, InvisibleAndReorderingCharactersAreRefusedByTheirNumber) {
  for (const char* hidden :
       {"\u0001", "\u007f", "\u0085",     "\u00a0",    "\u00ad", "\u034f", "\u061c",
        "\u115f", "\u180e", "\u200b",     "\u200d",    "\u200e", "\u202e", "\u2028",
        "\u2060", "\u2066", "\u2069",     "\u3164",    "\ufe0f", "\ufeff", "\uffa0",
        "\ufff9", "\ue000", "\U000E0041", "\U000E0100"}) {
    EXPECT_FALSE(is_plain(std::string("ad") + hidden + "min")) << shown(hidden);
  }
  const auto refused = plain_name("ab\u202ec", "label");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "bad_name");
  EXPECT_EQ(refused.error().field, "label");
  EXPECT_NE(refused.error().message.find("U+202E"), std::string::npos) << refused.error().message;
  for (const char* text : {"", " a", "a ", "\u3000a", "a\u3000", "\u0301a"})
    EXPECT_FALSE(is_plain(text)) << text;
}

TEST(PlainName, TheSameTextHasTheSameBytes) {
  EXPECT_EQ(plain_name("か\u3099ら", "name").value(), "がら");
  EXPECT_EQ(plain_name("e\u0301", "name").value(), "\u00e9");
  EXPECT_EQ(plain_name("\u212B", "name").value(), "\u00c5");
}

TEST(Confusable, WhatLooksLikeAnAdministratorIsConfusable) {
  for (const char* other :
       {"admin", "ADMIN", "Admin", "аdmin" /* Cyrillic a */, "ａｄｍｉｎ", "ＡＤＭＩＮ", "αdmin",
        "admіn" /* Cyrillic i */, "ad min", "ad\u200bmin", "ⓐⓓⓜⓘⓝ", "𝐚𝐝𝐦𝐢𝐧", "аdmіп", "ɑdmin"}) {
    EXPECT_EQ(confusable("admin", other), std::string_view(other) != "аdmіп") << other;
  }
  EXPECT_TRUE(confusable("leonard", "Ieonard"));
  EXPECT_TRUE(confusable("Ольга", "Oльгa"));
  EXPECT_TRUE(confusable("Νικος", "Nικoς"));
  EXPECT_TRUE(confusable("ガウス", "ｶﾞｳｽ"));
  EXPECT_TRUE(confusable("rn", "m"));
}

TEST(Confusable, OtherNamesAreOther) {
  for (const auto& [one, other] : {std::pair{"admin", "adam"},
                                   {"山田", "山本"},
                                   {"がら", "から"},
                                   {"grace", "Grâce"},
                                   {"ハ", "バ"},
                                   {"operator 1", "operator 2"}}) {
    EXPECT_FALSE(confusable(one, other)) << one << ' ' << other;
  }
}

TEST(Shown, OldNamesShowTheirHiddenCharacters) {
  EXPECT_EQ(shown("ab\u202ecd\x01"), "ab\\u{202E}cd\\u{0001}");
  EXPECT_EQ(shown("山田　太郎"), "山田　太郎");
}

}  // namespace
}  // namespace hyperflock::names
