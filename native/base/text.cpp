#include "base/text.h"

#include <cstdio>
#include <memory>

namespace gvb {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t to; (to = text.find(separator, from)) != std::string::npos; from = to + 1)
    parts.push_back(text.substr(from, to - from));
  parts.push_back(text.substr(from));
  return parts;
}

bool begins_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

NamedValue named_value(const std::string& text) {
  const size_t equals = text.find('=');
  return {text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)};
}

std::optional<std::string> first_line(const char* path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
  char text[1024];
  if (!file || !std::fgets(text, sizeof text, file.get())) return std::nullopt;
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

}  // namespace gvb
