#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>

namespace heed {

/// Type of a tensor's elements: IEEE 754 single or double precision.
enum class DType : std::uint8_t { f32, f64 };

inline constexpr DType f32 = DType::f32;
inline constexpr DType f64 = DType::f64;

constexpr std::size_t size_of(DType dtype) { return dtype == DType::f32 ? 4 : 8; }
constexpr std::string_view name(DType dtype) { return dtype == DType::f32 ? "f32" : "f64"; }
inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double>;

template <Element T>
inline constexpr DType dtype_of = std::same_as<T, float> ? DType::f32 : DType::f64;

/// Calls `f` with a value of the C++ type that `dtype` stands for: `dispatch(d, [&](auto t) { using
/// T = decltype(t); ... })`.
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  if (dtype == DType::f32) return f(float{});
  return f(double{});
}

}  // namespace heed
