#include <semaphore.h>

#include <algorithm>
#include <ctime>

#include "sim/clock.h"
#include "sim/thread.h"
#include "sim/work_queue.h"

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

// False when there was nothing to publish.
bool publishOnce() {
  std::vector<std::shared_ptr<WorkQueue>> queues;
  {
    std::lock_guard<std::mutex> lock(publisher().mutex);
    queues = publisher().queues;
  }
  for (const auto& queue : queues) queue->tryDrain(rawNow());
  std::lock_guard<std::mutex> lock(publisher().mutex);
  auto& all = publisher().queues;
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto& queue) { return queue->idle(); }), all.end());
  return !queues.empty();
}

bool fallAsleep() {
  std::lock_guard<std::mutex> lock(publisher().mutex);
  publisher().asleep = publisher().queues.empty();
  return publisher().asleep;
}

// Waking a thread costs the launching one a system call, so this one naps through a burst of launches.
void* publishForever(void*) {
  for (int64_t lastWork = rawNow();;) {
    nanosleep(&kNap, nullptr);
    if (publishOnce()) lastWork = rawNow();
    if (rawNow() - lastWork < kStayAwake || !fallAsleep()) continue;
    while (sem_wait(&publisher().wake) != 0) {
    }
    lastWork = rawNow();
  }
  return nullptr;
}

}  // namespace

void publish(const std::shared_ptr<WorkQueue>& queue) {
  Publisher& all = publisher();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (!all.started) {
    sem_init(&all.wake, 0, 0);
    all.started = startThread(publishForever, nullptr);
  }
  if (std::find(all.queues.begin(), all.queues.end(), queue) == all.queues.end()) all.queues.push_back(queue);
  if (!all.asleep) return;
  all.asleep = false;
  sem_post(&all.wake);
}

}  // namespace gvb::sim
