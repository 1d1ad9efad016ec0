// exp and log of a double, by way of long double: those of double need glibc 2.29, which is above the floor, and so
// does pow.
#pragma once

#include <cmath>

namespace gvb {

inline double exponential(double x) { return static_cast<double>(std::exp(static_cast<long double>(x))); }
inline double logarithm(double x) { return static_cast<double>(std::log(static_cast<long double>(x))); }

}  // namespace gvb
