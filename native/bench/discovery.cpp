#include "bench/discovery.h"

#include "base/clock.h"
#include "bench/nvml_query.h"
#include "driver/code_owner.h"
#include "driver/driver.h"

namespace gvb {

using abi::NVML_SUCCESS;

namespace {

constexpr std::array<const char*, kDiscoverySteps> kFunctions = {
    "nvmlInit_v2",       "nvmlDeviceGetCount_v2",   "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetName",
    "nvmlDeviceGetUUID", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetPciInfo_v3",       "nvmlDeviceGetMigMode"};

size_t index_of(DiscoveryStep step) { return static_cast<size_t>(step); }

size_t slot_of(const std::string& function) {
  size_t index = 0;
  while (kNvmlFunctions[index] != function) ++index;
  return index;
}

class Questions {
 public:
  Questions(const NvmlApi& api, DiscoveryPass& pass) : api_(api), pass_(pass) {}

  // The code `also` is no failure either: a card without the feature returns it. Returns whether there is an answer.
  template <class Function, class... Arguments>
  bool ask(DiscoveryStep step, abi::nvmlReturn_t also, Function function, Arguments... arguments) {
    const char* name = kFunctions[index_of(step)];
    require_nvml(function, name);
    const int64_t called = now_ns();
    const abi::nvmlReturn_t code = function(arguments...);
    pass_.steps_ns[index_of(step)] += static_cast<double>(now_ns() - called);
    if (code == NVML_SUCCESS || code == also) return code == NVML_SUCCESS;
    const char* text = api_.nvmlErrorString ? api_.nvmlErrorString(code) : nullptr;
    throw CallFailure(FailureKind::kCuda, code, text ? text : "unknown code", name, "looking for GPUs through NVML");
  }

 private:
  const NvmlApi& api_;
  DiscoveryPass& pass_;
};

// A layer may report success without an answer.
void require_answers(const std::vector<std::pair<DiscoveryStep, bool>>& answers) {
  for (const auto& [step, answered] : answers)
    if (!answered)
      throw Failure(FailureKind::kInvalidResult, std::string("a call reported success without doing its work: ") +
                                                     kFunctions[index_of(step)] + " answered nothing.");
}

std::string ask_device(const NvmlApi& api, Questions& questions, unsigned index) {
  abi::nvmlDevice_t device = nullptr;
  std::array<char, 96> name{}, uuid{};
  abi::nvmlMemory_t memory{};
  abi::nvmlPciInfo_t pci{};
  unsigned current = 0, pending = 0;
  const auto size = static_cast<unsigned>(name.size());
  questions.ask(DiscoveryStep::kHandle, NVML_SUCCESS, api.nvmlDeviceGetHandleByIndex_v2, index, &device);
  questions.ask(DiscoveryStep::kName, NVML_SUCCESS, api.nvmlDeviceGetName, device, name.data(), size);
  questions.ask(DiscoveryStep::kUuid, NVML_SUCCESS, api.nvmlDeviceGetUUID, device, uuid.data(), size);
  // A GPU that uses the host's memory, such as GB10, has no answer.
  const bool says_memory = questions.ask(DiscoveryStep::kMemory, abi::NVML_ERROR_NOT_SUPPORTED,
                                         api.nvmlDeviceGetMemoryInfo, device, &memory);
  questions.ask(DiscoveryStep::kPci, NVML_SUCCESS, api.nvmlDeviceGetPciInfo_v3, device, &pci);
  questions.ask(DiscoveryStep::kMig, abi::NVML_ERROR_NOT_SUPPORTED, api.nvmlDeviceGetMigMode, device, &current,
                &pending);
  require_answers({{DiscoveryStep::kHandle, device != nullptr},
                   {DiscoveryStep::kName, name[0] != 0},
                   {DiscoveryStep::kUuid, uuid[0] != 0},
                   {DiscoveryStep::kMemory, !says_memory || memory.total != 0},
                   {DiscoveryStep::kPci, pci.busId[0] != 0}});
  return uuid.data();
}

struct Discovered {
  DiscoveryPass pass;
  std::vector<std::string> uuids;
};

Discovered discover(const NvmlApi& api) {
  Discovered out;
  Questions questions(api, out.pass);
  unsigned count = 0;
  const int64_t began = now_ns();
  questions.ask(DiscoveryStep::kInit, NVML_SUCCESS, api.nvmlInit_v2);
  questions.ask(DiscoveryStep::kCount, NVML_SUCCESS, api.nvmlDeviceGetCount_v2, &count);
  for (unsigned index = 0; index < count; ++index) out.uuids.push_back(ask_device(api, questions, index));
  out.pass.total_ns = static_cast<double>(now_ns() - began);
  if (count == 0) throw Failure(FailureKind::kInvalidResult, "Expected NVML to list a GPU but received none.");
  return out;
}

std::vector<DiscoveryFunction> called_functions(const Nvml& nvml) {
  std::vector<DiscoveryFunction> functions;
  for (const char* name : kFunctions) {
    const size_t index = slot_of(name);
    DiscoveryFunction function;
    function.name = name;
    function.owner = owner_of(slot(nvml.dlsym, index));
    function.intercepted = slot(nvml.dlsym, index) != slot(nvml.api, index);
    functions.push_back(std::move(function));
  }
  return functions;
}

}  // namespace

Discovery measure_discovery(const DiscoveryRequest& request, const CancelToken& token) {
  Discovery out;
  const int64_t began = now_ns();
  const Nvml& nvml = Nvml::load(request.simulated_driver);
  out.load_ns = static_cast<double>(now_ns() - began);
  if (!nvml.path) {
    // Throws the driver's own error if there is no driver at all.
    Driver::load(request.simulated_driver);
    throw Failure(FailureKind::kFunctionMissing,
                  "There is no libnvidia-ml.so.1; GPU discovery needs NVML, which comes with the driver.");
  }
  out.functions = called_functions(nvml);
  Discovered found = discover(nvml.dlsym);
  out.first = found.pass;
  for (unsigned i = 0; i < request.repeats; ++i) {
    token.check();
    found = discover(nvml.dlsym);
    out.repeats.push_back(found.pass);
    // Keeps only the reference that the first pass took.
    if (nvml.dlsym.nvmlShutdown) nvml.dlsym.nvmlShutdown();
  }
  out.uuids = std::move(found.uuids);
  return out;
}

}  // namespace gvb
