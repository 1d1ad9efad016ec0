// exp and log of a double, computed in long double: the functions for double (and pow) need glibc 2.29, which is newer
// than the oldest supported.
#pragma once

#include <cmath>

namespace gvb {

inline double exponential(double x) { return static_cast<double>(std::exp(static_cast<long double>(x))); }
inline double logarithm(double x) { return static_cast<double>(std::log(static_cast<long double>(x))); }

}  // namespace gvb
