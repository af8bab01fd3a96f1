// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace foretrain::hw {

// What the host beside a device does where nobody says; data/hardware/assumed/host.json has the
// numbers with their sources.
struct AssumedHost {
  std::map<std::string, double, std::less<>> speeds;  // by the devices' architecture, against the
                                                      // reference machine; others have 1
  std::map<std::string, double, std::less<>> cpus;    // likewise by families of CPUs
  double pixel_s = 0;            // a process decodes, crops and converts an image, for each of its
                                 // stored pixels, on the reference machine
  double photograph_pixels = 0;  // that one has where nobody says
  double small_image_s = 0;      // likewise of a whole image up to `small_pixels`, kept in memory
  double small_pixels = 0;       // height times width
  double row_s = 0;              // likewise of a row of at most `most_numbers` numbers,
  double number_s = 0;           // and more for each of them
  double most_numbers = 0;
  double record_s = 0;              // likewise of anything else
  double pageable_bytes_per_s = 0;  // of a copy to the device from memory that is not pinned
  double pinned_bytes_per_s = 0;    // likewise from memory that is
  // Of work that is handed to it:
  double memory_bytes_per_s = 0;   // which all its devices share
  double least_offload_bytes = 0;  // of one sample's tensor: smaller ones stay on the device
};

// Usual beside devices of that architecture; 1 where nothing is known.
double usual_host_speed(const AssumedHost& host, const std::string& architecture);

}  // namespace foretrain::hw
