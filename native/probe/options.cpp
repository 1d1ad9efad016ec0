#include "probe/options.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace gvb::probe {
namespace {

constexpr SymbolPath kPaths[] = {SymbolPath::kRuntime, SymbolPath::kDlsym, SymbolPath::kLinked};

SymbolPath path_named(const std::string& name) {
  for (const SymbolPath path : kPaths)
    if (name == to_string(path)) return path;
  throw std::invalid_argument("Expected --path to be runtime, dlsym or linked but received " + name + ".");
}

size_t number(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const size_t value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] == '-' || *end != '\0')
    throw std::invalid_argument("Expected " + name + " to be a number but received " + text + ".");
  return value;
}

void set(Options* options, const std::string& name, const std::string& value) {
  if (name == "--libcuda")
    options->libcuda = value;
  else if (name == "--nvml")
    options->nvml = value;
  else if (name == "--driver")
    options->driver = value;
  else if (name == "--device")
    options->device = value;
  else if (name == "--path")
    options->path = path_named(value);
  else if (name == "--memory")
    options->memory = number(name, value);
  else if (name == "--count")
    options->count = number(name, value);
  else if (name == "--state")
    options->state = value;
  else if (name == "--token")
    options->token = value;
  else
    throw std::invalid_argument("Expected an option of gvb-probe but received " + name + ".");
}

}  // namespace

Options parse_options(int count, char** arguments) {
  if (count < 2 || count % 2 != 0)
    throw std::invalid_argument("Expected gvb-probe PROBE [OPTION VALUE …] or gvb-probe list.");
  Options options;
  options.probe = arguments[1];
  std::array<char, 4096> self{};
  const ssize_t length = readlink("/proc/self/exe", self.data(), self.size() - 1);
  options.self = length > 0 ? std::string(self.data(), static_cast<size_t>(length)) : arguments[0];
  for (int i = 2; i + 1 < count; i += 2) set(&options, arguments[i], arguments[i + 1]);
  return options;
}

}  // namespace gvb::probe
