#include "bench/ptx_refusal.h"

#include <atomic>
#include <cstdio>
#include <cstring>

namespace gvb {

namespace {

constexpr const char* kNoCompiler =
    "the driver finds no library that compiles PTX (CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221). In a container, give it "
    "the capability `compute` (NVIDIA_DRIVER_CAPABILITIES=compute,utility), which brings "
    "libnvidia-ptxjitcompiler.so.1; "
    "elsewhere, install that library of the driver's version.";
constexpr const char* kDisabled =
    "CUDA_DISABLE_PTX_JIT forbids the driver to compile PTX (CUDA_ERROR_JIT_COMPILATION_DISABLED, 223): unset it.";

std::atomic<bool>& compiler_is_missing() {
  static std::atomic<bool> missing{false};
  return missing;
}

// What follows a directive of the module, as in ".version 8.4".
std::string directive(const char* ptx, const std::string& name) {
  // A comment above it may name it too.
  const std::string line = "\n" + name + " ";
  const char* at = std::strstr(ptx, line.c_str());
  if (at == nullptr) return "";
  at += line.size();
  return {at, std::strcspn(at, " ,\n")};
}

// The CUDA version and the branch of drivers that brought a version of PTX: PTX ISA, release history; CUDA release
// notes, drivers. Only what the modules of kernels/ptx use.
struct Since {
  const char *ptx, *cuda, *branch;
};
constexpr Since kSince[] = {{"6.3", "10.0", "410"},
                            {"7.0", "11.0", "450"},
                            {"7.4", "11.4", "470"},
                            {"8.0", "12.0", "525"},
                            {"8.4", "12.4", "550"}};

std::string driver_of(const Cuda& cuda) {
  const int version = driver_version(cuda.api);
  if (version == 0) return "this driver";
  return "this driver, of CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + ",";
}

std::string too_new(const Cuda& cuda, const char* ptx) {
  const std::string version = directive(ptx, ".version");
  const std::string refused = driver_of(cuda) + " does not take its kernel (PTX " + version + "; " +
                              "CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222): ";
  for (const Since& since : kSince)
    if (version == since.ptx)
      return refused + "install a driver of CUDA " + since.cuda + " or newer (branch " + since.branch + ").";
  return refused + "install a newer driver.";
}

std::string other_target(const Cuda& cuda, abi::CUresult code, const char* ptx) {
  return driver_of(cuda) + " cannot compile its kernel (" + directive(ptx, ".target") + ") for this GPU (" +
         cuda.error_name(code) + ", " + std::to_string(code) +
         "): a GPU of that compute capability, or a newer driver, is needed.";
}

}  // namespace

std::string ptx_refusal(const Cuda& cuda, abi::CUresult code, const char* ptx, const std::string& log) {
  switch (code) {
    case abi::CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
      return kNoCompiler;
    case abi::CUDA_ERROR_JIT_COMPILATION_DISABLED:
      return kDisabled;
    case abi::CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return too_new(cuda, ptx);
    case abi::CUDA_ERROR_NO_BINARY_FOR_GPU:
      return other_target(cuda, code, ptx);
    case abi::CUDA_ERROR_INVALID_PTX:
      // The text is valid: ptxas accepted it when it was generated.
      return log.find("SM version specified by .target") == std::string::npos ? "" : other_target(cuda, code, ptx);
    default:
      return "";
  }
}

void check_loaded(const Cuda& cuda, const char* call, abi::CUresult code, const char* ptx, const std::string& log) {
  if (code == abi::CUDA_ERROR_JIT_COMPILER_NOT_FOUND) compiler_is_missing() = true;
  const std::string refusal = ptx_refusal(cuda, code, ptx, log);
  if (!refusal.empty()) throw Failure(FailureKind::kFunctionMissing, refusal);
  const std::string attempt = "loading PTX" + (log.empty() ? "" : " (" + log.substr(0, log.find('\n')) + ")");
  cuda.check(code, call, attempt.c_str());
}

void check_compiler() {
  if (compiler_is_missing()) throw Failure(FailureKind::kFunctionMissing, kNoCompiler);
}

}  // namespace gvb
