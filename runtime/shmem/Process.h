// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The PE that this process is: made by aclshmemx_init_attr, ended by aclshmem_finalize.
#ifndef PITON_RUNTIME_SHMEM_PROCESS_H
#define PITON_RUNTIME_SHMEM_PROCESS_H

#include "runtime/Threads.h"
#include "runtime/shmem/World.h"

namespace piton::shmem {

/// This process's PE, or null before init and after finalize; it stays for as long as the object
/// lives, as finalize waits for it.
class WorldRef {
public:
  WorldRef();
  WorldRef(WorldRef &&other) : world(other.world), record(other.record) { other.record = nullptr; }
  ~WorldRef() {
    if (record)
      record->inCalls.store(record->inCalls.load(std::memory_order_relaxed) - 1,
                            std::memory_order_release);
  }
  explicit operator bool() const { return world; }
  World *get() const { return world; }
  World *operator->() const { return world; }
  World &operator*() const { return *world; }

private:
  World *world;
  ThreadRecord *record; ///< of this thread
};

/// Any thread.
inline WorldRef currentWorld() { return WorldRef(); }

/// As above; without one reports ACLSHMEM_NOT_INITED for `call`. Clears the thread's status, so
/// every API function that can report starts with it.
WorldRef requireWorld(const char *call);

/// Checks `attr` and joins the job.
int initialize(aclshmemx_bootstrap_t flags, aclshmemx_init_attr_t &attr);
int finalize();
int initStatus();

/// TLS settings for the next init.
int setTls(bool enable, std::string info);
int setTlsKey(std::string key, std::string password, aclshmem_decrypt_handler decrypt);

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_PROCESS_H
