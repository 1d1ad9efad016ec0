// The process itself: when it ends, and what it becomes.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <system_error>
#include <vector>

#include "addon/fields.h"
#include "addon/topic.h"
#include "base/system_call.h"

namespace gvb {

struct NewProgram {
  std::string file;
  std::vector<std::string> arguments;    // with its name as the first
  std::vector<std::string> environment;  // NAME=value
};

template <>
struct Fields<NewProgram> : FieldsOf<NewProgram> {
  static constexpr const char* kName = "NewProgram";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(file));
    visit(GVB_FIELD(arguments).says("With the program's name as the first."));
    visit(GVB_FIELD(environment).says("`NAME=value` each."));
  }
};

namespace {

Nothing die_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return {};
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers(texts.size() + 1, nullptr);
  std::transform(texts.begin(), texts.end(), pointers.begin(), [](const std::string& text) { return text.c_str(); });
  return pointers;
}

// By the system call: a preloaded library can put itself back into the environment that execve gets.
Nothing become(const NewProgram& program) {
  const std::vector<const char*> arguments = pointers_to(program.arguments);
  const std::vector<const char*> environment = pointers_to(program.environment);
  // Node marks its standard streams to be closed.
  for (const long stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) system_call(SYS_fcntl, stream, F_SETFD, 0);
  const long code = system_call(SYS_execve, address_of(program.file.c_str()), address_of(arguments.data()),
                                address_of(environment.data()));
  throw std::system_error(static_cast<int>(-code), std::generic_category(), "starting " + program.file);
}

const Topic process{"Process",
                    {at_once("dieWithParent", die_with_parent)
                         .says("The kernel kills this process when the thread that started it ends."),
                     at_once("become", become)
                         .says("Replaces this process by another program, without running anything that a library "
                               "wants to run at its end. Returns only by throwing.")}};

}  // namespace

}  // namespace gvb
