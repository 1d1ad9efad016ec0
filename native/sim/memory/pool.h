#pragma once

#include <cstdint>

namespace gvb::sim {

// A card's default memory pool in this process. Reserved memory is taken from the card; used memory is the part that
// the program holds. Synchronising gives back what exceeds the release threshold.
bool pool_take(int device, int64_t bytes);
void pool_give(int device, int64_t bytes);
void pool_trim(int device, int64_t keep);
void pool_trim_to_threshold(int device);

}  // namespace gvb::sim
