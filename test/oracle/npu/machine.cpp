// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memories, coroutine scheduling of the cores, protection against runaway programs, and the
// interface for Python.
#include "machine.h"
#include <csetjmp>
#include <csignal>
#include <sys/mman.h>
#include <sys/time.h>

int NQ = 0, ncores = 0, n_blocks = 1, n_ranks = 1, g_check = 1, g_strict = 1;
u64 n_inst = 0, n_progress = 0;
Core *cur;
Core cores[MAXCORES];
std::deque<Mem> gm;
static ucontext_t sched;
static sigjmp_buf bail;
static volatile int bail_kind;
static std::string bail_text;
void wave_begin_checks();
void clear_findings();
void clear_sync();
void clear_shmem();
void clear_prints();

const char *pipe_name(int p) {
  static const char *n[NP] = {"S",   "V",   "M",    "MTE1", "MTE2", "MTE3",
                              "ALL", "NBI", "MTE5", "V2",   "FIX"};
  return p >= 0 && p < NP ? n[p] : "?";
}

constexpr u64 WINDOW =
    2ull << 20; // every memory starts at a 2 MiB boundary: low address bits are the on-chip offset
static u64 next_addr = 0x100000000000ull;
static u8 *map_fixed(u64 at, size_t n) {
  void *p = mmap((void *)at, n, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : (u8 *)p;
}
static Cell *map_shadow(size_t n) {
  return (Cell *)mmap(nullptr, n * sizeof(Cell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
static void prepare(Mem &m, size_t n, const std::string &name, int fill) {
  if (!m.base) {
    m.base = map_fixed(next_addr, WINDOW);
    next_addr += 2 * WINDOW;
    m.size = n;
  }
  if (g_check && !m.shadow)
    m.shadow = map_shadow(n);
  m.name = name;
  memset(m.base, fill, n);
}
void progress() { n_progress++; }
void yield_blocked(const std::string &why) {
  Core *c = cur;
  c->blocked = true;
  c->waiting = why;
  swapcontext(&c->ctx, &sched);
  c->blocked = false;
}
// a turn for the others while this core stays runnable: called now and then by loops that read GM,
// so that spinning on another core's value ends
void yield_turn() {
  Core *c = cur;
  swapcontext(&c->ctx, &sched);
}
void stop_run(const char *kind, const std::string &text) {
  error(kind, text);
  bail_kind = 1;
  siglongjmp(bail, 1);
}

static void on_signal(int sig, siginfo_t *, void *) {
  bail_kind = sig;
  siglongjmp(bail, 1);
}
static void trampoline(int k) {
  Core &c = cores[k];
  c.fn(c.args);
  c.done = true;
  swapcontext(&c.ctx, &sched);
}

extern "C" {
void npu_reset(int check, int strict) {
  g_check = check;
  g_strict = strict;
  n_inst = n_progress = 0;
  ncores = 0;
  NQ = 0;
  cur = nullptr;
  for (auto &g : gm) {
    munmap(g.base - WINDOW / 2, WINDOW + ((g.size + 4095) & ~4095ull));
    if (g.shadow)
      munmap(g.shadow, g.size * sizeof(Cell));
  }
  gm.clear();
  for (auto &c : cores) {
    for (auto &m : c.mem) {
      if (m.shadow)
        munmap(m.shadow, m.size * sizeof(Cell));
      m.shadow = nullptr;
    }
    memset(c.seq, 0, sizeof c.seq);
    memset(c.base_seq, 0, sizeof c.base_seq);
  }
  clear_findings();
  clear_sync();
  clear_shmem();
  clear_prints();
}
// a GM buffer with half a window of slack on both sides, so that a stray access does no harm to the
// host
void *npu_gm_alloc(u64 n, const char *name, int kind, int group, int rank) {
  size_t span = WINDOW + ((n + 4095) & ~4095ull);
  u8 *p = map_fixed(next_addr, span);
  next_addr += (span + 2 * WINDOW - 1) / WINDOW * WINDOW;
  if (!p)
    return nullptr;
  memset(p + WINDOW / 2 + n, 0xEE, 4096);
  Mem m;
  m.base = p + WINDOW / 2;
  m.size = n;
  m.name = name;
  m.kind = kind;
  m.group = group;
  m.rank = rank;
  if (g_check && n)
    m.shadow = map_shadow(n);
  gm.push_back(m);
  return m.base;
}
void npu_wave(int blocks, int ranks) {
  ncores = 0;
  n_blocks = blocks;
  n_ranks = ranks;
}
int npu_add_core(int rank, i64 block, int kind, i64 sub, void (*fn)(void **), void **args) {
  if (ncores >= MAXCORES)
    return -1;
  Core &c = cores[ncores];
  c.id = ncores++;
  c.kind = kind;
  c.rank = rank;
  c.block = block;
  c.sub = sub;
  c.fn = fn;
  c.args = args;
  c.name = (n_ranks > 1 ? "R" + std::to_string(rank) + "." : "") +
           (n_blocks > 1 ? "B" + std::to_string(block) + "." : "") +
           (kind ? "AIV" + std::to_string(sub) : "AIC");
  return c.id;
}
// returns 0, or the reason why the wave did not finish: 1 stopped by the emulator, else a signal
// number
int npu_run(double seconds) {
  NQ = ncores * NP;
  static const size_t size[9] = {0,         0,         512 << 10, 64 << 10, 64 << 10,
                                 128 << 10, 192 << 10, 7 << 10,   1 << 10};
  static const char *label[9] = {"", "", "L1", "L0A", "L0B", "L0C", "UB", "FB", "BT"};
  for (int k = 0; k < ncores; k++) {
    Core &c = cores[k];
    for (int s = L1; s <= BT; s++)
      if ((c.kind == 1) == (s == UB))
        prepare(c.mem[s], size[s], c.name + "." + label[s], 0xEE);
    c.mask_lo = c.mask_hi = ~0ull;
    c.ctrl = 0;
    c.cmpmask[0] = c.cmpmask[1] = c.pad_value = c.nd_para = c.padding = c.quant_pre = c.fpc =
        c.max_min = c.rsvd_cnt = 0;
    c.fmatrix[0] = c.fmatrix[1] = 0;
    memset(c.va, 0, sizeof c.va);
    c.flags.clear();
    c.xflags.clear();
    c.loc = 0;
    c.done = false;
    c.blocked = false;
    for (int p = 0; p < NP; p++)
      c.base_seq[p] = c.seq[p];
  }
  Clock start;
  for (int k = 0; k < ncores; k++)
    for (int p = 0; p < NP; p++)
      start.c[k * NP + p] = cores[k].seq[p]; // earlier waves are complete
  for (int k = 0; k < ncores; k++) {
    Core &c = cores[k];
    for (auto &x : c.K)
      x = start;
    c.unit_m = c.unit_fix = start;
  }
  now = start;
  wave_begin_checks();
  for (int k = 0; k < ncores; k++) {
    Core &c = cores[k];
    if (!c.stack)
      c.stack = (char *)mmap(nullptr, 4 << 20, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    getcontext(&c.ctx);
    c.ctx.uc_stack.ss_sp = c.stack;
    c.ctx.uc_stack.ss_size = 4 << 20;
    c.ctx.uc_link = &sched;
    makecontext(&c.ctx, (void (*)())trampoline, 1, k);
  }
  static char alt[64 << 10];
  stack_t ss{}, old_ss{};
  ss.ss_sp = alt;
  ss.ss_size = sizeof alt;
  sigaltstack(&ss, &old_ss);
  int sigs[5] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM};
  struct sigaction sa{}, old[5];
  sa.sa_sigaction = on_signal;
  sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&sa.sa_mask);
  for (int i = 0; i < 5; i++)
    sigaction(sigs[i], &sa, &old[i]);
  itimerval tv{}, off{};
  tv.it_value.tv_sec = (long)seconds;
  tv.it_value.tv_usec = (long)((seconds - (long)seconds) * 1e6);
  setitimer(ITIMER_VIRTUAL, &tv, nullptr);
  bail_kind = 0;
  int rc = 0;
  if (sigsetjmp(bail, 1) == 0) {
    u64 stalled = 0;
    for (bool any = true; any;) {
      any = false;
      u64 before = n_progress;
      bool finished = false;
      for (int k = 0; k < ncores; k++)
        if (!cores[k].done) {
          any = true;
          cur = &cores[k];
          swapcontext(&sched, &cur->ctx);
          finished |= cores[k].done;
        }
      if (n_progress != before || finished)
        stalled = 0;
      else if (any && ++stalled > 64) {
        for (int k = 0; k < ncores; k++)
          if (!cores[k].done) {
            cur = &cores[k];
            error("deadlock", cur->name + " waits for " + cur->waiting);
          }
        rc = 1;
        break;
      }
    }
  } else {
    rc = bail_kind;
    if (rc == SIGVTALRM)
      error("timeout", "the run took too long (endless loop?)");
    else if (rc != 1)
      error("fault", rc == SIGFPE   ? "scalar division by zero"
                     : rc == SIGILL ? "trap in compiled code"
                                    : "memory fault outside all buffers");
  }
  setitimer(ITIMER_VIRTUAL, &off, nullptr);
  for (int i = 0; i < 5; i++)
    sigaction(sigs[i], &old[i], nullptr);
  sigaltstack(&old_ss, nullptr);
  if (!rc)
    wave_end_checks();
  cur = nullptr;
  return rc;
}
void npu_loc(int l) { cur->loc = l; }
void npu_unmodelled(const char *name) { stop_run("not-modelled", name); }
}
