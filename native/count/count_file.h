// The file with this process's counters: one per process, forked ones included, in the folder GVB_COUNT_FOLDER. Without
// that variable no calls are counted in a file.
#pragma once

namespace gvb::count {

// Moves the counters, with their values so far, into a file.
void begin_file();
// In a child: starts a new file from zero. If none can be created, the counters become private memory, so that the
// parent's are not changed.
void begin_file_of_child();

}  // namespace gvb::count
