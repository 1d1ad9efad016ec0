// The file that holds this process's counters: one a process, also of a forked one, in the folder that GVB_COUNT_FOLDER
// names. Without that variable the calls are counted nowhere.
#pragma once

namespace gvb::count {

// The counters move into a file, with what was counted before.
void begin_file();
// In a child: into a file of its own, from zero. Where none can be made they are its own memory, so that the parent's
// are not touched.
void begin_file_of_child();

}  // namespace gvb::count
