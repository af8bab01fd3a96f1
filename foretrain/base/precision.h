// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace foretrain {

// How GEMMs are computed. Fp16, Bf16 and Fp8 are mixed: GEMMs in half precision or less, norms,
// losses and master weights in fp32. Tf32 stores fp32.
enum class Precision : std::uint8_t { Fp32, Tf32, Fp16, Bf16, Fp8, Fp64 };

inline constexpr std::array kPrecisionNames{"fp32", "tf32", "fp16", "bf16", "fp8", "fp64"};

inline const char* to_string(Precision precision) {
  return kPrecisionNames.at(static_cast<std::size_t>(precision));
}

// Half precision or shorter: what mixed precision computes in.
inline bool is_half(Precision precision) {
  return precision == Precision::Fp16 || precision == Precision::Bf16 ||
         precision == Precision::Fp8;
}

// How parameters are kept: as fp32 (master weights), in 16 bits alone, or, of a base that is not
// trained, quantised (8 bits, or 4 as NormalFloat: Dettmers et al., NeurIPS 2023).
enum class Weights : std::uint8_t { Fp32, Bf16, Fp16, Int8, Nf4 };

inline constexpr std::array kWeightsNames{"fp32", "bf16", "fp16", "int8", "nf4"};

inline const char* to_string(Weights weights) {
  return kWeightsNames.at(static_cast<std::size_t>(weights));
}

inline bool is_quantised(Weights weights) {
  return weights == Weights::Int8 || weights == Weights::Nf4;
}

// What one element of a tensor is stored as.
enum class DType : std::uint8_t { F32, F16, BF16, F8, F64, I64, I32, I8, Bool, NF4 };

inline constexpr std::array kDTypeNames{"f32", "f16", "bf16", "f8",   "f64",
                                        "i64", "i32", "i8",   "bool", "nf4"};
inline constexpr std::array<double, 10> kDTypeBytes{4, 2, 2, 1, 8, 8, 4, 1, 1, 0.5};

inline const char* to_string(DType type) { return kDTypeNames.at(static_cast<std::size_t>(type)); }
inline double bytes_of(DType type) { return kDTypeBytes[static_cast<std::size_t>(type)]; }
inline bool is_floating(DType type) { return type <= DType::F64; }

}  // namespace foretrain
