#pragma once

#include <cstdint>

namespace gvb {

// A random number that a layer cannot predict; no result depends on it.
uint64_t secret();

}  // namespace gvb
