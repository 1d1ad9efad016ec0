// Finds which of the mapped libraries is the driver. A replacement libcuda.so.1 loads the real one itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/elf_image.h"

namespace gvb {

// Mapped objects that export cuInit. In this link namespace only those whose file name or soname is libcuda's, which
// excludes preloaded layers; in other namespaces all, since only a forwarding library creates those.
std::vector<ElfImage> libcuda_images();

bool is_simulation(const ElfImage& image);

// The version of the NVIDIA kernel module, e.g. 580.159.04; nothing if the system does not report it.
std::optional<std::string> kernel_module_version();

// Whether a library belongs to that driver release: every library of a release contains its version as text.
bool carries_version(const ElfImage& image, const std::string& version);

// The driver among `images`; the process got `loaded`. A process normally has one libcuda. If there is another one,
// `loaded` forwards to it, no matter which version text it carries (seen: a forwarding library that names the driver's
// file). Among several others: the simulation, else one of the kernel module's release, else the last.
ElfImage true_driver(const ElfImage& loaded, const std::vector<ElfImage>& images);

}  // namespace gvb
