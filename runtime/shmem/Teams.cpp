// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Teams: their numbers, which all members agree on, their members, and the barrier.

#include "runtime/shmem/Report.h"
#include "runtime/shmem/World.h"

#include <algorithm>
#include <cstring>

namespace piton::shmem {

TeamRecord *World::team(int number) const {
  return number >= 0 && number < kMaxTeams ? state.teams[number] : nullptr;
}

static std::string number(int64_t value) { return std::to_string(value); }

/// How many barriers this PE has passed in a team.
static int32_t *counterOf(const DeviceState &state, int team) {
  return reinterpret_cast<int32_t *>(state.syncCounter +
                                     static_cast<uint64_t>(team) * kSyncSlotBytes);
}

int World::splitStrided(const char *call, int parent, int start, int stride, int size, int &out) {
  out = kTeamInvalid;
  const TeamRecord *from = team(parent);
  if (!from)
    return report(ACLSHMEM_INVALID_PARAM,
                  std::string(call) + ": this PE has no team " + number(parent));
  if (start < 0 || start >= from->size || stride < 1 || size < 1 || size > from->size ||
      start + static_cast<int64_t>(size - 1) * stride >= from->size)
    return report(ACLSHMEM_INVALID_PARAM,
                  std::string(call) + ": start " + number(start) + ", stride " + number(stride) +
                      ", size " + number(size) + " do not stay within the " + number(from->size) +
                      " PEs of team " + number(parent));
  std::vector<std::vector<int>> lists(1);
  for (int i = 0; i < size; ++i)
    lists[0].push_back(from->toWorld[start + i * stride]);
  std::vector<int> mine;
  int code = makeTeams(call, parent, lists, mine);
  if (!code && !mine.empty())
    out = mine[0];
  return code;
}

int World::split2d(const char *call, int parent, int rowLength, int &row, int &column) {
  row = column = kTeamInvalid;
  const TeamRecord *from = team(parent);
  if (!from || rowLength <= 0)
    return report(ACLSHMEM_INVALID_PARAM,
                  std::string(call) +
                      (from ? ": x_range is " + number(rowLength) + ", it must be 1 or more"
                            : ": this PE has no team " + number(parent)));
  int width = std::min(rowLength, from->size);
  int rows = (from->size + width - 1) / width;
  std::vector<std::vector<int>> lists(static_cast<size_t>(rows + width));
  for (int i = 0; i < from->size; ++i) {
    lists[static_cast<size_t>(i / width)].push_back(from->toWorld[i]);
    lists[static_cast<size_t>(rows + i % width)].push_back(from->toWorld[i]);
  }
  std::vector<int> mine;
  if (int code = makeTeams(call, parent, lists, mine))
    return code;
  row = mine[0];
  column = mine[1];
  return ACLSHMEM_SUCCESS;
}

/// Makes the listed teams, together with all members of the parent; `mine` are those that this PE
/// is in, in the order of the lists.
int World::makeTeams(const char *call, int parent, const std::vector<std::vector<int>> &lists,
                     std::vector<int> &mine) {
  std::lock_guard lock(teamMutex);
  Writer check;
  check.value(static_cast<uint32_t>(lists.size()));
  std::string what = std::string(call) + "(team " + number(parent) + ":";
  for (const std::vector<int> &list : lists) {
    check.value(static_cast<uint32_t>(list.size()));
    for (int pe : list)
      check.value<int32_t>(pe);
    what += " " + listPes(list);
  }
  std::vector<std::string> results;
  if (int code = collect(parent, what + ")", check.out, {}, results, CallKind::Split))
    return code;
  Reader numbers(results[0]);
  for (const std::vector<int> &list : lists) {
    int id = numbers.value<int32_t>();
    auto at = std::find(list.begin(), list.end(), pe());
    if (at == list.end())
      continue;
    auto record = std::make_unique<TeamRecord>();
    record->myPe = static_cast<int>(at - list.begin());
    record->start = list[0];
    record->stride = list.size() > 1 ? list[1] - list[0] : 1;
    record->size = static_cast<int32_t>(list.size());
    record->index = id;
    std::fill_n(record->fromWorld, kMaxPes, -1);
    for (size_t i = 0; i < list.size(); ++i) {
      record->toWorld[i] = list[i];
      record->fromWorld[list[i]] = static_cast<int32_t>(i);
    }
    // The number may have been another team's. Nobody looks at the slots before the barrier below.
    std::memset(reinterpret_cast<void *>(state.syncPool + syncSlotOffset(id, 0)), 0,
                kSyncTeamBytes);
    std::memset(counterOf(state, id), 0, kSyncSlotBytes);
    state.teams[id] = record.get();
    teams[static_cast<size_t>(id)] = std::move(record);
    mine.push_back(id);
  }
  for (int id : mine)
    if (int code = controlBarrier(id, call))
      return code;
  return ACLSHMEM_SUCCESS;
}

int World::destroyTeam(const char *call, int id) {
  std::lock_guard lock(teamMutex);
  if (id == kTeamWorld)
    return report(ACLSHMEM_INVALID_PARAM,
                  std::string(call) + ": the team of all PEs cannot be destroyed");
  if (!team(id))
    return report(ACLSHMEM_INVALID_PARAM,
                  std::string(call) + ": this PE has no team " + number(id));
  state.teams[id] = nullptr;
  teams[static_cast<size_t>(id)].reset();
  client->destroyTeam(id);
  return ACLSHMEM_SUCCESS;
}

int World::translatePe(int from, int pe, int to) const {
  const TeamRecord *source = team(from), *target = team(to);
  if (!source || !target || pe < 0 || pe >= source->size)
    return -1;
  return target->fromWorld[source->toWorld[pe]];
}

//===-- Barrier -----------------------------------------------------------------------------===//

int World::barrier(const char *call, int id) {
  TeamRecord *record = team(id);
  if (!record)
    return report(ACLSHMEM_INVALID_PARAM,
                  std::string(call) + ": this PE has no team " + number(id));
  // Threads of one PE would count as one arrival, and leave with each other's.
  std::lock_guard lock(barriers[static_cast<size_t>(id)]);
  if (isLost())
    return checkAlive(call);
  if (int code = quiet(call))
    return code;
  for (int i = 0; i < record->size; ++i)
    if (!(state.transports[record->toWorld[i]] & kTransportMte))
      return crossBarrier(call, *record);
  return pullBarrier(call, *record);
}

/// Between hosts nobody can look at another's flag, so it is sent: in round r to the member 2^r
/// further, until all have heard of all. The slots are indexed by round, so any team size fits.
int World::crossBarrier(const char *call, TeamRecord &record) {
  int32_t *counter = counterOf(state, record.index);
  auto count = static_cast<int32_t>(static_cast<uint32_t>(*counter) + 1);
  uint64_t slot = 1;
  for (int distance = 1; distance < record.size; distance *= 2, ++slot) {
    auto *mine = reinterpret_cast<int32_t *>(state.syncPool + syncSlotOffset(record.index, slot));
    int to = record.toWorld[(record.myPe + distance) % record.size];
    Transfer slotThere;
    place(deviceHeap, mine, sizeof(*mine), to, slotThere);
    if (int code = checkPe(call, to)) // or the job is lost
      return code;
    if (int code = sendSignal(call, slotThere, count, kSignalSet))
      return code;
    auto ready = [=] { return barrierPassed(__atomic_load_n(mine, __ATOMIC_ACQUIRE), count); };
    WaitTarget target{.kind = WaitKind::Signal,
                      .call = call,
                      .pe = pe(),
                      .team = record.index,
                      .word = mine,
                      .wanted = count};
    if (int code = waitUntil(*this, spins, target, ready))
      return code;
  }
  // The pull barrier's flag keeps pace, as both kinds share the counter.
  __atomic_store_n(reinterpret_cast<int32_t *>(state.syncPool + syncSlotOffset(record.index, 0)),
                   count, __ATOMIC_RELEASE);
  *counter = count;
  return ACLSHMEM_SUCCESS;
}

/// Everyone writes its own flag only and reads those of the others. A flag that is one ahead
/// belongs to a PE that has passed this barrier and entered the next.
int World::pullBarrier(const char *call, TeamRecord &record) {
  int32_t *counter = counterOf(state, record.index);
  uint64_t slot =
      state.syncPool + syncSlotOffset(record.index, 0) - reinterpret_cast<uint64_t>(state.heapBase);
  auto flagOf = [&](int pe) {
    return reinterpret_cast<uint32_t *>(static_cast<char *>(state.p2pHeapBase[pe]) + slot);
  };
  auto count = static_cast<int32_t>(static_cast<uint32_t>(*counter) + 1);
  uint32_t *mine = flagOf(pe());
  __atomic_exchange_n(mine, static_cast<uint32_t>(count), __ATOMIC_SEQ_CST);
  if (__atomic_load_n(mine + 1, __ATOMIC_RELAXED))
    wakeAll(mine);
  for (int i = 1; i < record.size; ++i) // their kernels sleep on their own bells
    ringIfAsked(boardOf(record.toWorld[(record.myPe + i) % record.size]));
  for (int i = 1; i < record.size; ++i) {
    int other = record.toWorld[(record.myPe + i) % record.size];
    const uint32_t *flag = flagOf(other);
    auto ready = [=] {
      return barrierPassed(static_cast<int32_t>(__atomic_load_n(flag, __ATOMIC_ACQUIRE)), count);
    };
    if (ready())
      continue;
    WaitTarget target{.kind = WaitKind::Barrier,
                      .call = call,
                      .pe = other,
                      .team = record.index,
                      .word = flag,
                      .wanted = count};
    if (int code = waitUntil(*this, spins, target, ready))
      return code;
  }
  *counter = count;
  return ACLSHMEM_SUCCESS;
}

} // namespace piton::shmem
