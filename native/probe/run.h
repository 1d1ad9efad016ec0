// The tools of a probe: the libraries, reported calls, a device and its context.
#pragma once

#include <stdexcept>
#include <string>

#include "probe/function.h"
#include "probe/library.h"
#include "probe/options.h"
#include "probe/report.h"

namespace gvb::probe {

// Ends a probe that cannot continue. In a native run it means that the probe cannot run on this machine.
struct Over : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Prevents deducing a type from an argument: the function's own types decide.
template <class T>
struct Declared {
  using Type = T;
};

std::string uuid_text(const abi::CUuuid& uuid);

class Run {
 public:
  explicit Run(Options given)
      : options(std::move(given)), cuda(options.path), nvml(SymbolPath::kDlsym), nccl(SymbolPath::kDlsym) {}

  const Options options;
  Library cuda, nvml, nccl;
  abi::CUdevice device = 0;
  abi::CUcontext context = nullptr;

  // Makes a call and reports its code.
  template <class... A>
  int call(const Function<int(A...)>& function, typename Declared<A>::Type... arguments) {
    report::calls(function.exported);
    const auto address = reinterpret_cast<int (*)(A...)>(found(function));
    const int code = address(arguments...);
    report::code(function.exported, code);
    return code;
  }

  // Like `call`, but ends the probe if the call fails.
  template <class... A>
  void need(const Function<int(A...)>& function, typename Declared<A>::Type... arguments) {
    if (const int code = call(function, arguments...)) fail(function.exported, code);
  }

  // The address of a function that is called without a report, e.g. in a thread or very often.
  template <class... A>
  auto address(const Function<int(A...)>& function) {
    return reinterpret_cast<int (*)(A...)>(found(function));
  }

  [[noreturn]] static void fail(const std::string& step, int code);

  // Calls cuInit, chooses the device and makes its primary context current.
  void initialise();
  void enter();
  void load();       // loads libcuda in the usual way
  void load_nvml();  // loads NVML and calls nvmlInit

  // Reports whether something is as required; "wrong" in a native run means that the question cannot be asked here.
  void expect(const std::string& what, bool right) { report::data(what, right ? "right" : "wrong"); }

  void fill(CUdeviceptr address, size_t bytes, unsigned char value);
  void check(const std::string& what, CUdeviceptr address, size_t bytes, unsigned char value);
  // Calls cuMemAlloc, fills and checks the memory, and calls cuMemFree.
  void use_memory(const std::string& what);
  abi::CUfunction empty_kernel();
  // A kernel of the base module.
  abi::CUfunction kernel(const char* name);
  // Runs a kernel and checks its result, which shows that the context still works.
  void follow_up();

  // Ends a probe's report: the owners of the functions it called, and that it finished.
  void finish();

 private:
  // The device, and its memory that cuDeviceTotalMem reports, as JSON.
  std::string memory_seen();
  Library& library_of(const Symbol& symbol);
  void* found(const Symbol& symbol);
};

}  // namespace gvb::probe
