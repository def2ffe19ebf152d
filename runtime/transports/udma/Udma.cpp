// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both sides of the UDMA queues: the host as producer, and the engine.

#include "runtime/transports/udma/Udma.h"

#include "runtime/shmem/Report.h"
#include "runtime/transports/mte/Mte.h"

#include <algorithm>
#include <cstring>

namespace piton::shmem {

namespace {

constexpr uint64_t kSendBytes = uint64_t(kUdmaSendDepth) * kUdmaBlockBytes;
constexpr uint64_t kCompletionBytes = uint64_t(kUdmaCompletionDepth) * sizeof(UdmaCompletion);
constexpr uint64_t kLine = 64;

/// Old value of the word, after applying the operation.
template <typename T> uint64_t applyAtomic(UdmaOpcode opcode, T *word, const UdmaOperand &operand) {
  auto value = static_cast<T>(operand.value);
  switch (opcode) {
  case UdmaOpcode::Store:
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    return 0;
  case UdmaOpcode::Load:
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
  case UdmaOpcode::FetchAdd:
    return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
  case UdmaOpcode::Swap:
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
  default: {
    auto expected = static_cast<T>(operand.compare);
    __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
  }
  }
}

} // namespace

std::unique_ptr<UdmaTransport> UdmaTransport::create(DeviceState &state,
                                                     std::function<void(const void *)> written) {
  std::unique_ptr<UdmaTransport> self(new UdmaTransport(state));
  self->written = std::move(written);
  auto peers = static_cast<uint64_t>(state.peCount), count = 2 * peers;
  uint64_t contexts = count * (sizeof(UdmaWorkQueue) + sizeof(UdmaCompletionQueue) + 8);
  contexts = (contexts + 4095) / 4096 * 4096;
  // Per queue: ring, completions, and lines for the doorbells and the result of atomics.
  uint64_t perQueue = kSendBytes + kCompletionBytes + 4096;
  self->memoryBytes = contexts + count * perQueue;
  self->memory = static_cast<char *>(mapQueueMemory(self->memoryBytes));
  if (!self->memory) {
    report(ACLSHMEM_SMEM_ERROR, "no memory for the queues of UDMA");
    return nullptr;
  }
  UdmaQueueTable &table = self->table;
  table.send = reinterpret_cast<UdmaWorkQueue *>(self->memory);
  table.completions = reinterpret_cast<UdmaCompletionQueue *>(table.send + count);
  table.locks = reinterpret_cast<uint64_t *>(table.completions + count);
  table.count = static_cast<uint32_t>(peers);
  table.registers = &self->registers;
  for (uint64_t i = 0; i < count; ++i) {
    char *mine = self->memory + contexts + i * perQueue;
    char *lines = mine + kSendBytes + kCompletionBytes;
    auto address = [](char *at) { return reinterpret_cast<uint64_t>(at); };
    UdmaWorkQueue &send = table.send[i];
    send.number = static_cast<uint32_t>(i);
    send.blockBytes = kUdmaBlockBytes;
    send.buffer = address(mine);
    send.depth = kUdmaSendDepth;
    send.doorbellMode = UdmaDoorbellMode::Hardware;
    send.doorbell = address(lines);
    send.atomicResult = address(lines + kLine);
    UdmaCompletionQueue &queue = table.completions[i];
    queue.number = static_cast<uint32_t>(i);
    queue.entryBytes = sizeof(UdmaCompletion);
    queue.buffer = address(mine + kSendBytes);
    queue.depth = kUdmaCompletionDepth;
    queue.doorbellMode = UdmaDoorbellMode::Software;
    queue.doorbell = address(lines + 2 * kLine);
  }
  self->consumed.resize(count);
  self->mutexes = std::vector<std::mutex>(peers);
  std::string error;
  if (!self->engine.start(self->registers, [raw = self.get()] { return raw->serve(); }, error)) {
    report(ACLSHMEM_SMEM_ERROR, "UDMA: " + error);
    return nullptr;
  }
  self->publish(reinterpret_cast<uint64_t>(&table));
  return self;
}

UdmaTransport::~UdmaTransport() {
  engine.stop();
  if (state.queueInfo == reinterpret_cast<uint64_t>(&table))
    publish(0);
  unmapQueueMemory(memory, memoryBytes);
}

/// Where device code looks for the queues.
void UdmaTransport::publish(uint64_t queues) {
  state.queueInfo = queues;
  if (reinterpret_cast<uint64_t>(&state) == kDeviceStateAddress) // the process has one PE
    reinterpret_cast<DeviceMeta *>(kDeviceMetaAddress)->queueInfo = queues;
}

//===-- The engine --------------------------------------------------------------------------===//

bool UdmaTransport::serve() {
  constexpr int kBatch = 32; // a long queue does not starve the others
  bool worked = false;
  for (uint32_t i = 0; i < 2 * table.count; ++i) {
    UdmaWorkQueue &send = table.send[i];
    UdmaCompletionQueue &queue = table.completions[i];
    uint32_t head = __atomic_load_n(reinterpret_cast<uint32_t *>(send.doorbell), __ATOMIC_ACQUIRE);
    for (int done = 0; consumed[i] != head && done < kBatch; ++done) {
      auto *ring = reinterpret_cast<const char *>(send.buffer);
      auto block = [&](uint32_t index) { return ring + uint64_t(index % send.depth) * kLine; };
      const auto &entry = *reinterpret_cast<const UdmaEntry *>(block(consumed[i]));
      const auto &sge = *reinterpret_cast<const UdmaSge *>(block(consumed[i]) + sizeof(UdmaEntry));
      const auto &operand = *reinterpret_cast<const UdmaOperand *>(block(consumed[i] + 1));
      uint32_t pass = consumed[i] / send.depth, blocks = entry.blocks == 2 ? 2 : 1;
      UdmaCompletion &completion =
          reinterpret_cast<UdmaCompletion *>(queue.buffer)[queue.head % queue.depth];
      completion.status = completion.subStatus = 0;
      completion.blocks = blocks;
      if (entry.owner != (pass % 2 == 0 ? 1 : 0))
        completion.status = kUdmaBadOwner;
      else
        execute(send, entry, sge, operand, completion);
      consumed[i] += blocks;
      uint32_t valid = (queue.head / queue.depth) % 2 == 0 ? 1 : 0;
      ++queue.head;
      __atomic_store_n(&completion.owner, valid, __ATOMIC_RELEASE);
      worked = true;
    }
  }
  return worked;
}

void UdmaTransport::execute(UdmaWorkQueue &send, const UdmaEntry &entry, const UdmaSge &sge,
                            const UdmaOperand &operand, UdmaCompletion &completion) {
  auto *remote = reinterpret_cast<void *>(entry.remote);
  auto *local = reinterpret_cast<void *>(sge.local);
  BadAccess bad;
  switch (entry.opcode) {
  case UdmaOpcode::Nop:
    return;
  case UdmaOpcode::Write:
  case UdmaOpcode::WriteNotify:
    if (!copyBytes(remote, local, sge.length, bad)) {
      completion.status = kUdmaBadAddress;
      return;
    }
    if (entry.opcode == UdmaOpcode::WriteNotify)
      __atomic_store_n(reinterpret_cast<uint64_t *>(operand.notify), operand.value,
                       __ATOMIC_RELEASE);
    return written(remote);
  case UdmaOpcode::Read:
    if (!copyBytes(local, remote, sge.length, bad))
      completion.status = kUdmaBadAddress;
    return;
  case UdmaOpcode::CompareSwap:
  case UdmaOpcode::Swap:
  case UdmaOpcode::Store:
  case UdmaOpcode::Load:
  case UdmaOpcode::FetchAdd: {
    if ((sge.length != 4 && sge.length != 8) || entry.remote % sge.length) {
      completion.status = kUdmaBadLength;
      return;
    }
    uint64_t old = sge.length == 4
                       ? applyAtomic(entry.opcode, static_cast<uint32_t *>(remote), operand)
                       : applyAtomic(entry.opcode, static_cast<uint64_t *>(remote), operand);
    __atomic_store_n(reinterpret_cast<uint64_t *>(send.atomicResult), old, __ATOMIC_RELEASE);
    return written(remote);
  }
  default:
    completion.status = kUdmaBadOpcode;
  }
}

//===-- The host ----------------------------------------------------------------------------===//

int UdmaTransport::checkStatus(int pe, uint8_t status) {
  if (status == kUdmaOk)
    return ACLSHMEM_SUCCESS;
  return report(ACLSHMEM_INNER_ERROR,
                "UDMA: an operation on PE " + std::to_string(pe) + " failed with status " +
                    std::to_string(status) +
                    (status == kUdmaBadAddress ? ": an address cannot be read or written" : ""));
}

int UdmaTransport::post(const UdmaRequest &request) {
  std::unique_lock lock(mutexes[static_cast<size_t>(request.pe)]);
  UdmaWorkQueue &send = table.send[queueOf(request.pe)];
  UdmaCompletionQueue &queue = table.completions[queueOf(request.pe)];
  uint8_t status = kUdmaOk;
  bool room = !udmaNearlyFull(send) || waitForEngine([&] {
    if (uint8_t found = udmaPoll(send, queue, kUdmaPollBatch))
      status = found;
    return !udmaNearlyFull(send);
  });
  if (room)
    udmaPost(table, queueOf(request.pe), request, [&](UdmaStep step, const void *address) {
      if (trace)
        trace(step, address);
    });
  lock.unlock();
  EngineThread::ring(registers);
  if (!room)
    return report(ACLSHMEM_TIMEOUT_ERROR, "UDMA does not get on: the queue of PE " +
                                              std::to_string(request.pe) + " stays full");
  return checkStatus(request.pe, status);
}

int UdmaTransport::move(UdmaOpcode opcode, const Transfer &transfer) {
  // An entry's length has 32 bits.
  constexpr uint64_t kMost = uint64_t(1) << 30;
  for (uint64_t done = 0; done < transfer.bytes; done += kMost) {
    auto length = static_cast<uint32_t>(std::min(kMost, transfer.bytes - done));
    if (int code = post({opcode,
                         transfer.pe,
                         reinterpret_cast<uint64_t>(transfer.remote) + done,
                         reinterpret_cast<uint64_t>(transfer.local) + done,
                         length,
                         {}}))
      return code;
  }
  return ACLSHMEM_SUCCESS;
}

int UdmaTransport::put(const Transfer &transfer) { return move(UdmaOpcode::Write, transfer); }

int UdmaTransport::get(const Transfer &transfer) { return move(UdmaOpcode::Read, transfer); }

int UdmaTransport::signal(const SignalRequest &request) {
  UdmaRequest work{request.op == kSignalAdd ? UdmaOpcode::FetchAdd : UdmaOpcode::Store,
                   request.pe,
                   reinterpret_cast<uint64_t>(request.remote),
                   0,
                   sizeof(int32_t),
                   {}};
  work.operand.value = static_cast<uint32_t>(request.value);
  return post(work);
}

/// A queue works in order.
int UdmaTransport::fence(int) { return ACLSHMEM_SUCCESS; }

int UdmaTransport::quiet(int pe) {
  if (pe != kAllPes)
    return drain(pe);
  for (uint32_t each = 0; each < table.count; ++each)
    if (int code = drain(static_cast<int>(each)))
      return code;
  return ACLSHMEM_SUCCESS;
}

/// Takes completions until all that was posted is done.
int UdmaTransport::drain(int pe) {
  std::unique_lock lock(mutexes[static_cast<size_t>(pe)]);
  UdmaWorkQueue &send = table.send[queueOf(pe)];
  uint8_t status = kUdmaOk;
  bool done = send.tail == send.head || waitForEngine([&] {
                if (uint8_t found = udmaPoll(send, table.completions[queueOf(pe)], kUdmaPollBatch))
                  status = found;
                return send.tail == send.head;
              });
  lock.unlock();
  if (!done)
    return report(ACLSHMEM_TIMEOUT_ERROR, "UDMA does not get on: an operation on PE " +
                                              std::to_string(pe) + " did not end");
  return checkStatus(pe, status);
}

} // namespace piton::shmem
