// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PE's way into the job and out of it, and the calls that all PEs make together.

#include "runtime/shmem/World.h"

#include "runtime/Executor.h"
#include "runtime/shmem/HostLink.h"
#include "runtime/shmem/Report.h"
#include "runtime/transports/mte/Mte.h"
#include "runtime/transports/roce/Roce.h"
#include "runtime/transports/sdma/Sdma.h"
#include "runtime/transports/udma/Udma.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace piton::shmem {

namespace {

/// PEs start about at the same time: one that is not there when another dies in init is about to
/// come, and would otherwise look for PE 0 until its own time limit.
constexpr std::chrono::milliseconds kPatienceForLate{1000};

/// Size of the user's heap plus the library's words, in whole pages.
uint64_t withExtra(uint64_t bytes) { return (bytes + kHeapExtraBytes + 4095) & ~uint64_t(4095); }

/// For tests and measurements: with the ROCE engine also PEs of this host are reached over it.
bool forcesRoce() {
  const char *text = std::getenv("PITON_SHMEM_FORCE_ROCE");
  return text && std::string_view(text) == "1";
}

} // namespace

int World::start(WorldOptions options, DeviceState &state, std::unique_ptr<World> &out) {
  std::unique_ptr<World> world(new World(std::move(options), state));
  if (int code = world->join()) {
    if (world->client) {
      if (!world->client->failed()) // the others may wait for this PE already
        world->client->failAll("PE " + std::to_string(world->pe()) + " (pid " +
                               std::to_string(getpid()) + " on " + hostName() +
                               ") failed in aclshmemx_init_attr: " + piton_last_error());
      world->client->leave();
      world->client->stop();
    }
    world->clearState();
    world->client.reset();
    if (world->options.onLoss)
      world->options.onLoss(); // often because a PE has died
    if (world->server)
      world->server->stop(kPatienceForLate);
    return code;
  }
  out = std::move(world);
  return ACLSHMEM_SUCCESS;
}

World::~World() {
  if (client)
    client->stop();
  client.reset();
  server.reset();
}

int World::join() {
  if (int code = connect())
    return code;
  if (int code = meet())
    return code;
  if (int code = makeHeap(deviceHeap, withExtra(options.heapBytes), "aclshmemx_init_attr"))
    return code;
  if (int code = placeInternals())
    return code;
  fillState();
  if (int code = chooseEngines())
    return code;
  state.created = 1;
  if (int code = controlBarrier(ACLSHMEM_TEAM_WORLD, "aclshmemx_init_attr"))
    return code;
  __atomic_store_n(&state.initialized, 1, __ATOMIC_RELEASE);
  watching = pe() == localPes[0];
  return ACLSHMEM_SUCCESS;
}

int World::connect() {
  if (pe() == 0) {
    Fd listener = std::move(options.listener);
    std::string error;
    if (!listener)
      listener = listenAt(options.server, error);
    if (!listener)
      return report(ACLSHMEM_BOOTSTRAP_ERROR, error);
    server = ControlServer::start(std::move(listener), {.world = peCount(),
                                                        .session = options.session,
                                                        .initTimeout = options.initTimeout,
                                                        .tls = options.tls,
                                                        .makeChannel = options.serveChannel,
                                                        .terminated = options.terminated});
    if (!server)
      return lastStatus();
  }
  client = std::make_unique<ControlClient>(ControlClient::Options{
      .server = options.server,
      .serverText = options.serverText,
      .pe = pe(),
      .world = peCount(),
      .session = options.session,
      .timeout = options.initTimeout,
      .tls = options.tls,
      .makeChannel = options.makeChannel,
      .onFailure = [this](int lost, const std::string &text) { return loseJob(lost, text); },
      .terminated = options.terminated,
      .onTick = [this] { tick(); },
      .showWait = [this](int team, uint64_t sequence,
                         const char *what) { return showCollective(team, sequence, what); }});
  return client->connect();
}

/// Everybody learns where everybody is, and that all want the same.
int World::meet() {
  std::string check = Writer().value(options.heapBytes).out;
  std::vector<std::string> results;
  if (int code =
          collect(ACLSHMEM_TEAM_WORLD,
                  "aclshmemx_init_attr(local_mem_size = " + std::to_string(options.heapBytes) + ")",
                  check, Writer().value(options.engines).text(hostIdentity()).out, results))
    return code;
  forceRoce = forcesRoce();
  for (const std::string &result : results) {
    Reader reader(result);
    auto wanted = reader.value<uint32_t>();
    hosts.emplace_back(reader.text());
    roceNeeded |= hosts.back() != hosts[0] || (forceRoce && (wanted & ACLSHMEM_DATA_OP_ROCE));
  }
  for (int other = 0; other < peCount(); ++other)
    if (hosts[static_cast<size_t>(other)] == hosts[static_cast<size_t>(pe())])
      localPes.push_back(other);
  return ACLSHMEM_SUCCESS;
}

/// The engine to other hosts, connected with all PEs.
int World::openRoce() {
  RoceSetup setup{.pe = pe(),
                  .peCount = peCount(),
                  .heapBase = deviceHeap.base,
                  .heapBytes = deviceHeap.bytes,
                  .report = [](int code, const char *text) { return report(code, text); },
                  .arrived = [](void *self) { static_cast<World *>(self)->networkMoved(); },
                  .lost = [](void *self) { return static_cast<World *>(self)->isLost(); },
                  .serve =
                      [](void (*body)(void *), void *data) {
                        InLibrary forever;
                        body(data);
                      },
                  .context = this};
  auto made = makeRoceTransport(setup);
  std::string why = made ? "" : piton_last_error();
  // Who cannot says so to all: an empty address.
  std::vector<std::string> addresses;
  if (int code = collect(ACLSHMEM_TEAM_WORLD, "aclshmemx_init_attr", "roce",
                         made ? made->address() : std::string(), addresses))
    return code;
  if (!made)
    return report(ACLSHMEM_DL_FUNC_FAILED, why);
  for (int other = 0; other < peCount(); ++other)
    if (addresses[static_cast<size_t>(other)].empty())
      return report(ACLSHMEM_BOOTSTRAP_ERROR, "PE " + std::to_string(other) +
                                                  " cannot start its ROCE engine; its message "
                                                  "says why");
  if (int code = made->connect(addresses))
    return code;
  roce = made.get();
  state.remote = &roce->remoteEngine();
  transports.push_back(std::move(made));
  return ACLSHMEM_SUCCESS;
}

/// The lowest PE of each host makes the memory and hands it to the others.
int World::makeHeap(SymmetricHeap &heap, uint64_t bytes, const std::string &what) {
  HeapLayout layout{peCount(), bytes, localPes};
  bool leads = pe() == localPes[0];
  HostLinkServer link;
  Fd file;
  if (leads && localPes.size() > 1 && !link.open())
    return lastStatus();
  if (leads && !(file = HeapSpace::createFile(layout)))
    return lastStatus();
  std::vector<std::string> tickets;
  if (int code = collect(ACLSHMEM_TEAM_WORLD, what, "tickets", link.ticket(), tickets))
    return code;
  Clock::time_point deadline = Clock::now() + options.createTimeout;
  uint64_t epoch = armInterrupts();
  auto lost = [this, epoch] { return client->failed() || interruptEpoch() != epoch; };
  int code = ACLSHMEM_SUCCESS;
  if (!leads)
    code = fetchFile(tickets[static_cast<size_t>(localPes[0])], pe(), deadline, lost, file);
  else if (localPes.size() > 1)
    code = link.serve(file.get(), {localPes.begin() + 1, localPes.end()}, deadline, lost);
  if (code && interruptEpoch() != epoch)
    return report(ACLSHMEM_INNER_ERROR, what + ": interrupted");
  if (code)
    return awaitLoss(what, code);
  heap.space = HeapSpace::map(std::move(file), layout);
  if (!heap.space)
    return lastStatus();
  heap.bytes = heap.userBytes = bytes;
  heap.base = heap.space->heap(pe());
  heap.allocator = std::make_unique<HeapAllocator>(bytes);
  heap.bases.resize(static_cast<size_t>(peCount()));
  for (int other = 0; other < peCount(); ++other)
    heap.bases[static_cast<size_t>(other)] = heap.space->heap(other);
  return ACLSHMEM_SUCCESS;
}

/// The library's own words lie at the heap's end, so that the user's memory starts at offset 0.
int World::placeInternals() {
  HeapAllocator &allocator = *deviceHeap.allocator;
  auto signal = allocator.allocateAtEnd(512, 512);
  auto counter = allocator.allocateAtEnd(kSyncCounterBytes, 512);
  auto pool = allocator.allocateAtEnd(kSyncPoolBytes, 512);
  if (!signal || !counter || !pool)
    return report(ACLSHMEM_MALLOC_FAILED, "the heap has no room for the library's own words");
  internalBytes = allocator.usedBytes();
  deviceHeap.userBytes = *pool; // the lowest of them
  auto address = [&](uint64_t offset) {
    return reinterpret_cast<uint64_t>(deviceHeap.base) + offset;
  };
  state.syncPool = address(*pool);
  state.syncCounter = address(*counter);
  state.signalAddress = address(*signal);
  constexpr uint64_t coreBytes = kCoreSyncPoolBytes + kCoreSyncCounterBytes + kSyncSlotBytes;
  coreSync = std::make_unique<char[]>(coreBytes);
  uint64_t first =
      (reinterpret_cast<uint64_t>(coreSync.get()) + kSyncSlotBytes - 1) & ~(kSyncSlotBytes - 1);
  state.coreSyncPool = first;
  state.coreSyncCounter = first + kCoreSyncPoolBytes;
  return ACLSHMEM_SUCCESS;
}

void World::fillState() {
  for (size_t i = 0; i < localPes.size(); ++i)
    boards[static_cast<size_t>(localPes[i])] = deviceHeap.space->board(static_cast<int>(i));
  PeBoard &mine = board();
  mine.pid = getpid();
  mine.engines = options.engines;
  mine.heapBytes = options.heapBytes;
  mine.pe = pe();
  mine.peCount = peCount();
  mine.localCount = static_cast<int32_t>(localPes.size());
  mine.hostWait.pe = mine.kernelWait.pe = -1;
  __atomic_store_n(&mine.state, static_cast<uint32_t>(PeState::Running), __ATOMIC_RELEASE);

  state.version = (1 << 16) | static_cast<int32_t>(sizeof(DeviceState));
  state.myPe = pe();
  state.peCount = peCount();
  state.heapBase = deviceHeap.base;
  state.heapBytes = options.heapBytes + kHeapExtraBytes;
  state.p2pHeapBase = state.rdmaHeapBase = state.sdmaHeapBase = deviceHeap.bases.data();
  state.heapSpan = deviceHeap.space->layout.span();
  state.heapFirst = reinterpret_cast<uint64_t>(deviceHeap.space->first());
  state.boards = boards.data();
  state.failedPe = -1;
  for (int other : localPes)
    state.transports[other] = kTransportMte;
  state.mteConfig = {0, 16 * 1024, 0};
  state.udmaConfig = {189 * 1024, 128, 0};
  state.rdmaConfig = {190 * 1024, 128, 0};
  state.sdmaConfig = {191 * 1024, 64, 0};

  startProfile();
  spins = spinRounds(static_cast<int>(localPes.size()));
  auto record = std::make_unique<TeamRecord>();
  record->myPe = pe();
  record->start = 0;
  record->stride = 1;
  record->size = peCount();
  record->index = kTeamWorld;
  std::fill_n(record->fromWorld, kMaxPes, -1);
  for (int other = 0; other < peCount(); ++other)
    record->toWorld[other] = record->fromWorld[other] = other;
  state.teams[kTeamWorld] = record.get();
  teams.resize(kMaxTeams);
  teams[0] = std::move(record);
}

/// SDMA, then UDMA, then MTE: the first one that reaches the PE.
int World::chooseEngines() {
  transports.push_back(std::make_unique<MteTransport>());
  engines.assign(static_cast<size_t>(peCount()), transports[0].get());
  auto written = [this](const void *address) { ringDoorbell(boardOf(ownerOf(address))); };
  Transport *sdma = nullptr, *udma = nullptr;
  if (options.engines & ACLSHMEM_DATA_OP_SDMA) {
    transports.push_back(SdmaTransport::create(state, written, [this](const std::string &text) {
      failJob("PE " + std::to_string(pe()) + " (pid " + std::to_string(getpid()) + " on " +
              hostName() + ") gave an engine bad memory: " + text);
    }));
    if (!(sdma = transports.back().get()))
      return lastStatus();
  }
  if (options.engines & ACLSHMEM_DATA_OP_UDMA) {
    transports.push_back(UdmaTransport::create(state, written));
    if (!(udma = transports.back().get()))
      return lastStatus();
  }
  if (roceNeeded) {
    if (int code = openRoce())
      return code;
    for (int other = 0; other < peCount(); ++other)
      if (!boardOf(other) || (forceRoce && other != pe())) {
        state.transports[other] = kTransportRoce;
        engines[static_cast<size_t>(other)] = roce;
      }
    if (forceRoce)
      return ACLSHMEM_SUCCESS;
  }
  for (int other : localPes) {
    if (options.engines & ACLSHMEM_DATA_OP_ROCE)
      state.transports[other] |= kTransportRoce;
    state.transports[other] |= (sdma ? kTransportSdma : 0) | (udma ? kTransportUdma : 0);
    if (sdma)
      engines[static_cast<size_t>(other)] = sdma;
    else if (udma && other != pe()) // a queue to oneself does not exist
      engines[static_cast<size_t>(other)] = udma;
  }
  return ACLSHMEM_SUCCESS;
}

void World::clearState() {
  transports.clear(); // their engines use the state, and the client
  roce = nullptr;

  if (boards[static_cast<size_t>(pe())])
    __atomic_store_n(&board().state, static_cast<uint32_t>(PeState::Left), __ATOMIC_RELEASE);
  __atomic_store_n(&state.initialized, 0, __ATOMIC_RELEASE);
  std::memset(static_cast<void *>(&state), 0, sizeof(state));
  state.failedPe = -1;
}

int World::finish() {
  int code = ACLSHMEM_SUCCESS;
  bool lost = client->failed();
  if (!lost && (code = quiet("aclshmem_finalize")) == ACLSHMEM_SUCCESS)
    code = controlBarrier(ACLSHMEM_TEAM_WORLD, "aclshmem_finalize", CallKind::Final);
  client->leave();
  client->stop(); // its thread uses the state
  clearState();
  client.reset();
  if (server)
    server->stop(std::chrono::milliseconds(code || lost ? 500 : 5000));
  server.reset();
  return code;
}

//===-- Everybody ---------------------------------------------------------------------------===//

int World::collect(int team, const std::string &what, const std::string &check,
                   std::string_view data, std::vector<std::string> &results, CallKind kind) {
  if (int code = checkAlive(what))
    return code;
  // The name up to its arguments is part of the check: different calls never match.
  std::string full = Writer().text(std::string_view(what).substr(0, what.find('('))).out + check;
  return client->call(team, kind, what, full, data, options.callTimeout, results);
}

int World::controlBarrier(int team, const std::string &what, CallKind kind) {
  std::vector<std::string> ignored;
  return collect(team, what, {}, {}, ignored, kind);
}

int World::checkAlive(const std::string &call) {
  if (__atomic_load_n(&state.failure, __ATOMIC_ACQUIRE) == 0)
    return ACLSHMEM_SUCCESS;
  std::lock_guard lock(failureMutex);
  return report(ACLSHMEM_INNER_ERROR, call + ": " + failureText);
}

int World::awaitLoss(const std::string &call, int code) {
  for (auto end = Clock::now() + std::chrono::seconds(3); !isLost() && Clock::now() < end;)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return isLost() ? checkAlive(call) : code;
}

std::string World::loseJob(int lostPe, const std::string &text) {
  {
    std::lock_guard lock(failureMutex);
    if (!failureText.empty())
      return failureText;
    failureText = text + describeLast(lostPe);
    state.failedPe = lostPe;
    state.failureText = failureText.c_str();
  }
  if (options.onLoss)
    options.onLoss();
  // At once, whatever this PE does at the moment: its launcher may be about to end it. And before
  // its calls fail, as it may end by itself then.
  log(LogLevel::Error, "PE " + std::to_string(pe()) + ": the job is lost: " + failureText);
  __atomic_store_n(&state.failure, static_cast<uint32_t>(PITON_ERROR_SYSTEM), __ATOMIC_RELEASE);
  if (__atomic_load_n(&state.initialized, __ATOMIC_ACQUIRE))
    ringDoorbell(&board());
  return failureText;
}

void World::abandonInChild() {
  client->abandonInChild();
  if (server)
    server->abandonInChild();
  __atomic_store_n(&state.initialized, 0, __ATOMIC_RELEASE);
}

//===-- Memory ------------------------------------------------------------------------------===//

/// Collective.
int World::makeHostHeap() {
  const char *call = "aclshmemx_malloc(HOST_SIDE)";
  if (int code = makeHeap(hostHeap, withExtra(options.heapBytes), call))
    return code;
  if (!roceNeeded)
    return ACLSHMEM_SUCCESS;
  std::vector<std::string> addresses;
  if (int code = collect(ACLSHMEM_TEAM_WORLD, call, "roce",
                         roce->addHostHeap(hostHeap.base, hostHeap.bytes), addresses))
    return code;
  return roce->connectHostHeaps(addresses);
}

SymmetricHeap *World::heapFor(aclshmem_mem_type_t type) {
  if (type == DEVICE_SIDE)
    return &deviceHeap;
  if (!hostHeap.space && makeHostHeap() != ACLSHMEM_SUCCESS) {
    hostHeap = {};
    return nullptr;
  }
  state.hostHeapBase = hostHeap.base;
  state.p2pHostHeapBase = state.rdmaHostHeapBase = state.sdmaHostHeapBase = hostHeap.bases.data();
  return &hostHeap;
}

const SymmetricHeap *World::heapOf(const void *pointer, uint64_t size) const {
  if (deviceHeap.contains(pointer, size))
    return &deviceHeap;
  return hostHeap.contains(pointer, size) ? &hostHeap : nullptr;
}

void *World::allocate(const std::string &call, uint64_t bytes, uint64_t alignment,
                      aclshmem_mem_type_t type, bool cleared) {
  std::lock_guard lock(heapMutex);
  if (checkAlive(call))
    return nullptr;
  SymmetricHeap *heap = heapFor(type);
  if (!heap)
    return nullptr;
  bool badAlignment = alignment == 0 || (alignment & (alignment - 1)) || alignment > kHeapAlignment;
  auto offset = badAlignment ? std::nullopt : heap->allocator->allocate(bytes, alignment);
  // Before anybody can know of the block: a peer may write to it as soon as the call is joined.
  if (offset && cleared)
    std::memset(heap->base + *offset, 0, bytes);
  // Also a call that must fail is made together, so that it fails everywhere or is found to differ.
  std::string check = Writer().value(bytes).value(alignment).value(offset.value_or(~0ull)).out;
  std::vector<std::string> ignored;
  if (collect(ACLSHMEM_TEAM_WORLD, call, check, {}, ignored)) {
    if (offset)
      heap->allocator->free(*offset);
    return nullptr;
  }
  if (offset) {
    publishUsed();
    return heap->base + *offset;
  }
  if (badAlignment)
    report(ACLSHMEM_INVALID_VALUE, call + ": the alignment is no power of two up to 1 GiB");
  else if (bytes == 0)
    report(ACLSHMEM_INVALID_VALUE, call + ": the size is 0");
  else
    report(ACLSHMEM_MALLOC_FAILED,
           call + ": the symmetric heap has no free block of that size; the largest has " +
               std::to_string(heap->allocator->largestFree()) + " bytes, local_mem_size is " +
               std::to_string(options.heapBytes));
  return nullptr;
}

int World::free(const std::string &call, void *pointer, aclshmem_mem_type_t type) {
  std::lock_guard lock(heapMutex);
  if (int code = checkAlive(call))
    return code;
  SymmetricHeap &heap = type == DEVICE_SIDE ? deviceHeap : hostHeap;
  if (!heap.contains(pointer))
    return report(ACLSHMEM_INVALID_PARAM,
                  call + ": the pointer does not lie in the symmetric heap");
  uint64_t offset = heap.offsetOf(pointer), size = heap.allocator->sizeAt(offset);
  if (size == 0)
    return report(ACLSHMEM_INVALID_PARAM,
                  call + ": offset " + std::to_string(offset) +
                      " of the heap is not the start of an allocation; was it freed before?");
  std::string what =
      call + "(offset " + std::to_string(offset) + ", " + std::to_string(size) + " bytes)";
  std::vector<std::string> ignored;
  if (int code = collect(ACLSHMEM_TEAM_WORLD, what, Writer().value(offset).out, {}, ignored))
    return code;
  heap.allocator->free(offset);
  publishUsed();
  return ACLSHMEM_SUCCESS;
}

void *World::translate(const std::string &call, void *pointer, int pe) {
  if (pe < 0 || pe >= peCount()) {
    report(ACLSHMEM_INVALID_PARAM, call + ": PE " + std::to_string(pe) + " is not one of 0 to " +
                                       std::to_string(peCount() - 1));
    return nullptr;
  }
  const SymmetricHeap *heap = heapOf(pointer);
  if (!heap) {
    report(ACLSHMEM_INVALID_PARAM, call + ": the pointer does not lie in the symmetric heap");
    return nullptr;
  }
  if (!boards[static_cast<size_t>(pe)]) {
    report(ACLSHMEM_NOT_SUPPORTED,
           call + ": the heap of PE " + std::to_string(pe) +
               " is on another host; reach it with aclshmem_putmem, aclshmem_getmem or signals");
    return nullptr;
  }
  return static_cast<char *>(heap->bases[static_cast<size_t>(pe)]) + heap->offsetOf(pointer);
}

} // namespace piton::shmem
