#pragma once

#include <cstdint>

namespace gvb {

// What a layer cannot know beforehand; no result depends on it.
uint64_t secret();

}  // namespace gvb
