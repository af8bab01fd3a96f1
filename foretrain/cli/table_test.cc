// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/table.h"

#include <gtest/gtest.h>

#include "foretrain/cli/bar.h"

namespace foretrain::cli {
namespace {

const Screen kPlain{};
const Screen kColour{80, true, true};

TEST(Paint, ColoursOnlyAScreenThatHasColours) {
  EXPECT_EQ(paint("x", Colour::Red, kPlain), "x");
  EXPECT_EQ(paint("x", Colour::Red, kColour), "\033[31mx\033[0m");
  EXPECT_EQ(paint("", Colour::Red, kColour), "");
}

TEST(DisplayWidth, CountsCharactersNotBytes) { EXPECT_EQ(display_width("a█é"), 3); }

TEST(Cut, KeepsWhatFitsAndMarksWhatDoesNot) {
  EXPECT_EQ(cut("abcdef", 6, kPlain), "abcdef");
  EXPECT_EQ(cut("abcdef", 4, kPlain), "abc~");
  EXPECT_EQ(cut("ééé", 2, kColour), "é…");
}

TEST(Wrap, BreaksAtSpacesAndIndents) {
  const Screen narrow{12, false, false};
  EXPECT_EQ(wrap("one two three", "- ", narrow), "- one two\n  three\n");
  EXPECT_EQ(wrap("", "- ", narrow), "- \n");
  EXPECT_EQ(wrap("averyveryverylongword", "", narrow), "averyveryverylongword\n");
}

// ESC ] 0 sets a terminal's title, BEL ends it; U+202E turns what follows.
TEST(Table, ShowsNothingThatSpeaksToTheTerminal) {
  const Table table{{{"na\nme", false}}, {{"\033]0;title\a"}, {"a\nb\xff"}, {"\xe2\x80\xae"}}};
  EXPECT_EQ(render(table, kPlain),
            "  na\\nme\n"
            "  \\x1b]0;title\\x07\n"
            "  a\\nb\\xff\n"
            "  \\u202e\n");
  EXPECT_EQ(wrap("\033[2J", "- ", kPlain), "- \\x1b[2J\n");
  EXPECT_EQ(wrap("failed", "model \033[2J: ", kPlain), "model \\x1b[2J: failed\n");
}

TEST(Table, AlignsColumnsWithoutSpacesAtTheEnd) {
  const Table table{{{"name", false}, {"n", true}, {"note", false}},
                    {{"a", "100", "x"}, {"long", "7", ""}}};
  EXPECT_EQ(render(table, kPlain),
            "  name    n  note\n"
            "  a     100  x\n"
            "  long    7\n");
}

TEST(Table, CutsTheFlexibleColumnToTheScreen) {
  const Screen narrow{20, false, false};
  const Table table{{{"", false, true}, {"", true}}, {{"a long text that goes on", "12345"}}};
  // 20 columns less two gaps of 2 and the 5 of the number leave 11.
  EXPECT_EQ(render(table, narrow), "  a long tex~  12345\n");
}

TEST(DivideCells, AddsUpToAllCells) {
  EXPECT_EQ(divide_cells({1, 1, 2}, 8), (std::vector<int>{2, 2, 4}));
  EXPECT_EQ(divide_cells({1, 1, 1}, 10), (std::vector<int>{3, 4, 3}));
  EXPECT_EQ(divide_cells({0, 0}, 10), (std::vector<int>{0, 0}));
}

TEST(Bar, DrawsPartsAndLegendInAscii) {
  const Screen narrow{24, false, false};  // 20 cells
  const std::vector<Part> parts{
      {"used", 15, "15", false}, {"none", 0, "0", false}, {"free", 5, "5", true}};
  EXPECT_EQ(render_bar(parts, std::nullopt, narrow),
            "  ###############.....\n"
            "  # used 15  . free 5\n");
}

TEST(Bar, MarksTheCapacityThatIsExceeded) {
  const Screen narrow{25, false, false};  // 20 cells and the mark
  const std::vector<Part> parts{{"a", 10, "10", false}, {"b", 10, "10", false}};
  EXPECT_EQ(render_bar(parts, 15, narrow).substr(0, 24), "  ##########=====|=====\n");
}

}  // namespace
}  // namespace foretrain::cli
