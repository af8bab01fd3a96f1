// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/humanise.h"

#include <gtest/gtest.h>

#include <limits>

namespace foretrain {
namespace {

TEST(Significant, RoundsToThatManyDigits) {
  EXPECT_EQ(significant(0, 3), "0");
  EXPECT_EQ(significant(3.14159, 3), "3.14");
  EXPECT_EQ(significant(0.012345, 3), "0.0123");
  EXPECT_EQ(significant(2781.7, 3), "2782");  // never shortens whole numbers
  EXPECT_EQ(significant(9.996, 3), "10.0");   // rounding adds a digit before the point
  EXPECT_EQ(significant(-1.5, 2), "-1.5");
}

TEST(Significant, MarksWhatIsNoNumber) {
  EXPECT_EQ(significant(std::numeric_limits<double>::infinity(), 3), "?");
  EXPECT_EQ(format_time(Seconds{std::numeric_limits<double>::quiet_NaN()}), "?");
}

TEST(FormatBytes, CountsInPowersOf1024) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(17179869184.0), "16.0 GiB");  // 16 * 2^30
  EXPECT_EQ(format_bytes(1023.9 * 1024 * 1024), "1.00 GiB");
}

TEST(FormatRate, CountsInPowersOf1000) {
  EXPECT_EQ(format_rate(0), "0 B/s");
  EXPECT_EQ(format_rate(1.25e9), "1.25 GB/s");
  EXPECT_EQ(format_rate(116e6), "116 MB/s");
}

TEST(FormatLarge, NamesThePower) {
  EXPECT_EQ(format_large(999), "999");
  EXPECT_EQ(format_large(25557032), "25.6 M");
  EXPECT_EQ(format_large(8.178e9), "8.18 G");
  EXPECT_EQ(format_large(999.7e6), "1.00 G");
}

TEST(FormatCount, GroupsThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(128), "128");
  EXPECT_EQ(format_count(1024), "1,024");
  EXPECT_EQ(format_count(25557032), "25,557,032");
  EXPECT_EQ(format_count(3.14159), "3.14");
  EXPECT_EQ(format_count(2781.73), "2,782");
  EXPECT_EQ(format_count(-1234), "-1,234");
  EXPECT_EQ(format_count(-123), "-123");
}

TEST(FormatShare, HasOneDecimal) {
  EXPECT_EQ(format_share(0.538), "53.8 %");
  EXPECT_EQ(format_share(0), "0.0 %");
  EXPECT_EQ(format_share(0.0001), "<0.1 %");
}

TEST(FormatMoney, ShowsCentsOnlyWhereTheyMatter) {
  EXPECT_EQ(format_money(50.697), "$50.70");
  EXPECT_EQ(format_money(12345.6), "$12,346");
  EXPECT_EQ(format_money(0.00421), "$0.0042");
  EXPECT_EQ(format_money(0), "$0.00");
}

TEST(FormatTime, UsesTheTwoLargestUnits) {
  EXPECT_EQ(format_time(Seconds{0}), "0 s");
  EXPECT_EQ(format_time(Seconds{2.5e-9}), "2.500 ns");
  EXPECT_EQ(format_time(Seconds{53e-6}), "53.00 us");
  EXPECT_EQ(format_time(Seconds{0.36811}), "368.1 ms");
  EXPECT_EQ(format_time(Seconds{0.99999}), "1.000 s");  // not 1000 ms
  EXPECT_EQ(format_time(Seconds{12.345}), "12.35 s");
  EXPECT_EQ(format_time(Seconds{60}), "1 min");
  EXPECT_EQ(format_time(Seconds{461}), "7 min 41 s");
  EXPECT_EQ(format_time(Seconds{3599.7}), "1 h");
  EXPECT_EQ(format_time(Seconds{7980}), "2 h 13 min");  // 7980 s = 133 min
  EXPECT_EQ(format_time(Seconds{86400 + 3 * 3600}), "1 d 3 h");
  EXPECT_EQ(format_time(Seconds{10 * 365.25 * 86400}), "10 years");
}

TEST(FormatChange, IsRelativeToTheFirst) {
  EXPECT_EQ(format_change(100, 192), "+92 %");
  EXPECT_EQ(format_change(100, 96.9), "-3.1 %");
  EXPECT_EQ(format_change(5, 5), "=");
  EXPECT_EQ(format_change(100, 100.01), "=");
  EXPECT_EQ(format_change(0, 3), "new");
  EXPECT_EQ(format_change(1, 15.16), "+1,416 %");
  EXPECT_EQ(format_change(2, 0), "-100 %");
}

}  // namespace
}  // namespace foretrain
