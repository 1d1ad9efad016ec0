// Which kernels of a simulated card wait for room, each with a result computed by hand. The card has 4 multiprocessors.
#include "card_scene.h"
#include "check.h"

namespace test {
namespace {

// 8 blocks of half a multiprocessor fill all 4. The small kernel comes at 10 and waits until 100.
void a_full_card_keeps_a_small_kernel_waiting() {
  Scene scene;
  const int client = scene.client();
  scene.put(scene.lane(client), 0, 100, 8, 0.5);
  const LanePoint small = scene.put(scene.lane(client), 10, 5, 1, 0.01);
  CHECK(scene.end(small) == 105 && scene.start(small) == 100);
}

// Two of three blocks: a third of every multiprocessor is free. With 11 of 12 blocks, one of them has room.
void a_card_with_room_does_not() {
  for (const double blocks : {8.0, 11.0}) {
    Scene scene;
    const int client = scene.client();
    scene.put(scene.lane(client), 0, 100, blocks, 1.0 / 3);
    const LanePoint small = scene.put(scene.lane(client), 10, 5, 1, 0.01);
    scene.end(small);
    CHECK(scene.start(small) == 10);
  }
}

// 4 blocks of 0.6: no other of them fits beside them, but one of 0.4 does.
void a_block_must_fit_whole() {
  Scene scene;
  const int client = scene.client();
  scene.put(scene.lane(client), 0, 100, 4, 0.6);
  const LanePoint same = scene.put(scene.lane(client), 20, 5, 1, 0.6);
  const LanePoint smaller = scene.put(scene.lane(client), 10, 5, 1, 0.4);
  scene.end(same);
  CHECK(scene.start(smaller) == 10 && scene.start(same) == 100);
}

// Of those that wait, the small one of high priority starts first, the others as they came; each fills the card.
void waiting_kernels_start_by_priority_and_arrival() {
  Scene scene;
  const int client = scene.client();
  scene.put(scene.lane(client), 0, 100, 8, 0.5);
  const LanePoint late = scene.put(scene.lane(client), 20, 100, 8, 0.5);
  const LanePoint early = scene.put(scene.lane(client), 10, 100, 8, 0.5);
  const LanePoint urgent = scene.put(scene.lane(client), 30, 10, 1, 0.01, -5);
  scene.end(late);
  CHECK(scene.start(urgent) == 100 && scene.start(early) == 100 && scene.start(late) > 199);
}

// A small kernel that would fit stays behind one that does not.
void a_waiting_kernel_keeps_back_those_behind_it() {
  Scene scene;
  const int client = scene.client();
  scene.put(scene.lane(client), 0, 100, 4, 0.6);
  scene.put(scene.lane(client), 10, 100, 4, 0.6);
  const LanePoint small = scene.put(scene.lane(client), 20, 5, 1, 0.01);
  scene.end(small);
  CHECK(scene.start(small) == 100);
}

// Half of the multiprocessors are full: a second kernel of two blocks has the other half, and a third waits.
void kernels_of_few_blocks_run_beside_each_other() {
  Scene scene;
  const int client = scene.client();
  scene.put(scene.lane(client), 0, 100, 2, 1);
  const LanePoint second = scene.put(scene.lane(client), 10, 100, 2, 1);
  const LanePoint third = scene.put(scene.lane(client), 20, 5, 2, 1);
  scene.end(third);
  CHECK(scene.start(second) == 10 && scene.start(third) == 100);
}

// 40 kernels of one block of a tenth: 4 multiprocessors hold them all, and no other.
void many_small_kernels_fill_a_card() {
  Scene scene;
  const int client = scene.client();
  for (int i = 0; i < 40; ++i) scene.put(scene.lane(client), 0, 100, 1, 0.1);
  const LanePoint last = scene.put(scene.lane(client), 10, 5, 1, 0.1);
  scene.end(last);
  CHECK(scene.start(last) == 100);
}

// Half of the card is full with 4 blocks; the other half belongs to others.
void a_limited_client_has_its_own_multiprocessors() {
  Scene scene;
  const int client = scene.client(true, 0.5), other = scene.client(true, 0.5);
  scene.put(scene.lane(client), 0, 100, 4, 0.5);
  const LanePoint own = scene.put(scene.lane(client), 10, 5, 1, 0.01);
  const LanePoint others = scene.put(scene.lane(other), 10, 5, 1, 0.01);
  scene.end(own);
  CHECK(scene.start(own) == 100 && scene.start(others) == 10);
}

// Copies take no multiprocessor.
void work_without_blocks_never_waits_for_room() {
  Scene scene;
  const int client = scene.client();
  scene.put(scene.lane(client), 0, 100, 8, 0.5);
  const LanePoint copy = scene.put(scene.lane(client), 10, 5, demand_of(kCopyIn));
  CHECK(scene.end(copy) == 15);
}

}  // namespace
}  // namespace test

int main() {
  using namespace test;
  a_full_card_keeps_a_small_kernel_waiting();
  a_card_with_room_does_not();
  a_block_must_fit_whole();
  waiting_kernels_start_by_priority_and_arrival();
  a_waiting_kernel_keeps_back_those_behind_it();
  kernels_of_few_blocks_run_beside_each_other();
  many_small_kernels_fill_a_card();
  a_limited_client_has_its_own_multiprocessors();
  work_without_blocks_never_waits_for_room();
  return report("block_slots_test");
}
