#include "sim/mps/memory_group.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "sim/card/facts.h"
#include "sim/settings.h"

namespace gvb::sim {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  char text[256];
  while (file && std::fgets(text, sizeof text, file.get())) {
    lines.emplace_back(text);
    while (!lines.back().empty() && lines.back().back() == '\n') lines.back().pop_back();
  }
  return lines;
}

int parent_of(int pid) {
  for (const std::string& line : lines_of("/proc/" + std::to_string(pid) + "/status"))
    if (begins_with(line, "PPid:")) return std::atoi(line.c_str() + 5);
  return 0;
}

bool has_this_process(const std::vector<std::string>& members) {
  for (int pid = getpid(); pid > 1; pid = parent_of(pid))
    if (std::find(members.begin(), members.end(), std::to_string(pid)) != members.end()) return true;
  return false;
}

// Of a line such as "nvidia/0000:01:00.0/vidmem 1073741824", whose first word has `card` in it; 0 for "max", or if
// there is none.
int64_t bytes_in(const std::string& file, const std::string& card) {
  for (const std::string& line : lines_of(file)) {
    const size_t space = line.find(' ');
    if (space != std::string::npos && line.find(card) < space) return std::strtoll(line.c_str() + space, nullptr, 10);
  }
  return 0;
}

std::string lower_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

MemoryGroup group_in(const std::string& folder, uint64_t id, int place) {
  const std::string bus = lower_case(pci_bus_id(place, 4)), uuid = card_uuid_text(place);
  const auto limit = [&](const char* kernel, const char* driver) {
    return std::max(bytes_in(folder + kernel, bus), bytes_in(folder + driver, uuid));
  };
  return {id, limit("/dmem.max", "/driver.hard"), limit("/dmem.min", "/driver.soft")};
}

}  // namespace

std::optional<MemoryGroup> memory_group(int place) {
  const std::string& root = environment().groups.root;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(root.empty() ? nullptr : opendir(root.c_str()), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const std::string group = root + "/" + entry->d_name;
    if (entry->d_name[0] == '.') continue;
    if (!has_this_process(lines_of(group + "/cgroup.procs"))) continue;
    return group_in(group, entry->d_ino, place);
  }
  return std::nullopt;
}

}  // namespace gvb::sim
