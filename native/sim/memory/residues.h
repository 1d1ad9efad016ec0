// What this process's memory holds of tags, by address: card/residue.h does the accounts.
#pragma once

#include "sim/card/residue.h"
#include "sim/memory/address_space.h"

namespace gvb::sim {

void note_written(uint64_t address, uint64_t bytes, const Mark& mark);
void note_copied(uint64_t from, uint64_t to, uint64_t bytes);
FoundResidue residue_at(uint64_t address, uint64_t bytes, const Mark& mark);
// Of the card where `counters` are.
void note_written_on_chip(Medium medium, uint64_t counters, uint64_t bytes, const Mark& mark);
FoundResidue residue_on_chip(Medium medium, uint64_t counters, uint64_t bytes, const Mark& mark);

// A block was handed out, or is given back.
void begin_residue(const Block& block);
void end_residue(const Block& block);

bool leaks(Leak what);

}  // namespace gvb::sim
