#include <semaphore.h>

#include <algorithm>
#include <ctime>

#include "base/thread.h"
#include "sim/clock.h"
#include "sim/work/work_queue.h"

namespace gvb::sim {
namespace {

constexpr int64_t kStayAwake = 20000000;
constexpr timespec kNap = {0, 100000};

struct Publisher {
  std::mutex mutex;
  std::vector<std::shared_ptr<WorkQueue>> queues;
  sem_t wake;
  bool started = false;
  bool asleep = false;
};

// Never destroyed: its thread outlives main().
Publisher& publisher() {
  static Publisher& instance = *new Publisher;
  return instance;
}

// False if there was nothing to publish.
bool publish_once() {
  std::vector<std::shared_ptr<WorkQueue>> queues;
  {
    std::lock_guard<std::mutex> lock(publisher().mutex);
    queues = publisher().queues;
  }
  for (const auto& queue : queues) queue->try_run_seen(raw_now());
  std::lock_guard<std::mutex> lock(publisher().mutex);
  auto& all = publisher().queues;
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto& queue) { return !queue->seen_in_time(); }),
            all.end());
  return !queues.empty();
}

bool fall_asleep() {
  std::lock_guard<std::mutex> lock(publisher().mutex);
  publisher().asleep = publisher().queues.empty();
  return publisher().asleep;
}

// Waking this thread would cost the launching one a system call, so it naps during a burst of launches.
[[noreturn]] void publish_forever() {
  for (int64_t last_work = raw_now();;) {
    nanosleep(&kNap, nullptr);
    if (publish_once()) last_work = raw_now();
    if (raw_now() - last_work < kStayAwake || !fall_asleep()) continue;
    while (sem_wait(&publisher().wake) != 0) {
    }
    last_work = raw_now();
  }
}

}  // namespace

void publish(const std::shared_ptr<WorkQueue>& queue) {
  Publisher& all = publisher();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (!all.started) {
    sem_init(&all.wake, 0, 0);
    all.started = start_thread(Processors::kProcesses, publish_forever);
  }
  if (std::find(all.queues.begin(), all.queues.end(), queue) == all.queues.end()) all.queues.push_back(queue);
  if (!all.asleep) return;
  all.asleep = false;
  sem_post(&all.wake);
}

}  // namespace gvb::sim
