// The counting library with known numbers of calls: every way to resolve a function, threads, forks, exec and a kill.
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "count/slots.h"
#include "test/check.h"
#include "test/count_program.h"

namespace {

using gvb::count::Table;
using Counts = std::map<std::string, uint64_t>;

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/gvb-count-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() {
    for (const std::string& file : files()) unlink(file.c_str());
    rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    DIR* folder = opendir(path_.c_str());
    for (const dirent* entry = nullptr; folder && (entry = readdir(folder));)
      if (std::strstr(entry->d_name, ".counts")) found.push_back(path_ + "/" + entry->d_name);
    if (folder) closedir(folder);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::string path_;
};

struct Program {
  int status;
  std::vector<Counts> processes;  // ordered by their number of calls
  bool simulated;
};

uint64_t sum(const Counts& counts) {
  uint64_t all = 0;
  for (const auto& [name, calls] : counts) all += calls;
  return all;
}

Counts read(const std::string& path, bool* simulated) {
  const auto table = std::make_unique<Table>();
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(table.get()), sizeof(Table));
  CHECK(std::memcmp(table->header.magic, "gvbcount", 8) == 0);
  CHECK_EQUAL(table->header.refused.load(), 0u);
  *simulated = *simulated || table->header.simulated != 0;
  Counts counts;
  for (const auto& slot : table->slots)
    if (slot.calls > 0) counts[slot.name] += slot.calls;
  return counts;
}

Program run(const char* way, const std::string& folder_of_counts = "") {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    setenv("LD_PRELOAD", GVB_COUNTER, 1);
    setenv("GVB_COUNT_FOLDER", folder_of_counts.empty() ? folder.path().c_str() : folder_of_counts.c_str(), 1);
    execl("/proc/self/exe", "count_test", way, nullptr);
    _exit(126);
  }
  Program program{-1, {}, false};
  waitpid(child, &program.status, 0);
  for (const std::string& file : folder.files()) program.processes.push_back(read(file, &program.simulated));
  std::sort(program.processes.begin(), program.processes.end(),
            [](const Counts& a, const Counts& b) { return sum(a) < sum(b); });
  return program;
}

const Counts kLinked = {{"cuInit", 1}, {"cuDeviceGetName", 1}, {"cuLaunchKernel", 1}, {"cuDriverGetVersion", 5}};

void expect(const char* way, const std::vector<Counts>& processes) {
  const Program program = run(way);
  CHECK_EQUAL(program.status, 0);
  CHECK(program.processes == processes);
  CHECK(program.simulated);
}

void test_every_way_of_resolving() {
  expect("linked", {kLinked});
  expect("dlsym", {{{"cuDriverGetVersion", 9}}});
  expect("procaddress", {{{"cuDriverGetVersion", 13}, {"cuMemAlloc_v2", 3}, {"cuGetProcAddress_v2", 5}}});
}

void test_threads_lose_no_call() { expect("threads", {{{"cuDriverGetVersion", 200'000}}}); }

void test_a_forked_child_counts_its_own() {
  expect("fork", {{{"cuDriverGetVersion", 4}}, {{"cuDriverGetVersion", 8}}});
}

void test_what_is_started_in_place_of_a_program_counts_its_own() {
  expect("exec", {{{"cuDriverGetVersion", 2}}, kLinked});
}

void test_a_kill_loses_nothing() {
  const Program program = run("kill");
  CHECK(WIFSIGNALED(program.status) && WTERMSIG(program.status) == SIGKILL);
  CHECK(program.processes == std::vector<Counts>({{{"cuDriverGetVersion", 6}}}));
}

void test_a_program_without_calls() {
  const Program program = run("none");
  CHECK(program.status == 0 && program.processes == std::vector<Counts>(1) && !program.simulated);
}

void test_a_program_runs_where_nothing_can_be_written() { CHECK_EQUAL(run("fork", "/nonexistent").status, 0); }

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return test::make_calls(argv[1]);
  test_every_way_of_resolving();
  test_threads_lose_no_call();
  test_a_forked_child_counts_its_own();
  test_what_is_started_in_place_of_a_program_counts_its_own();
  test_a_kill_loses_nothing();
  test_a_program_without_calls();
  test_a_program_runs_where_nothing_can_be_written();
  return test::report("count_test");
}
