// The counting library with known numbers of calls: every way to resolve a function, threads, forks, exec and a kill;
// and that a program does the same with it, also where nothing can be written.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
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
    for (const std::string& file : files("")) unlink(file.c_str());
    rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }
  std::vector<std::string> files(const char* kind) const {
    std::vector<std::string> found;
    DIR* folder = opendir(path_.c_str());
    for (const dirent* entry = nullptr; folder && (entry = readdir(folder));)
      if (entry->d_name[0] != '.' && std::strstr(entry->d_name, kind)) found.push_back(path_ + "/" + entry->d_name);
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
  std::vector<std::string> uncounted;  // why
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

std::string target_of(const std::string& link) {
  char text[256] = "";
  const ssize_t length = readlink(link.c_str(), text, sizeof text - 1);
  return {text, length > 0 ? static_cast<size_t>(length) : 0};
}

// Runs the program and its argument under the counting library, after `prepare` in the child, which receives the
// folder.
Program run(const std::vector<const char*>& command, const std::function<void(const std::string&)>& prepare = {},
            const std::string& folder_of_counts = "") {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    const std::string into = folder_of_counts.empty() ? folder.path() : folder_of_counts;
    if (prepare) prepare(into);
    setenv("LD_PRELOAD", GVB_COUNTER, 1);
    setenv("GVB_COUNT_FOLDER", into.c_str(), 1);
    std::vector<char*> words;
    for (const char* word : command) words.push_back(const_cast<char*>(word));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(126);
  }
  Program program{-1, {}, false, {}};
  waitpid(child, &program.status, 0);
  for (const std::string& file : folder.files(".counts")) program.processes.push_back(read(file, &program.simulated));
  for (const std::string& file : folder.files(".uncounted")) program.uncounted.push_back(target_of(file));
  std::sort(program.processes.begin(), program.processes.end(),
            [](const Counts& a, const Counts& b) { return sum(a) < sum(b); });
  return program;
}

Program run(const char* way, const std::function<void(const std::string&)>& prepare = {},
            const std::string& folder_of_counts = "") {
  return run({"/proc/self/exe", way}, prepare, folder_of_counts);
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

void test_a_program_without_calls_leaves_no_file() {
  const Program program = run("none");
  CHECK(program.status == 0 && program.processes.empty() && program.uncounted.empty());
}

// A constructor holds the loader's lock while it waits for a thread that calls the driver.
void test_a_thread_under_the_loaders_lock_is_counted() {
  const Program program = run({GVB_COUNT_ALONE, GVB_COUNT_PLUGIN}, [](const std::string&) { alarm(60); });
  CHECK_EQUAL(program.status, 0);
  CHECK(program.processes == std::vector<Counts>({{{"cuDriverGetVersion", 4}, {"cuGetProcAddress_v2", 1}}}));
}

void test_a_look_up_finds_what_it_finds_without_us() {
  const Program program = run(std::vector<const char*>{GVB_COUNT_ALONE});
  CHECK_EQUAL(program.status, 0);
  CHECK(program.processes == std::vector<Counts>({{{"cuDriverGetVersion", 1}}}));
}

void limit_files(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

void test_a_limit_of_file_sizes_is_no_signal() {
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{4096}}) {
    const Program program = run("dlsym", [&](const std::string&) { limit_files(bytes); });
    CHECK_EQUAL(program.status, 0);
    CHECK(program.processes.empty());
    CHECK(program.uncounted == std::vector<std::string>({"File too large"}));
  }
}

// Mounts a file system of one page, in a mount namespace of the calling process.
bool mount_full(const std::string& folder) {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=4k") == 0;
}

void test_a_full_file_system_is_no_signal() {
  bool mounts = false;
  {
    const Folder folder;
    const pid_t child = fork();
    if (child == 0) _exit(mount_full(folder.path()) ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    mounts = status == 0;
  }
  if (!mounts) {
    std::puts("Skipped: a full file system, for which this user may mount none.");
    return;
  }
  const Program program = run("linked", [](const std::string& folder) { mount_full(folder); });
  CHECK_EQUAL(program.status, 0);
  CHECK(program.processes.empty());
}

void test_a_program_runs_where_nothing_can_be_written() { CHECK_EQUAL(run("fork", {}, "/nonexistent").status, 0); }

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return test::make_calls(argv[1]);
  test_every_way_of_resolving();
  test_threads_lose_no_call();
  test_a_forked_child_counts_its_own();
  test_what_is_started_in_place_of_a_program_counts_its_own();
  test_a_kill_loses_nothing();
  test_a_program_without_calls_leaves_no_file();
  test_a_thread_under_the_loaders_lock_is_counted();
  test_a_look_up_finds_what_it_finds_without_us();
  test_a_limit_of_file_sizes_is_no_signal();
  test_a_full_file_system_is_no_signal();
  test_a_program_runs_where_nothing_can_be_written();
  return test::report("count_test");
}
