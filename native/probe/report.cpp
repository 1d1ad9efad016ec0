#include "probe/report.h"

#include <unistd.h>

#include <cstdio>

namespace gvb::probe::report {
namespace {

bool silent = false;

}  // namespace

void silence() { silent = true; }

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      json += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    json += escaped;
  }
  return json + '"';
}

// Starts with a newline, because a layer may have left a line of its own unfinished. Writes once, so that a forked
// child repeats nothing and lines of several processes do not mix.
void line(const char* kind, const Fields& fields) {
  if (silent) return;
  std::string text = "\n{\"gvb\":" + quoted(kind);
  for (const auto& [name, value] : fields) text += "," + quoted(name) + ":" + value;
  text += "}\n";
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (wrote <= 0) return;
    done += static_cast<size_t>(wrote);
  }
}

}  // namespace gvb::probe::report
