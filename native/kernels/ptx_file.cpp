#include "kernels/ptx_file.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "base/unhooked_file.h"
#include "driver/error.h"

namespace gvb {

namespace {

#ifdef GVB_PTX_FOLDER  // of the native tests
std::string folder() { return GVB_PTX_FOLDER; }
#else
// The addon is in build/Release or in prebuilds/PLATFORM.
std::string folder() {
  Dl_info own;
  const bool isFound = dladdr(reinterpret_cast<const void*>(&folder), &own) != 0 && own.dli_fname != nullptr;
  const std::string object = isFound ? own.dli_fname : "";
  return object.substr(0, object.rfind('/') + 1) + "../../native/kernels/ptx";
}
#endif

std::string content(const std::string& module) {
  const std::string path = folder() + "/" + module + ".ptx";
  const UnhookedFile file(path.c_str());
  std::string text = file.is_open() ? file.rest() : "";
  if (text.empty())
    throw Failure(FailureKind::kFunctionMissing,
                  "the kernels of " + path +
                      " cannot be read: install gpu-virt-bench again, or raise the limit of open "
                      "files.");
  return text;
}

// Types follow a point, and their names in those of kernels an underscore; registers follow a percent sign. The same
// rule is in generate.cmake, which compares the result with what nvcc makes.
std::string for_bf16(const std::string& f16) {
  std::string text;
  for (size_t at = 0; at < f16.size(); ++at) {
    text += f16[at];
    if ((f16[at] == '.' || f16[at] == '_') && f16.compare(at + 1, 3, "f16") == 0) text += 'b';
  }
  return text;
}

std::string made(const std::string& module) {
  const std::string number = "_bf16";
  const size_t at = module.find(number);
  if (at == std::string::npos) return content(module);
  return for_bf16(content(std::string(module).replace(at, number.size(), "_f16")));
}

}  // namespace

const std::string& ptx_file(const std::string& module) {
  static std::mutex mutex;
  static std::map<std::string, std::string> texts;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto known = texts.find(module);
  return known != texts.end() ? known->second : texts.emplace(module, made(module)).first->second;
}

}  // namespace gvb
