// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/host.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/hw/detail/host_file.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::hw {
namespace {

AssumedHost read(const std::string& more) {
  return assumed_host_of(read_facts(R"({"name": "host", "pixel_s": 5e-8, "photograph_pixels": 2e5,
      "small_pixels": 4096,
      "small_image_s": 1e-3, "record_s": 5e-5, "row_s": 2e-6, "number_s": 1e-6, "most_numbers": 64,
      "pageable_bytes_per_s": 3e9, "pinned_bytes_per_s": 11e9,
      "memory_bytes_per_s": 2e11, "least_offload_bytes": 1024)" +
                                        more + "}",
                                    "file"));
}

TEST(AssumedHost, IsAsFastAsItsArchitectureUsuallyIs) {
  const AssumedHost host = read(R"(, "speed_pascal": {"value": 0.6, "source": "seen"})");
  EXPECT_EQ(usual_host_speed(host, "pascal"), 0.6);
  EXPECT_EQ(usual_host_speed(host, "hopper"), 1);
  EXPECT_EQ(host.pixel_s, 5e-8);
}

TEST(AssumedHost, IsAsFastAsItsFamilyOfCpus) {
  const AssumedHost host = read(R"(, "cpu_xeon_e5": {"value": 0.6, "source": "seen"})");
  EXPECT_EQ(host.cpus.at("xeon-e5"), 0.6);
  EXPECT_THROW(read(R"(, "cpu_xeon_e5": 0)"), Error);
}

TEST(AssumedHost, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(read(R"(, "speed_pascal": 0)"), Error);
  EXPECT_THROW(read(R"(, "fast": 2)"), Error);
}

// Older servers' hosts are the slower ones, and a network that usually joins nodes is one.
TEST(AssumedHost, OfTheCatalogIsThere) {
  const Catalog catalog = load_catalog();
  EXPECT_LT(usual_host_speed(catalog.assumed_host, "pascal"),
            usual_host_speed(catalog.assumed_host, "hopper"));
  for (const LinkEntry& entry : catalog.links) {
    if (entry.usual_network.empty()) continue;
    EXPECT_NO_THROW(find_link(catalog, entry.usual_network)) << entry.link.name;
  }
  EXPECT_EQ(usual_network(catalog, find_link(catalog, "nvswitch3")), "8xhdr");
  EXPECT_EQ(usual_network(catalog, find_link(catalog, "pcie4-x16")), "");
}

}  // namespace
}  // namespace foretrain::hw
