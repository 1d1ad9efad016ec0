// Which of the mapped libraries is the driver. A libcuda.so.1 that replaces it loads the real one itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/elf_image.h"

namespace gvb {

// Mapped objects that export cuInit: in this link namespace those that are libcuda by their file's name or by the name
// they give themselves, which preloaded layers are not; in other namespaces all, since only a forwarder looks there.
std::vector<ElfImage> libcuda_images();

bool is_simulation(const ElfImage& image);

// The version of the NVIDIA kernel module, e.g. 580.159.04; nothing if the system does not report it.
std::optional<std::string> kernel_module_version();

// Whether a library is of that driver release: every one of a release carries its version as text.
bool carries_version(const ElfImage& image, const std::string& version);

// The driver among `images`, of which the process got `loaded`. A process of its own has one libcuda; where there is
// another one, `loaded` stands in front of it, whatever version text it carries (seen: a forwarding library that names
// the driver's file). Of several behind it: the simulation, else one of the kernel module's release, else the last.
ElfImage true_driver(const ElfImage& loaded, const std::vector<ElfImage>& images);

}  // namespace gvb
