// GPU monitors. Each has its own thread, so that neither the event loop nor the executor's work delays it.
#include "addon/gpu_monitor.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "addon/job.h"
#include "addon/target_fields.h"
#include "base/thread.h"
#include "bench/gpu_monitor.h"
#include "driver/error.h"

namespace gvb {

struct MonitorRequest : Target {
  std::string uuid;
  uint64_t interval_ns = 0;
};

struct MonitorId {
  uint64_t monitor = 0;
};

template <>
struct Fields<MonitorRequest> : FieldsOf<MonitorRequest, Target> {
  static constexpr const char* kName = "MonitorRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(uuid));
    visit(GVB_FIELD(interval_ns).above_zero());
  }
};

template <>
struct Fields<MonitorId> : FieldsOf<MonitorId> {
  static constexpr const char* kName = "MonitorId";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(monitor));
  }
};

template <>
struct Fields<ProcessSample> : FieldsOf<ProcessSample> {
  static constexpr const char* kName = "ProcessSample";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(pid));
    visit(GVB_FIELD(used_bytes));
    visit(
        GVB_FIELD(mps_client)
            .says("Whether NVML lists it as a client of MPS; null if it has no such list or lists no context of it."));
    visit(GVB_FIELD(sm_percent)
              .says("Percentage of NVML's last sampling period in which a kernel of the process ran; null if NVML "
                    "listed no value in the last second."));
    visit(GVB_FIELD(memory_percent)
              .says("Percentage of that period in which the process accessed memory; null in the same case."));
  }
};

template <>
struct Fields<CardSample> : FieldsOf<CardSample> {
  static constexpr const char* kName = "CardSample";
  static constexpr const char* kDoc =
      "NVML's readings of a GPU at one time; null for values that NVML does not report.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(at_ns).says("Time on the clock of `now` before the NVML calls."));
    visit(
        GVB_FIELD(gpu_percent)
            .says(
                "Percentage of NVML's last sampling period in which a kernel ran, and in which memory was accessed."));
    visit(GVB_FIELD(memory_percent));
    visit(GVB_FIELD(used_bytes).says("Used memory in bytes, including what the driver reserves."));
    visit(GVB_FIELD(total_bytes));
    visit(GVB_FIELD(power_w));
    visit(GVB_FIELD(energy_j).says("Energy used since the driver was loaded."));
    visit(GVB_FIELD(temperature_c));
    visit(GVB_FIELD(sm_clock_mhz));
    visit(GVB_FIELD(memory_clock_mhz));
    visit(GVB_FIELD(pcie_received).says("Bytes per second, measured over 20 ms of the interval."));
    visit(GVB_FIELD(pcie_sent));
    visit(GVB_FIELD(nvlink_received)
              .says("Bytes per second over all links since the previous sample; null in the first sample."));
    visit(GVB_FIELD(nvlink_sent));
    visit(GVB_FIELD(event_reasons).says("Bits of nvmlDeviceGetCurrentClocksEventReasons."));
    visit(GVB_FIELD(processes).says("Processes with a context, or with work in the last second."));
  }
};

template <>
struct Fields<MissingValue> : FieldsOf<MissingValue> {
  static constexpr const char* kName = "MissingValue";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(call).says("Name of the NVML function, with the value in parentheses if it returns several."));
    visit(GVB_FIELD(reason));
    visit(GVB_FIELD(samples).says("Number of samples without the value."));
  }
};

template <>
struct Fields<MonitorReport> : FieldsOf<MonitorReport> {
  static constexpr const char* kName = "MonitorReport";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(samples).says("Samples since the last report, oldest first."));
    visit(GVB_FIELD(taken).says("Number of samples so far."));
    visit(GVB_FIELD(missed).says("Intervals without a sample, because the previous sample took too long."));
    visit(GVB_FIELD(lost).says("Samples that were discarded because no report took them in time."));
    visit(GVB_FIELD(missing));
    visit(GVB_FIELD(failure).or_null().says("Why sampling ended before it was stopped."));
  }
};

template <>
struct Fields<ListedGpu> : FieldsOf<ListedGpu> {
  static constexpr const char* kName = "ListedGpu";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(index));
    visit(GVB_FIELD(uuid));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(simulated));
  }
};

namespace {

class Running {
 public:
  explicit Running(const Environment* owner) : owner(owner) {}

  const Environment* const owner;

  // Runs once, on the monitor's thread.
  void started(std::unique_ptr<GpuMonitor> monitor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    monitor_ = std::move(monitor);
    if (is_stopped_) monitor_->stop();
  }
  void run() { monitor_->run(); }
  void ended() {
    std::vector<std::shared_ptr<Job>> waiting;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      has_ended_ = true;
      waiting.swap(waiting_);
      changed_.notify_all();
    }
    for (const auto& job : waiting) job->finish([] { return result_of(Nothing{}); });
  }

  // Runs on any other thread.
  void stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopped_ = true;
    if (monitor_) monitor_->stop();
  }
  void when_ended(const std::shared_ptr<Job>& job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!has_ended_) {
        waiting_.push_back(job);
        return;
      }
    }
    job->finish([] { return result_of(Nothing{}); });
  }
  void wait_for_end(std::chrono::system_clock::time_point until) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_until(lock, until, [this] { return has_ended_; });
  }
  MonitorReport take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return monitor_ ? monitor_->take() : MonitorReport{};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<GpuMonitor> monitor_;
  std::vector<std::shared_ptr<Job>> waiting_;
  bool is_stopped_ = false;
  bool has_ended_ = false;
};

struct Monitors {
  std::mutex mutex;
  uint64_t last_id = 0;
  std::map<uint64_t, std::shared_ptr<Running>> running;
};

// Never destroyed: a thread may be inside NVML while the process exits.
Monitors& monitors() {
  static Monitors& instance = *new Monitors;
  return instance;
}

uint64_t add_monitor(const std::shared_ptr<Running>& running) {
  const std::lock_guard<std::mutex> lock(monitors().mutex);
  monitors().running.emplace(++monitors().last_id, running);
  return monitors().last_id;
}

// Null if the environment has no such monitor.
std::shared_ptr<Running> monitor_of(const js::Call& call) {
  const auto id = read<MonitorId>({call.env, call[0]});
  const std::lock_guard<std::mutex> lock(monitors().mutex);
  const auto found = monitors().running.find(id.monitor);
  if (found == monitors().running.end() || found->second->owner != environment_of(call.env).get()) return nullptr;
  return found->second;
}

void remove_monitor(uint64_t id) {
  const std::lock_guard<std::mutex> lock(monitors().mutex);
  monitors().running.erase(id);
}

// Loading and starting NVML takes up to seconds, so the monitor's thread does it.
void begin_monitor(const std::shared_ptr<Running>& running, uint64_t id, const MonitorRequest& request,
                   const std::shared_ptr<Job>& job) {
  try {
    const NvmlApi& nvml = Nvml::load(request.simulated_driver).api;
    const abi::nvmlDevice_t device = monitored_device(nvml, request.uuid);
    running->started(std::make_unique<GpuMonitor>(nvml, device, static_cast<int64_t>(request.interval_ns)));
  } catch (...) {
    running->ended();
    remove_monitor(id);
    job->fail(std::current_exception());
    return;
  }
  job->finish([id] { return result_of(MonitorId{id}); });
  running->run();
  running->ended();
}

js::Value start_monitor(const js::Call& call) {
  const auto request = read<MonitorRequest>({call.env, call[0]});
  return promise(call.env, [&](const std::shared_ptr<Job>& job) {
    const auto running = std::make_shared<Running>(environment_of(call.env).get());
    const uint64_t id = add_monitor(running);
    if (start_thread(Processors::kProcesses, [=] { begin_monitor(running, id, request, job); })) return;
    running->ended();
    remove_monitor(id);
    throw Failure(FailureKind::kNoThread,
                  "The monitor's thread could not be started: raise the limit of processes "
                  "(ulimit -u) or the container's of PIDs.");
  });
}

js::Value stop_monitor(const js::Call& call) {
  const auto running = monitor_of(call);
  return promise(call.env, [&](const std::shared_ptr<Job>& job) {
    if (!running) throw Failure(FailureKind::kAborted, "there is no such monitor");
    running->stop();
    running->when_ended(job);
  });
}

js::Value take_samples(const js::Call& call) {
  const auto running = monitor_of(call);
  return to_js(call.env, running ? running->take() : MonitorReport{});
}

js::Value drop_monitor(const js::Call& call) {
  if (const auto running = monitor_of(call)) {
    running->stop();
    remove_monitor(read<MonitorId>({call.env, call[0]}).monitor);
  }
  return js::undefined(call.env);
}

// A function of a monitor of the caller's own.
template <class Result>
Function of_monitor(const char* name, js::Value (*call)(const js::Call&), Result result) {
  return {name, call, described([result](auto& types) {
            return "(request: " + type_of<MonitorId>(types) + "): " + result(types);
          })};
}

std::vector<ListedGpu> monitorable(const Target& target) { return listed_gpus(Nvml::load(target.simulated_driver)); }

const Topic gpu_monitor_topic{
    "Monitors of GPUs",
    {without_session("listGpus", monitorable).says("Lists the GPUs that NVML reports, without any CUDA call."),
     Function{"startMonitor", start_monitor, described([](auto& types) {
                return "(request: " + type_of<MonitorRequest>(types) + "): Promise<" + type_of<MonitorId>(types) + ">";
              })}
         .says(
             "Starts a thread that samples a GPU at an interval, without any CUDA call. Resolves when it has started."),
     of_monitor("takeSamples", take_samples, [](auto& types) { return type_of<MonitorReport>(types); })
         .says("Samples since the last call."),
     of_monitor("stopMonitor", stop_monitor, [](auto&) { return std::string("Promise<void>"); })
         .says("Stops sampling. Resolves when it has stopped; its samples can still be taken."),
     of_monitor("dropMonitor", drop_monitor, [](auto&) {
       return std::string("void");
     }).says("Stops a monitor and discards its samples.")}};

}  // namespace

void stop_monitors_of(const Environment* owner) {
  // A call into a lost device may never return; the process must still be able to exit.
  constexpr std::chrono::seconds kPatience{10};
  std::vector<std::shared_ptr<Running>> own;
  {
    const std::lock_guard<std::mutex> lock(monitors().mutex);
    for (auto it = monitors().running.begin(); it != monitors().running.end();) {
      const bool is_own = it->second->owner == owner;
      if (is_own) own.push_back(it->second);
      it = is_own ? monitors().running.erase(it) : std::next(it);
    }
  }
  const auto until = std::chrono::system_clock::now() + kPatience;
  for (const auto& running : own) running->stop();
  for (const auto& running : own) running->wait_for_end(until);
}

}  // namespace gvb
