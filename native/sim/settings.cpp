#include "sim/settings.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "base/text.h"
#include "driver/driver_branches.h"
#include "sim/card/mig.h"
#include "sim/card/models.h"
#include "sim/card/own_region.h"
#include "sim/card/residue.h"
#include "sim/recorded_call.h"

namespace gvb::sim {
namespace {

template <class Owner>
struct Key {
  const char* name;
  int64_t Owner::*integer;
  double Owner::*real;
  double lowest;
  double highest;
};

template <class Owner>
constexpr Key<Owner> count(const char* name, int64_t Owner::*member, double lowest, double highest) {
  return {name, member, nullptr, lowest, highest};
}

template <class Owner>
constexpr Key<Owner> quantity(const char* name, double Owner::*member, double lowest, double highest) {
  return {name, nullptr, member, lowest, highest};
}

constexpr int64_t kHostBridge = 30;  // of `topology`

constexpr Key<Settings> kKeys[] = {
    count("devices", &Settings::devices, 1, kMaxDevices),
    count("driver_version", &Settings::driver_version, 10000, 99990),
    count("jit", &Settings::jit, 0, 1),
    quantity("launch_ns", &Settings::launch_ns, 0, 1e10),
    quantity("start_ns", &Settings::start_ns, 0, 1e10),
    quantity("alloc_us", &Settings::alloc_us, 0, 1e7),
    quantity("free_us", &Settings::free_us, 0, 1e7),
    quantity("alloc_async_us", &Settings::alloc_async_us, 0, 1e7),
    quantity("free_async_us", &Settings::free_async_us, 0, 1e7),
    quantity("vmm_us", &Settings::vmm_us, 0, 1e7),
    quantity("host_alloc_us", &Settings::host_alloc_us, 0, 1e7),
    quantity("host_register_us", &Settings::host_register_us, 0, 1e7),
    quantity("init_ms", &Settings::init_ms, 0, 1e5),
    quantity("context_ms", &Settings::context_ms, 0, 1e5),
    count("context_mib", &Settings::context_mib, 0, 1 << 20),
    count("init_lock", &Settings::init_lock, 0, 1),
    quantity("module_ms", &Settings::module_ms, 0, 1e5),
    quantity("module_cached_ms", &Settings::module_cached_ms, 0, 1e5),
    quantity("nvml_us", &Settings::nvml_us, 0, 1e7),
    count("timer_step_ns", &Settings::timer_step_ns, 1, 1e9),
    count("clock_offset_ns", &Settings::clock_offset_ns, 0, 4e18),
    quantity("clock_drift_ppm", &Settings::clock_drift_ppm, -9e5, 1e5),
    count("mps", &Settings::mps, 0, 1),
    count("fault_spread", &Settings::fault_spread, 0, 1),
    count("process_utilization", &Settings::process_utilization, 0, 1),
    quantity("nccl_us", &Settings::nccl_us, 0, 1e7),
    count("nccl_hang", &Settings::nccl_hang, 0, 1),
    count("nccl_skip", &Settings::nccl_skip, 0, 1),
    count("nccl_off", &Settings::nccl_off, 0, 1),
    count("topology", &Settings::topology, 0, 50),
    count("peer_access", &Settings::peer_access, 0, 1),
    count("real_time", &Settings::real_time, 0, 1),
    quantity("launch_leak_ns", &Settings::launch_leak_ns, 0, 1e6),
    quantity("alloc_leak_ns", &Settings::alloc_leak_ns, 0, 1e6),
    quantity("context_leak_ns", &Settings::context_leak_ns, 0, 1e6),
    quantity("copy_leak_ns", &Settings::copy_leak_ns, 0, 1e6),
    count("unordered_sums", &Settings::unordered_sums, 0, 1),
    quantity("checkpoint_lock_us", &Settings::checkpoint_lock_us, 0, 1e8),
    quantity("checkpoint_fixed_us", &Settings::checkpoint_fixed_us, 0, 1e8),
    quantity("checkpoint_us_per_mib", &Settings::checkpoint_us_per_mib, 0, 1e6),
    quantity("restore_fixed_us", &Settings::restore_fixed_us, 0, 1e8),
    quantity("restore_us_per_mib", &Settings::restore_us_per_mib, 0, 1e6),
    quantity("unlock_us", &Settings::unlock_us, 0, 1e8),
    quantity("checkpoint_gbs", &Settings::checkpoint_gbs, 0, 1e6),
    count("checkpoint_kills", &Settings::checkpoint_kills, 0, 1),
    count("checkpoint_hangs", &Settings::checkpoint_hangs, 0, 1),
    count("checkpoint_keeps", &Settings::checkpoint_keeps, 0, 1),
    count("checkpoint_corrupts", &Settings::checkpoint_corrupts, 0, 1),
    count("checkpoint_condemns", &Settings::checkpoint_condemns, 0, 1),
};

constexpr Key<GroupSettings> kGroupKeys[] = {count("dmem_evicts", &GroupSettings::evicts, 0, 3),
                                             quantity("dmem_evict_ms", &GroupSettings::evict_ms, 0, 1e6)};

constexpr Key<CardSettings> kCardKeys[] = {
    count("sms", &CardSettings::sms, 1, 4096),
    count("partition_whole", &CardSettings::partition_whole, 0, 1),
    count("partition_sms", &CardSettings::partition_sms, 0, 4096),
    count("memory_mib", &CardSettings::memory_mib, 16, 16 << 20),
    count("l2_mib", &CardSettings::l2_mib, 1, 2000),
    quantity("l2_gbs", &CardSettings::l2_gbs, 0, 1e6),
    quantity("l2_hit_ns", &CardSettings::l2_hit_ns, 1, 1e6),
    quantity("l2_far_ns", &CardSettings::l2_far_ns, 0, 1e6),
    quantity("l2_miss_ns", &CardSettings::l2_miss_ns, 1, 1e6),
    quantity("l2_queue_ns", &CardSettings::l2_queue_ns, 0, 1e6),
    quantity("dram_gbs", &CardSettings::dram_gbs, 0.1, 1e6),
    quantity("pcie_gbs", &CardSettings::pcie_gbs, 0.1, 1e6),
    quantity("pcie_out_gbs", &CardSettings::pcie_out_gbs, 0, 1e6),
    quantity("pageable_gbs", &CardSettings::pageable_gbs, 0, 1e6),
    count("pcie_gen", &CardSettings::pcie_gen, 0, 9),
    count("pcie_idle_gen", &CardSettings::pcie_idle_gen, 0, 9),
    count("pcie_width", &CardSettings::pcie_width, 1, 32),
    count("pcie_max_width", &CardSettings::pcie_max_width, 1, 32),
    count("copy_engines", &CardSettings::copy_engines, 1, 8),
    count("copy_skip", &CardSettings::copy_skip, 0, 1),
    count("copy_lazy", &CardSettings::copy_lazy, 0, 1),
    count("copy_swap", &CardSettings::copy_swap, 0, 1),
    count("largest_mib", &CardSettings::largest_mib, 0, 16 << 20),
    quantity("alloc_hole_us", &CardSettings::alloc_hole_us, 0, 1e6),
    quantity("link_gbs", &CardSettings::link_gbs, 0.1, 1e6),
    count("nvlinks", &CardSettings::nvlinks, 0, 18),
    count("nvlink_mbs", &CardSettings::nvlink_mbs, 1, 1e6),
    quantity("fp32_tflops", &CardSettings::fp32_tflops, 0.001, 1e6),
    quantity("tensor_tflops", &CardSettings::tensor_tflops, 1e-6, 1e6),
    count("cc", &CardSettings::cc, 50, 199),
    count("threads", &CardSettings::threads, 32, 65536),
    count("blocks", &CardSettings::blocks, 1, 1024),
    count("registers", &CardSettings::registers, 1, 1 << 24),
    count("shared_kib", &CardSettings::shared_kib, 16, 16384),
    count("shared_block_kib", &CardSettings::shared_block_kib, 16, 16384),
    count("integrated", &CardSettings::integrated, 0, 1),
    count("occupancy_percent", &CardSettings::occupancy_percent, 1, 1000),
    quantity("kernel_ns", &CardSettings::kernel_ns, 0, 1e10),
    quantity("stamp_ns", &CardSettings::stamp_ns, 0, 1e10),
    quantity("timeslice_us", &CardSettings::timeslice_us, 1, 1e7),
    quantity("switch_us", &CardSettings::switch_us, 0, 1e7),
    count("turns_end", &CardSettings::turns_end, 0, 2),
    quantity("fault_us", &CardSettings::fault_us, 0, 1e7),
    quantity("recovery_ms", &CardSettings::recovery_ms, 0, 1e7),
    count("recovery_refuses", &CardSettings::recovery_refuses, 0, 1),
    count("persistence", &CardSettings::persistence, 0, 1),
    count("temperature_c", &CardSettings::temperature_c, 0, 150),
    count("performance_state", &CardSettings::performance_state, 0, 15),
    count("event_reasons", &CardSettings::event_reasons, 0, 0x1ff),
    quantity("power_w", &CardSettings::power_w, 0, 1e5),
    quantity("power_limit_w", &CardSettings::power_limit_w, 0, 1e5),
    count("vbios", &CardSettings::vbios, 0, 1000),
    count("memory_percent", &CardSettings::memory_percent, 0, 100),
};

template <size_t Count>
std::string joined(const char* const (&names)[Count]) {
  std::string text;
  for (const char* name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

template <class Owner>
std::string value_of(const Key<Owner>& key, const Owner& owner) {
  return key.integer ? std::to_string(owner.*key.integer) : shown(owner.*key.real);
}

bool is_number_start(const std::string& text) {
  return !text.empty() && std::strchr("0123456789.+-", text[0]) != nullptr;
}

std::optional<int64_t> parse_integer(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (!is_number_start(text) || *end != '\0' || errno != 0) return std::nullopt;
  return value;
}

std::optional<double> parse_real(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  if (!is_number_start(text) || *end != '\0' || errno != 0) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(const std::string& expected, const std::string& received) {
  throw std::runtime_error("Expected GVB_SIM " + expected + " but received " + quoted(received) + ".");
}

template <class Owner>
void assign(const Key<Owner>& key, const std::string& text, Owner& owner) {
  const std::optional<int64_t> integer = parse_integer(text);
  const std::optional<double> real = parse_real(text);
  if ((key.integer && !integer) || !real || !(*real >= key.lowest && *real <= key.highest))
    refuse(std::string(key.name) + " to be " + (key.integer ? "an integer" : "a number") + " from " +
               shown(key.lowest) + " to " + shown(key.highest),
           text);
  if (key.integer)
    owner.*key.integer = *integer;
  else
    owner.*key.real = *real;
}

// The name becomes part of a shared memory object's name.
void assign_region(const std::string& text, Settings& settings) {
  constexpr char kAllowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (text.empty() || text.size() >= sizeof settings.region || text.find_first_not_of(kAllowed) != std::string::npos)
    refuse("region to be 1 to 48 letters, digits, '.', '_' or '-'", text);
  std::memset(settings.region, 0, sizeof settings.region);
  std::memcpy(settings.region, text.c_str(), text.size());
}

Function parse_function(const std::string& name, const std::string& expected) {
  const int function = function_by_name(name);
  if (function < 0) refuse(expected, name);
  return static_cast<Function>(function);
}

Failure parse_failure(const std::string& text) {
  constexpr const char* kExpected = "fail to be NAME:CODE@N (N from 1)";
  const size_t colon = text.find(':');
  const size_t at = text.find('@');
  if (colon == std::string::npos || at == std::string::npos || at < colon) refuse(kExpected, text);
  const auto code = parse_integer(text.substr(colon + 1, at - colon - 1));
  const auto first = parse_integer(text.substr(at + 1));
  if (!code || !first || *code < 1 || *code > 9999 || *first < 1) refuse(kExpected, text);
  return {parse_function(text.substr(0, colon), "fail to name an exported function"), static_cast<int>(*code),
          static_cast<uint64_t>(*first)};
}

std::vector<Failure> parse_failures(const std::string& text) {
  std::vector<Failure> failures;
  for (const std::string& part : split(text, '+')) failures.push_back(parse_failure(part));
  return failures;
}

std::string parse_folder(const std::string& key, const std::string& text) {
  if (text.empty() || text[0] != '/') refuse(key + " to be the absolute path of a folder", text);
  return text;
}

std::vector<Function> parse_recorded(const std::string& text) {
  std::vector<Function> functions;
  for (const std::string& name : split(text, '+'))
    functions.push_back(parse_function(name, "recorded to name exported functions, joined by +,"));
  return functions;
}

std::vector<std::string> parse_hidden(const std::string& text) {
  std::vector<std::string> names = split(text, '+');
  for (const std::string& name : names)
    if (name != "nvmlErrorString") parse_function(name, "hide to name exported functions, joined by +,");
  return names;
}

int64_t parse_residue(const std::string& text) {
  int64_t bits = 0;
  for (const std::string& name : split(text, '+')) {
    const auto* const at = std::find(std::begin(kLeakNames), std::end(kLeakNames), name);
    if (at == std::end(kLeakNames)) refuse("residue to be names joined by +, out of " + joined(kLeakNames), name);
    bits |= int64_t{1} << (at - std::begin(kLeakNames));
  }
  return bits;
}

int64_t cuda_of_branch(const std::string& text) {
  std::string known;
  for (const DriverBranch& each : kDriverBranches) {
    if (text == each.name) return each.cuda_version;
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  refuse("driver to be a branch of drivers out of " + known, text);
}

std::string known_keys() {
  std::string names;
  for (const auto& key : kKeys) names += std::string(key.name) + ", ";
  for (const auto& key : kCardKeys) names += std::string(key.name) + ", ";
  for (const auto& key : kGroupKeys) names += std::string(key.name) + ", ";
  return names + "card, driver, mig, residue, region, fail, hide, dmem, record, recorded";
}

// Settings of the cards: `KEY` for all of them, `KEY@INDEX` for one.
struct CardEntry {
  std::string name;
  std::string value;
  std::optional<int64_t> index;
};

using Layouts = std::array<std::string, kMaxDevices>;

bool is_card_key(const std::string& name) {
  return name == "mig" || name == "card" ||
         std::any_of(std::begin(kCardKeys), std::end(kCardKeys), [&](const auto& k) { return name == k.name; });
}

CardEntry parse_card_entry(const std::string& key, const std::string& value) {
  const size_t at = key.find('@');
  if (at == std::string::npos) return {key, value, std::nullopt};
  const std::string name = key.substr(0, at);
  const std::optional<int64_t> index = parse_integer(key.substr(at + 1));
  if (!index || *index < 0 || *index >= kMaxDevices) refuse(name + "@INDEX to name a card from 0", key);
  return {name, value, index};
}

void assign_entry(const std::string& key, const std::string& value, Environment& out) {
  if (key == "region") return assign_region(value, out.settings);
  if (key == "driver") {
    out.settings.driver_version = cuda_of_branch(value);
    return;
  }
  if (key == "residue") {
    out.settings.residue = parse_residue(value);
    return;
  }
  if (key == "record") {
    out.record = parse_folder(key, value);
    return;
  }
  if (key == "dmem") {
    out.groups.root = parse_folder(key, value);
    return;
  }
  if (key == "recorded") {
    out.recorded = parse_recorded(value);
    return;
  }
  if (key == "hide") {
    out.hidden = parse_hidden(value);
    return;
  }
  if (key == "fail") {
    out.failures = parse_failures(value);
    return;
  }
  for (const auto& known : kGroupKeys)
    if (key == known.name) return assign(known, value, out.groups);
  for (const auto& known : kKeys)
    if (key == known.name) return assign(known, value, out.settings);
  throw std::runtime_error("Expected a GVB_SIM key out of " + known_keys() + " but received " + quoted(key) + ".");
}

void assign_card(const CardEntry& entry, int64_t index, Settings& settings, Layouts& layouts) {
  if (entry.name == "mig") layouts[static_cast<size_t>(index)] = entry.value;
  if (entry.name == "card" && !become_model(entry.value, settings.cards[index]))
    refuse("card to be a model out of " + model_names(), entry.value);
  for (const auto& key : kCardKeys)
    if (entry.name == key.name) assign(key, entry.value, settings.cards[index]);
}

// Models come first, wherever they stand, so that every other setting changes what a model says.
Layouts assign_cards(const std::vector<CardEntry>& entries, Settings& settings) {
  Layouts layouts;
  for (const auto& [of_model, of_one] : {std::pair(true, false), {true, true}, {false, false}, {false, true}})
    for (const CardEntry& entry : entries) {
      if (entry.index.has_value() != of_one || (entry.name == "card") != of_model) continue;
      if (entry.index && *entry.index >= settings.devices)
        throw std::runtime_error("Expected GVB_SIM " + entry.name + "@" + std::to_string(*entry.index) +
                                 " to name one of the " + std::to_string(settings.devices) + " cards.");
      const int64_t first = entry.index.value_or(0);
      const int64_t last = entry.index.value_or(kMaxDevices - 1);
      for (int64_t index = first; index <= last; ++index) assign_card(entry, index, settings, layouts);
    }
  return layouts;
}

// What models say of the way between cards, where no setting does: cards without NVLinks meet at the host's bridge.
void connect_models(bool names_topology, bool names_access, Settings& settings) {
  for (int card = 0; card < settings.devices; ++card) {
    const CardSettings& its = settings.cards[card];
    if (its.model < 0) continue;
    if (!names_topology && its.nvlinks == 0) settings.topology = kHostBridge;
    if (!names_access && !has_peer_access(its)) settings.peer_access = 0;
  }
}

void parse(const std::string& text, Environment& out) {
  std::vector<CardEntry> cards;
  bool names_topology = false, names_access = false;
  for (const std::string& entry : text.empty() ? std::vector<std::string>{} : split(text, ',')) {
    const auto [key, value] = named_value(entry);
    if (is_card_key(key.substr(0, key.find('@'))))
      cards.push_back(parse_card_entry(key, value));
    else
      assign_entry(key, value, out);
    names_topology |= key == "topology";
    names_access |= key == "peer_access";
  }
  if (out.settings.region[0] == '\0') assign_region(own_region(), out.settings);
  const Layouts layouts = assign_cards(cards, out.settings);
  connect_models(names_topology, names_access, out.settings);
  out.settings.places = out.settings.devices;
  for (int card = 0; card < out.settings.devices; ++card)
    cut_into_instances(layouts[static_cast<size_t>(card)], card, out.settings);
}

void start(Environment* environment) {
  arm_failures(environment->failures);
  if (environment->record.empty()) return;
  const std::string why = start_record(environment->record, environment->recorded);
  if (!why.empty())
    environment->error =
        "The folder of GVB_SIM record, " + quoted(environment->record) + ", cannot be written to: " + why + ".";
}

}  // namespace

Environment parse_environment(const char* text) {
  Environment parsed;
  try {
    parse(text == nullptr ? "" : text, parsed);
  } catch (const std::runtime_error& refused) {
    parsed.error = refused.what();
  }
  return parsed;
}

const Environment& environment() {
  static const Environment* const value = [] {
    auto* parsed = new Environment(parse_environment(std::getenv("GVB_SIM")));
    if (parsed->error.empty()) start(parsed);
    return parsed;
  }();
  return *value;
}

std::string difference(const Settings& ours, const Settings& theirs) {
  const auto differ = [](const auto& key, const auto& mine, const auto& other, const std::string& where) {
    const std::string value = value_of(key, mine);
    const std::string of_other = value_of(key, other);
    return value == of_other ? "" : key.name + where + "=" + value + " (theirs: " + of_other + ")";
  };
  for (const auto& key : kKeys) {
    const std::string found = differ(key, ours, theirs, "");
    if (!found.empty()) return found;
  }
  if (ours.residue != theirs.residue)
    return "residue=" + std::to_string(ours.residue) + " (theirs: " + std::to_string(theirs.residue) + ", as bits)";
  for (int place = 0; place < std::max(ours.places, theirs.places); ++place) {
    const std::string where = place == 0 ? "" : "@" + std::to_string(place);
    const std::string model = model_name(ours.cards[place]), other = model_name(theirs.cards[place]);
    if (model != other) return "card" + where + "=" + model + " (theirs: " + other + ")";
    for (const auto& key : kCardKeys) {
      const std::string found = differ(key, ours.cards[place], theirs.cards[place], where);
      if (!found.empty()) return found;
    }
  }
  return "";
}

}  // namespace gvb::sim
