// The file with this process's counters: one per process that uses the driver, forked ones included, in the folder
// GVB_COUNT_FOLDER. Without that variable no calls are counted in a file.
#pragma once

#include <cstddef>

namespace gvb::count {

// Moves counting into a file. To be called before a driver function gets its target; later calls do nothing.
void begin_counting();
// Keeps the call that entered a function which had no target: it may have been counted before the file was there.
void keep_first_call(size_t slot);
// In a child: counts from zero in a file of its own, if its parent has begun. If none can be made, in private memory,
// so that the parent's counters are not changed.
void begin_counting_in_child();

}  // namespace gvb::count
