#include "sim/settings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sim/recorded_call.h"

namespace gvb::sim {
namespace {

struct Key {
  const char* name;
  int64_t Settings::*integer;
  double Settings::*real;
  double lowest;
  double highest;
};

constexpr Key count(const char* name, int64_t Settings::*member, double lowest, double highest) {
  return {name, member, nullptr, lowest, highest};
}

constexpr Key quantity(const char* name, double Settings::*member, double lowest, double highest) {
  return {name, nullptr, member, lowest, highest};
}

constexpr Key kKeys[] = {
    count("devices", &Settings::devices, 1, kMaxDevices),
    count("sms", &Settings::sms, 1, 4096),
    count("memory_mib", &Settings::memory_mib, 16, 16 << 20),
    count("l2_mib", &Settings::l2_mib, 1, 2000),
    quantity("dram_gbs", &Settings::dram_gbs, 0.1, 1e6),
    quantity("pcie_gbs", &Settings::pcie_gbs, 0.1, 1e6),
    quantity("fp32_tflops", &Settings::fp32_tflops, 0.001, 1e6),
    quantity("tensor_tflops", &Settings::tensor_tflops, 0.001, 1e6),
    count("cc", &Settings::cc, 50, 199),
    count("driver_version", &Settings::driver_version, 10000, 99990),
    quantity("launch_ns", &Settings::launch_ns, 0, 1e10),
    quantity("start_ns", &Settings::start_ns, 0, 1e10),
    quantity("kernel_ns", &Settings::kernel_ns, 0, 1e10),
    quantity("alloc_us", &Settings::alloc_us, 0, 1e7),
    quantity("free_us", &Settings::free_us, 0, 1e7),
    quantity("alloc_async_us", &Settings::alloc_async_us, 0, 1e7),
    quantity("free_async_us", &Settings::free_async_us, 0, 1e7),
    quantity("vmm_us", &Settings::vmm_us, 0, 1e7),
    quantity("host_alloc_us", &Settings::host_alloc_us, 0, 1e7),
    quantity("init_ms", &Settings::init_ms, 0, 1e5),
    quantity("context_ms", &Settings::context_ms, 0, 1e5),
    count("context_mib", &Settings::context_mib, 0, 1 << 20),
    count("init_lock", &Settings::init_lock, 0, 1),
    quantity("module_ms", &Settings::module_ms, 0, 1e5),
    quantity("module_cached_ms", &Settings::module_cached_ms, 0, 1e5),
    quantity("nvml_us", &Settings::nvml_us, 0, 1e7),
    quantity("timeslice_us", &Settings::timeslice_us, 1, 1e7),
    count("timer_step_ns", &Settings::timer_step_ns, 1, 1e9),
    count("clock_offset_ns", &Settings::clock_offset_ns, 0, 4e18),
    quantity("clock_drift_ppm", &Settings::clock_drift_ppm, -1e5, 1e5),
    count("persistence", &Settings::persistence, 0, 1),
    count("mps", &Settings::mps, 0, 1),
    count("temperature_c", &Settings::temperature_c, 0, 150),
    count("performance_state", &Settings::performance_state, 0, 15),
    count("event_reasons", &Settings::event_reasons, 0, 0x1ff),
};

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

std::string valueOf(const Key& key, const Settings& settings) {
  return key.integer ? std::to_string(settings.*key.integer) : shown(settings.*key.real);
}

bool isNumberStart(const std::string& text) {
  return !text.empty() && std::strchr("0123456789.+-", text[0]) != nullptr;
}

bool parseInteger(const std::string& text, int64_t* value) {
  char* end = nullptr;
  errno = 0;
  *value = std::strtoll(text.c_str(), &end, 10);
  return isNumberStart(text) && *end == '\0' && errno == 0;
}

bool parseReal(const std::string& text, double* value) {
  char* end = nullptr;
  errno = 0;
  *value = std::strtod(text.c_str(), &end);
  return isNumberStart(text) && *end == '\0' && errno == 0;
}

std::string assign(const Key& key, const std::string& text, Settings* settings) {
  int64_t integer = 0;
  double real = 0;
  const bool parsed = key.integer ? parseInteger(text, &integer) : parseReal(text, &real);
  if (key.integer) real = static_cast<double>(integer);
  if (!parsed || !(real >= key.lowest && real <= key.highest))
    return std::string("Expected GVB_SIM ") + key.name + " to be " + (key.integer ? "an integer" : "a number") +
           " from " + shown(key.lowest) + " to " + shown(key.highest) + " but received " + quoted(text) + ".";
  if (key.integer)
    settings->*key.integer = integer;
  else
    settings->*key.real = real;
  return "";
}

// The name becomes part of a shared memory object's name.
std::string assignRegion(const std::string& text, Settings* settings) {
  constexpr char kAllowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (text.empty() || text.size() >= sizeof settings->region || text.find_first_not_of(kAllowed) != std::string::npos)
    return "Expected GVB_SIM region to be 1 to 48 letters, digits, '.', '_' or '-' but received " + quoted(text) + ".";
  std::memset(settings->region, 0, sizeof settings->region);
  std::memcpy(settings->region, text.c_str(), text.size());
  return "";
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

std::string parseFailure(const std::string& text, std::vector<Failure>* failures) {
  const std::string expected = "Expected GVB_SIM fail to be NAME:CODE@N (N from 1) but received " + quoted(text) + ".";
  const size_t colon = text.find(':');
  const size_t at = text.find('@');
  if (colon == std::string::npos || at == std::string::npos || at < colon) return expected;
  int64_t code = 0;
  int64_t first = 0;
  if (!parseInteger(text.substr(colon + 1, at - colon - 1), &code) || !parseInteger(text.substr(at + 1), &first))
    return expected;
  if (code < 1 || code > 9999 || first < 1) return expected;
  const std::string name = text.substr(0, colon);
  const int function = functionByName(name);
  if (function < 0) return "Expected GVB_SIM fail to name an exported function but received " + quoted(name) + ".";
  failures->push_back({static_cast<Function>(function), static_cast<int>(code), static_cast<uint64_t>(first)});
  return "";
}

std::string parseFailures(const std::string& text, std::vector<Failure>* failures) {
  for (const std::string& part : split(text, '+')) {
    const std::string error = parseFailure(part, failures);
    if (!error.empty()) return error;
  }
  return "";
}

std::string assignRecord(const std::string& text, std::string* folder) {
  if (text.empty() || text[0] != '/')
    return "Expected GVB_SIM record to be the absolute path of a folder but received " + quoted(text) + ".";
  *folder = text;
  return "";
}

std::string parseRecorded(const std::string& text, std::vector<Function>* functions) {
  for (const std::string& name : split(text, '+')) {
    const int function = functionByName(name);
    if (function < 0)
      return "Expected GVB_SIM recorded to name exported functions, joined by +, but received " + quoted(name) + ".";
    functions->push_back(static_cast<Function>(function));
  }
  return "";
}

std::string knownKeys() {
  std::string names;
  for (const Key& key : kKeys) names += std::string(key.name) + ", ";
  return names + "region, fail, record, recorded";
}

std::string parseEntry(const std::string& entry, Environment* out) {
  const size_t equals = entry.find('=');
  const std::string name = entry.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : entry.substr(equals + 1);
  if (name == "region") return assignRegion(value, &out->settings);
  if (name == "fail") return parseFailures(value, &out->failures);
  if (name == "recorded") return parseRecorded(value, &out->recorded);
  if (name == "record") return assignRecord(value, &out->record);
  for (const Key& key : kKeys)
    if (name == key.name) return assign(key, value, &out->settings);
  return "Expected a GVB_SIM key out of " + knownKeys() + " but received " + quoted(name) + ".";
}

void start(Environment* environment) {
  armFailures(environment->failures);
  if (environment->record.empty()) return;
  const std::string why = startRecord(environment->record, environment->recorded);
  if (!why.empty())
    environment->error =
        "The folder of GVB_SIM record, " + quoted(environment->record) + ", cannot be written to: " + why + ".";
}

}  // namespace

Environment parseEnvironment(const char* text) {
  Environment parsed;
  if (text == nullptr || *text == '\0') return parsed;
  for (const std::string& entry : split(text, ',')) {
    parsed.error = parseEntry(entry, &parsed);
    if (!parsed.error.empty()) return parsed;
  }
  return parsed;
}

const Environment& environment() {
  static const Environment& value = []() -> const Environment& {
    auto* parsed = new Environment(parseEnvironment(std::getenv("GVB_SIM")));
    if (parsed->error.empty()) start(parsed);
    return *parsed;
  }();
  return value;
}

std::string difference(const Settings& ours, const Settings& theirs) {
  for (const Key& key : kKeys) {
    const std::string mine = valueOf(key, ours);
    const std::string other = valueOf(key, theirs);
    if (mine != other) return std::string(key.name) + "=" + mine + " (theirs: " + other + ")";
  }
  return "";
}

}  // namespace gvb::sim
