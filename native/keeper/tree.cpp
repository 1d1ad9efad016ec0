#include "keeper/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gvb::keeper {
namespace {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = 0;
  std::string name;
};

// proc_pid_stat(5). The name may contain spaces and parentheses, so fields are counted from the last parenthesis.
bool read_process(const char* number, Process& process) {
  const std::string path = std::string("/proc/") + number + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[1024];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  const char* begin = std::strchr(text, '(');
  const char* end = std::strrchr(text, ')');
  int parent = 0;
  if (!begin || !end || std::sscanf(end + 1, " %c %d", &process.state, &parent) != 2) return false;
  process.pid = std::atoi(number);
  process.parent = parent;
  process.name.assign(begin + 1, end);
  return true;
}

std::vector<Process> all_processes() {
  std::vector<Process> all;
  DIR* folder = opendir("/proc");
  if (!folder) return all;
  while (const dirent* entry = readdir(folder)) {
    Process process;
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_process(entry->d_name, process))
      all.push_back(std::move(process));
  }
  closedir(folder);
  return all;
}

bool has_ended(const Process& process) { return process.state == 'Z' || process.state == 'X'; }

}  // namespace

std::vector<Descendant> descendants() {
  const std::vector<Process> all = all_processes();
  // A reused PID may be lower than its parent's, so no order is assumed.
  std::vector<pid_t> known{getpid()};
  std::vector<Descendant> found;
  for (size_t i = 0; i < known.size(); ++i)
    for (const Process& process : all) {
      if (process.parent != known[i]) continue;
      known.push_back(process.pid);
      if (!has_ended(process)) found.push_back({process.pid, process.name});
    }
  return found;
}

void signal_all(int signal) {
  for (const Descendant& each : descendants()) kill(each.pid, signal);
}

}  // namespace gvb::keeper
