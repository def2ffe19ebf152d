// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Happens-before checker: one vector clock per (core, pipe), shadow state per byte.
#include "machine.h"

Clock now;
static int cur_pipe;
static const char *cur_name = "?";
static u32 cur_seq;
struct Event {
  const char *name;
  int loc;
};
static std::vector<Event> events[MAXQ];
struct Finding {
  std::string kind, severity, mem, text, a_core, b_core, a_name, b_name;
  int a_pipe = -1, b_pipe = -1, a_loc = 0, b_loc = 0, a_rank = 0, b_rank = 0;
  u64 lo = 0, hi = 0, bytes = 0;
};
static std::map<std::string, Finding> findings;
static std::vector<std::string> order;
static std::map<std::string, u64> histogram;

void count(const char *name) {
  n_inst++;
  histogram[name]++;
}
void error(const char *kind, const std::string &text, const char *severity) {
  std::string where = cur ? cur->name : "";
  std::string key = std::string(kind) + text + where + std::to_string(cur ? cur->loc : 0);
  auto it = findings.find(key);
  if (it != findings.end()) {
    it->second.bytes++;
    return;
  }
  if (findings.size() > 2000)
    return;
  Finding f;
  f.kind = kind;
  f.severity = severity;
  f.text = text;
  f.a_core = where;
  f.a_loc = cur ? cur->loc : 0;
  f.a_rank = cur ? cur->rank : 0;
  findings[key] = f;
  order.push_back(key);
}
void join_scalar(int p) { // what S has waited for is known to later instructions; S's own stores
                          // need an S->p flag
  if (p == S)
    return;
  Clock k = cur->K[S];
  k.c[cur->id * NP + S] = cur->base_seq[S];
  cur->K[p].join(k);
}
void begin(int pipe, const char *name) {
  cur_pipe = pipe;
  cur_name = name;
  n_inst++;
  n_progress++;
  histogram[name]++;
  join_scalar(pipe);
  cur_seq = ++cur->seq[pipe];
  int me = cur->id * NP + pipe;
  if (g_check)
    events[me].push_back({name, cur->loc});
  now = cur->K[pipe];
  if (pipe == S) {
    cur->K[S].c[me] = cur_seq;
    now.c[me] = cur_seq - 1;
  } else if (!g_strict)
    now.c[me] = cur_seq - 1;
}
Clock fired(int pipe) {
  join_scalar(pipe);
  Clock f = cur->K[pipe];
  f.c[cur->id * NP + pipe] = cur->seq[pipe];
  return f;
}

static Mem *find(int space, u64 a) {
  if (space == GM) {
    for (auto &g : gm)
      if (a >= (u64)g.base && a < (u64)g.base + g.size)
        return &g;
    return nullptr;
  }
  Mem &x = cur->mem[space];
  return x.base && a >= (u64)x.base && a < (u64)x.base + x.size ? &x : nullptr;
}
static void record(const std::string &key, const Finding &f) {
  auto it = findings.find(key);
  if (it == findings.end()) {
    if (findings.size() > 2000)
      return;
    findings[key] = f;
    order.push_back(key);
    return;
  }
  it->second.lo = std::min(it->second.lo, f.lo);
  it->second.hi = std::max(it->second.hi, f.hi);
  it->second.bytes += f.bytes;
}
// Loads into L0 read whole fractals, that is also padding behind the data, and MAD computes padding
// rows and columns. A race on such bytes counts only if a result that leaves L0C depends on them:
// it travels with the bytes L0 -> L0C until FIX.
struct Pending {
  std::string key;
  Finding f;
};
struct Attached {
  int core;
  u64 lo, hi;
  std::vector<Pending> list;
};
static std::vector<Pending> pending;
static bool deferring;
static std::vector<Attached> attached;
void defer(bool on) {
  deferring = on;
  if (on)
    pending.clear();
}
bool any_deferred() { return !pending.empty(); }
void attach(const void *dst, size_t n) {
  if (!pending.empty())
    attached.push_back({cur->id, (u64)dst, (u64)dst + n, pending});
}
void detach(const void *dst, size_t n) {
  if (attached.empty())
    return;
  attached.erase(std::remove_if(attached.begin(), attached.end(),
                                [&](Attached &a) {
                                  return a.core == cur->id && a.lo >= (u64)dst &&
                                         a.hi <= (u64)dst + n;
                                }),
                 attached.end());
}
void clear_deferred() { pending.clear(); }
void follow(const void *p) {
  for (auto &a : attached)
    if (a.core == cur->id && (u64)p >= a.lo && (u64)p < a.hi)
      pending.insert(pending.end(), a.list.begin(), a.list.end());
}
bool any_attached() {
  for (auto &a : attached)
    if (a.core == cur->id)
      return true;
  return false;
}
void use_attached(const void *p) {
  for (auto &a : attached)
    if (a.core == cur->id && (u64)p >= a.lo && (u64)p < a.hi)
      for (auto &q : a.list)
        record(q.key, q.f);
}

static void race(const char *kind, Mem *m, size_t off, int q, u32 oseq, bool note) {
  size_t i = oseq - cores[q / NP].base_seq[q % NP] - 1;
  Event o = i < events[q].size() ? events[q][i] : Event{"?", 0};
  char key[400];
  snprintf(key, sizeof key, "%s|%d.%d.%s@%d|%d.%d.%s@%d|%s|%d", kind, cur->id, cur_pipe, cur_name,
           cur->loc, q / NP, q % NP, o.name, o.loc, m->name.c_str(), m->rank);
  Finding f;
  f.kind = kind;
  f.severity = note ? "note" : "error";
  f.mem = m->name;
  f.lo = f.hi = off;
  f.bytes = 1;
  f.a_core = cur->name;
  f.a_pipe = cur_pipe;
  f.a_name = cur_name;
  f.a_loc = cur->loc;
  f.a_rank = cur->rank;
  f.b_core = cores[q / NP].name;
  f.b_pipe = q % NP;
  f.b_name = o.name;
  f.b_loc = o.loc;
  f.b_rank = cores[q / NP].rank;
  if (deferring)
    pending.push_back({key, f});
  else
    record(key, f);
}
// data: the bytes about to be written, if known; two unordered writes of equal bytes are only a
// note
void touch(int space, u64 a, size_t n, bool write, bool atomic, const u8 *data) {
  if (!n)
    return;
  Mem *m = find(space, a);
  if (!m || a + n > (u64)m->base + m->size) {
    char b[300];
    Mem &sp = cur->mem[space];
    u64 o = m ? a - (u64)m->base : space != GM && sp.base ? a - (u64)sp.base : a;
    snprintf(b, sizeof b, "%s of %zu bytes by %s (%s) at %s offset %#lx", write ? "write" : "read",
             n, cur_name, pipe_name(cur_pipe),
             m             ? m->name.c_str()
             : space == GM ? "unknown GM"
                           : "space",
             (unsigned long)o);
    error("out-of-bounds", b);
    return;
  }
  if (!g_check || !m->shadow)
    return;
  size_t o = a - (u64)m->base;
  int me = cur->id * NP + cur_pipe;
  if (m->kind == 1)
    return;
  for (size_t i = o; i < o + n; i++) {
    Cell &c = m->shadow[i];
    if (c.w && c.w > now.c[c.wq] && !(c.wq == me && c.w == cur_seq) && !(atomic && c.atomic)) {
      bool same = write && data && data[i - o] == m->base[i];
      race(same ? "WAW-same-value" : write ? "WAW" : "RAW", m, i, c.wq, c.w, same);
    }
    if (write) {
      for (int k = 0; k < c.nr; k++)
        if (c.r[k] > now.c[c.rq[k]] && c.rq[k] != me) {
          bool same = data && data[i - o] == m->base[i];
          race(same ? "WAR-same-value" : "WAR", m, i, c.rq[k], c.r[k], same);
        }
      c.w = cur_seq;
      c.wq = me;
      c.nr = 0;
      c.atomic = atomic;
    } else {
      int k = 0;
      for (; k < c.nr; k++)
        if (c.rq[k] == me)
          break;
      if (k == c.nr) { // drop a read that is ordered before this one, if the list is full
        if (c.nr == 3) {
          for (k = 0; k < 3; k++)
            if (c.r[k] <= now.c[c.rq[k]])
              break;
          if (k == 3)
            k = 0;
        } else
          c.nr++;
      }
      c.r[k] = cur_seq;
      c.rq[k] = me;
    }
  }
}
// bytes of a store source that no instruction of this wave has written
void check_defined(int space, const u8 *src, i64 n) {
  if (!g_check || space == GM)
    return;
  Mem *m = find(space, (u64)src);
  if (!m || !m->shadow)
    return;
  for (i64 i = 0; i < n && src + i < m->base + m->size; i++) {
    Cell &c = m->shadow[src - m->base + i];
    if (!c.w || c.w <= cores[c.wq / NP].base_seq[c.wq % NP] || c.wq / NP != cur->id) {
      char b[160];
      snprintf(b, sizeof b, "%s stores bytes of %s that were never written", cur_name,
               m->name.c_str());
      error("uninitialised-store", b, "note");
      return;
    }
  }
}
void wave_begin_checks() {
  attached.clear();
  deferring = false;
  for (int q = 0; q < NQ; q++)
    events[q].clear();
}
void wave_end_checks() {
  for (int k = 0; k < ncores; k++) {
    Core &c = cores[k];
    cur = &c;
    for (auto &f : c.flags)
      if (!f.second.empty()) {
        char b[120];
        snprintf(b, sizeof b, "flag (%s, %s, %d) left set at the end",
                 pipe_name(std::get<0>(f.first)), pipe_name(std::get<1>(f.first)),
                 std::get<2>(f.first));
        error("flag-left-set", b);
      }
    for (auto &f : c.xflags)
      if (!f.second.empty()) {
        char b[120];
        snprintf(b, sizeof b, "cross-core flag %d from %s left set (%zu)", f.first.second,
                 f.first.first < 0 ? "a group" : cores[f.first.first].name.c_str(),
                 f.second.size());
        error("cross-core-flag-left-set", b);
      }
  }
  cur = nullptr;
}
static std::string esc(const std::string &s) {
  std::string o;
  for (char ch : s) {
    if (ch == '"' || ch == '\\')
      o += '\\';
    if ((u8)ch >= 32)
      o += ch;
  }
  return o;
}
static std::string json;
std::string prints_json();
void clear_findings() {
  findings.clear();
  order.clear();
  histogram.clear();
}
extern "C" const char *npu_report() {
  json = "{\"instructions\":" + std::to_string(n_inst) + ",\"histogram\":{";
  bool first = true;
  for (auto &h : histogram) {
    json += (first ? "\"" : ",\"") + esc(h.first) + "\":" + std::to_string(h.second);
    first = false;
  }
  json += "},\"prints\":" + prints_json() + ",\"findings\":[";
  first = true;
  for (auto &k : order) {
    Finding &f = findings[k];
    char b[1500];
    snprintf(b, sizeof b,
             "%s{\"kind\":\"%s\",\"severity\":\"%s\",\"text\":\"%s\",\"memory\":\"%s\",\"lo\":%lu,"
             "\"hi\":%lu,\"count\":%lu,\"a\":[\"%s\",\"%s\",\"%s\",%d,%d],\"b\":[\"%s\",\"%s\",\"%"
             "s\",%d,%d]}",
             first ? "" : ",", f.kind.c_str(), f.severity.c_str(), esc(f.text).c_str(),
             f.mem.c_str(), (unsigned long)f.lo, (unsigned long)f.hi, (unsigned long)f.bytes,
             f.a_core.c_str(), f.a_pipe < 0 ? "" : pipe_name(f.a_pipe), f.a_name.c_str(), f.a_loc,
             f.a_rank, f.b_core.c_str(), f.b_pipe < 0 ? "" : pipe_name(f.b_pipe), f.b_name.c_str(),
             f.b_loc, f.b_rank);
    json += b;
    first = false;
  }
  json += "]}";
  return json.c_str();
}
