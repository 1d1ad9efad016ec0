// Every loaded object of the process, including those missing from its loader's list. dlmopen loads a library into a
// link namespace of its own, which neither dl_iterate_phdr nor this namespace's link map shows: a libcuda.so.1 that
// forwards to a driver in such a namespace would look like the only one.
#pragma once

#include <vector>

#include "driver/elf_image.h"

namespace gvb {

// ElfImage::all(), then the objects of other namespaces found in /proc/self/maps. A file that is also in the loader's
// list (each namespace has its own libc) is not repeated. Does not find code that a layer copies into anonymous memory.
std::vector<ElfImage> mapped_images();

}  // namespace gvb
