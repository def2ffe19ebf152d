// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine state of the emulated Ascend c220 AI cores, shared by all parts of the emulator.
// One "run" consists of waves; a wave is a set of cores (rank x block x {AIC, AIV0, AIV1}) that are
// alive together as coroutines.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <ucontext.h>
#include <vector>

typedef _Float16 half;
typedef __bf16 bf16;
typedef uint64_t u64;
typedef int64_t i64;
typedef uint32_t u32;
typedef uint8_t u8;

enum Pipe {
  S = 0,
  V = 1,
  M = 2,
  MTE1 = 3,
  MTE2 = 4,
  MTE3 = 5,
  ALL = 6,
  NBI = 7 /* non-blocking remote puts */,
  FIX = 10
};
enum Space { GM = 1, L1 = 2, L0A = 3, L0B = 4, L0C = 5, UB = 6, FB = 7, BT = 8 };
constexpr int NP = 11; // pipe slots per core
constexpr int MAXCORES = 96;
constexpr int MAXQ = NP * MAXCORES;
extern int NQ; // pipe slots in use in this wave

struct Clock { // vector clock: for each pipe, how many of its instructions are known to be complete
  u32 c[MAXQ];
  Clock() { memset(c, 0, sizeof(u32) * (NQ ? NQ : NP)); }
  Clock(const Clock &o) { memcpy(c, o.c, sizeof(u32) * NQ); }
  Clock &operator=(const Clock &o) {
    memmove(c, o.c, sizeof(u32) * NQ);
    return *this;
  }
  void join(const Clock &o) {
    for (int i = 0; i < NQ; i++)
      if (o.c[i] > c[i])
        c[i] = o.c[i];
  }
};

struct Cell { // shadow of one byte: last write and the reads since then
  u32 w = 0;
  uint16_t wq = 0;
  u8 atomic = 0;
  u8 nr = 0;
  u32 r[3] = {0, 0, 0};
  uint16_t rq[3] = {0, 0, 0};
};

struct Mem {
  u8 *base = nullptr;
  size_t size = 0;
  std::string name;
  Cell *shadow = nullptr;
  int kind = 0 /* 1 = lock buffer */, group = -1 /* symmetric buffer id */, rank = 0;
};

struct Core {
  int id = 0, kind = 0 /* 0 AIC, 1 AIV */, rank = 0;
  i64 block = 0, sub = 0;
  std::string name;
  Mem mem[9];
  u64 mask_lo = ~0ull, mask_hi = ~0ull, ctrl = 0, cmpmask[2] = {0, 0}, pad_value = 0, nd_para = 0,
      fmatrix[2] = {0, 0}, padding = 0, quant_pre = 0, fpc = 0, max_min = 0, rsvd_cnt = 0, va[8][8];
  double acc = 0;
  int acc_size = 4;
  Clock K[NP];
  u32 seq[NP] = {0}, base_seq[NP] = {0};
  Clock unit_m, unit_fix;
  std::map<std::tuple<int, int, int>, std::deque<Clock>> flags;
  std::map<std::pair<int, int>, std::deque<Clock>>
      xflags; // (sender or -1 for a group, flag) -> pending sets
  int loc = 0;
  ucontext_t ctx;
  char *stack = nullptr;
  bool done = true, blocked = false;
  std::string waiting;
  void (*fn)(void **) = nullptr;
  void **args = nullptr;
};

extern Core *cur; // the core that executes now
extern Core cores[MAXCORES];
extern int ncores, n_blocks, n_ranks, g_check, g_strict;
extern u64 n_inst, n_progress;
extern std::deque<Mem> gm;

// ---- current instruction (checker.cpp)
void begin(int pipe, const char *name); // start an instruction on a pipe
void touch(int space, u64 addr, size_t n, bool write, bool atomic = false,
           const u8 *data = nullptr);
inline void rd(int sp, const void *a, size_t n) { touch(sp, (u64)a, n, false); }
inline void wr(int sp, void *a, size_t n) { touch(sp, (u64)a, n, true); }
extern Clock now;      // clock of the current instruction
Clock fired(int pipe); // clock carried by a signal that fires after all work of a pipe
void join_scalar(int pipe);
void error(const char *kind, const std::string &text, const char *severity = "error");
void count(const char *name); // an instruction without memory effect
void wave_end_checks();
[[noreturn]] void stop_run(const char *kind, const std::string &text);

// races on bytes loaded into L0 count only when a result that leaves L0C depends on them
void defer(bool on);
void clear_deferred();
void follow(const void *p);
bool any_deferred();
void attach(const void *dst, size_t n);
void detach(const void *dst, size_t n);
bool any_attached();
void use_attached(const void *p);

// ---- scheduling (machine.cpp)
void yield_turn();                          // give the others a turn and stay runnable
void yield_blocked(const std::string &why); // give the other cores a turn; reports a deadlock
void progress();

// ---- addresses
inline u8 *U(const void *p) { return (u8 *)p; }
// cube code forms on-chip addresses from small integers
inline void *X(int sp, const void *p) {
  return (u64)p < (2u << 20) ? cur->mem[sp].base + (u64)p : (void *)p;
}
inline u8 *ub_at(u64 a) { return cur->mem[UB].base + (a & ((2u << 20) - 1)); }
inline u64 bits(u64 v, int lo, int n) {
  return (v >> lo) & ((n >= 64) ? ~0ull : ((1ull << n) - 1));
}
const char *pipe_name(int p);

struct Desc1 {
  void *alloc, *data;
  i64 off, size, stride;
}; // memref descriptor, rank 1
void store_gm(u8 *dst, const u8 *src, i64 n, int space,
              const u8 *tracked_src); // store with CTRL atomics (move.cpp)
