#include "driver/libcuda_images.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "driver/mapped_images.h"

namespace gvb {

namespace {

constexpr char kLibrary[] = "libcuda.so";

bool is_named_libcuda(const ElfImage& image) {
  const std::string file = image.path().substr(image.path().rfind('/') + 1);
  return begins_with(file, kLibrary) || begins_with(image.soname(), kLibrary);
}

// Three digits, then two or three groups: the format of driver releases since 2009.
bool is_release(const std::string& word) {
  return word.size() >= 6 && word[3] == '.' && std::count(word.begin(), word.end(), '.') <= 2 &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) || c == '.'; });
}

}  // namespace

std::vector<ElfImage> libcuda_images() {
  std::vector<ElfImage> images = mapped_images();
  const auto is_other = [](const ElfImage& image) {
    return (image.is_listed() && !is_named_libcuda(image)) || !image.find("cuInit");
  };
  images.erase(std::remove_if(images.begin(), images.end(), is_other), images.end());
  return images;
}

bool is_simulation(const ElfImage& image) { return image.find("gvbSimulatedDriver") != nullptr; }

std::optional<std::string> kernel_module_version() {
  const auto line = first_line("/proc/driver/nvidia/version");
  if (!line) return std::nullopt;
  for (const std::string& word : split(*line, ' '))
    if (is_release(word)) return word;
  return std::nullopt;
}

bool carries_version(const ElfImage& image, const std::string& version) {
  // Most installations have the release in the file's name, which saves reading some 60 MB.
  const std::unique_ptr<char, decltype(&std::free)> file(realpath(image.path().c_str(), nullptr), &std::free);
  const std::string ending = kLibrary + ("." + version);
  if (file && std::string(file.get()).find(ending) != std::string::npos) return true;
  for (const ElfW(Phdr) & segment : image.segments()) {
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_R) || (segment.p_flags & PF_W)) continue;
    const auto* begin = reinterpret_cast<const void*>(image.base() + segment.p_vaddr);
    if (memmem(begin, segment.p_filesz, version.data(), version.size())) return true;
  }
  return false;
}

ElfImage true_driver(const ElfImage& loaded, const std::vector<ElfImage>& images) {
  std::vector<ElfImage> behind;
  for (const ElfImage& image : images) {
    if (is_simulation(image)) return image;
    if (image.base() != loaded.base()) behind.push_back(image);
  }
  if (behind.empty()) return loaded;
  if (const auto version = kernel_module_version())
    for (const ElfImage& image : behind)
      if (carries_version(image, *version)) return image;
  return behind.back();
}

}  // namespace gvb
