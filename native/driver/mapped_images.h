// Every loaded object of the process, also those that its loader's list does not show. dlmopen loads a library into a
// link namespace of its own, which neither dl_iterate_phdr nor the link map of this namespace names: a libcuda.so.1
// that forwards to a driver in such a namespace would look like the only one.
#pragma once

#include <vector>

#include "driver/elf_image.h"

namespace gvb {

// ElfImage::all(), then what /proc/self/maps shows of other namespaces. A file that is in the loader's list too (each
// namespace has its own libc) is not repeated. Code that a layer copies into anonymous memory itself is not found.
std::vector<ElfImage> mapped_images();

}  // namespace gvb
