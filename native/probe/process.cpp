#include "probe/process.h"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.h"

namespace gvb::probe {
namespace {

// Arguments or variables in the form that exec takes.
class Pointers {
 public:
  explicit Pointers(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) all_.push_back(const_cast<char*>(text.c_str()));
    all_.push_back(nullptr);
  }
  char* const* get() const { return all_.data(); }

 private:
  std::vector<char*> all_;
};

std::vector<std::string> command_of(const Run& run, const SecondProcess& second) {
  const Options& options = run.options;
  return {second.program.empty() ? options.self : second.program,
          options.probe,
          "--libcuda",
          options.libcuda,
          "--nvml",
          options.nvml,
          "--device",
          options.device,
          "--path",
          to_string(options.path),
          "--token",
          second.token};
}

}  // namespace

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** variable = environ; *variable; ++variable) {
    const std::string name = named_value(*variable).name + "=";
    bool replaced = false;
    for (const std::string& given : variables) replaced = replaced || begins_with(given, name.c_str());
    if (!replaced) all.emplace_back(*variable);
  }
  return all;
}

pid_t start(const Run& run, const SecondProcess& second) {
  const std::vector<std::string> command = command_of(run, second);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (second.shared >= 0) posix_spawn_file_actions_adddup2(&actions, second.shared, kShared);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, command[0].c_str(), &actions, nullptr, Pointers(command).get(),
                                 Pointers(second.environment).get());
  posix_spawn_file_actions_destroy(&actions);
  if (failed) throw Over(command[0] + " cannot be started: " + std::strerror(failed));
  return pid;
}

void become(const Run& run, const SecondProcess& second) {
  const std::vector<std::string> command = command_of(run, second);
  execve(command[0].c_str(), Pointers(command).get(), Pointers(second.environment).get());
  throw Over(command[0] + " cannot be started: " + std::strerror(errno));
}

void await_end(const std::string& who, pid_t pid) {
  report::calls(who + " ends");
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) throw Over("waitpid failed");
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  report::data(who + " ends with", std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1));
}

pid_t fork_child(const std::function<void()>& body) {
  const pid_t pid = fork();
  if (pid < 0) throw Over("fork failed");
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 0;
  try {
    body();
  } catch (const Over& over) {
    report::line("over", {{"reason", report::quoted(over.what())}});
    code = 3;
  }
  _exit(code);
}

}  // namespace gvb::probe
