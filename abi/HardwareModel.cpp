// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of SoCs. Numbers that a whole generation shares are written once, in the function that
// starts a row of that generation; a row adds name, cores and what distinguishes its bin.

#include "abi/HardwareModel.h"

#include <cstdlib>

namespace piton {
namespace {

constexpr uint64_t KiB = 1024, MiB = KiB * 1024, GiB = MiB * 1024;

/// What is common to all generations.
HardwareModel common(const char *name, SocFamily family, uint32_t aiCores, uint32_t vectorCores) {
  HardwareModel m = {};
  m.name = m.compilerTarget = name;
  m.family = family;
  m.aiCores = m.cubeCores = aiCores;
  m.vectorCores = vectorCores;
  m.l0aBytes = m.l0bBytes = 64 * KiB;
  m.ubAlign = m.l1Align = 32;
  m.l0abAlign = m.l0cAlign = 512;
  m.maxBlocks = kMaxLaunchBlocks;
  m.systemCounterMHz = 50;
  return m;
}

HardwareModel c220(const char *name, SocFamily family, uint32_t aiCores, uint32_t clockMHz,
                   uint64_t gmBytes = 64 * GiB, uint64_t l2Bytes = 192 * MiB) {
  HardwareModel m = common(name, family, aiCores, 2 * aiCores);
  m.arch = "dav-c220";
  m.clockMHz = clockMHz;
  m.gmBytes = gmBytes;
  m.l2Bytes = l2Bytes;
  m.ubBytes = m.ubHardwareBytes = 192 * KiB;
  m.l1Bytes = 512 * KiB;
  m.l0cBytes = 128 * KiB;
  m.btBytes = 1 * KiB;
  m.ffts = true;
  return m;
}

HardwareModel c310(const char *name, uint32_t aiCores, uint64_t gmBytes, uint64_t l2Bytes) {
  HardwareModel m = common(name, SocFamily::Ascend950, aiCores, 2 * aiCores);
  m.arch = "dav-c310";
  m.clockMHz = 1650;
  m.gmBytes = gmBytes;
  m.l2Bytes = l2Bytes;
  m.ubBytes = 248 * KiB;
  m.ubHardwareBytes = 256 * KiB;
  m.l1Bytes = 512 * KiB;
  m.l0cBytes = 256 * KiB;
  m.btBytes = 4 * KiB;
  m.minDataCacheBytes = 32 * KiB;
  m.maxDataCacheBytes = 120 * KiB;
  m.systemCounterMHz = 1000;
  m.xFastest = true;
  return m;
}

HardwareModel m300(const char *name, bool ffts) {
  HardwareModel m = common(name, SocFamily::Ascend310B, 1, 1);
  m.arch = "dav-m300";
  m.ubBytes = m.ubHardwareBytes = 256 * KiB;
  m.l1Bytes = 1 * MiB;
  m.l0cBytes = 128 * KiB;
  m.ffts = ffts;
  m.xFastest = true; // compiled by the same tool as the 950
  return m;
}

HardwareModel ascend310p() {
  HardwareModel m = common("Ascend310P", SocFamily::Ascend310P, 8, 15);
  m.compilerTarget = nullptr;
  m.arch = "dav-m200";
  m.l2Bytes = 16 * MiB;
  m.ubBytes = m.ubHardwareBytes = 256 * KiB;
  m.l1Bytes = 1 * MiB;
  m.l0cBytes = 256 * KiB;
  return m;
}

std::vector<HardwareModel> makeTable() {
  std::vector<HardwareModel> t;
  t.push_back(c220("Ascend910B1", SocFamily::A2, 24, 1850));
  t.push_back(c220("Ascend910B2", SocFamily::A2, 24, 1800));
  t.push_back(c220("Ascend910B2C", SocFamily::A2, 24, 1800));
  t.push_back(c220("Ascend910B3", SocFamily::A2, 20, 1800));
  t.push_back(c220("Ascend910B4", SocFamily::A2, 20, 1500, 32 * GiB, 96 * MiB));
  t.push_back(c220("Ascend910B4-1", SocFamily::A2, 20, 1500, 64 * GiB, 96 * MiB));
  t.push_back(c220("Ascend910_9362", SocFamily::A3, 20, 1500));
  t.push_back(c220("Ascend910_9363", SocFamily::A3, 20, 1500));
  t.back().compilerTarget = "Ascend910_9362"; // 9363 is refused by the published compiler
  t.push_back(c220("Ascend910_9372", SocFamily::A3, 20, 1500));
  for (const char *name : {"Ascend910_9381", "Ascend910_9382", "Ascend910_9391", "Ascend910_9392"})
    t.push_back(c220(name, SocFamily::A3, 24, 1800));
  t.push_back(ascend310p());
  for (const char *name : {"Ascend310B1", "Ascend310B2", "Ascend310B3"})
    t.push_back(m300(name, true));
  t.push_back(m300("Ascend310B4", false));

  // 950. Where a bin's memory is published as a range, the smaller value.
  for (const char *name : {"Ascend910_950z", "Ascend950PR_950z"})
    t.push_back(c310(name, 4, 0, 0));
  for (const char *name : {"Ascend950DT_950x", "Ascend950DT_950y"})
    t.push_back(c310(name, 8, 0, 0));
  for (const char *name :
       {"Ascend910_9579", "Ascend910_957b", "Ascend910_957d", "Ascend950PR_9579",
        "Ascend950PR_957a", "Ascend950PR_957b", "Ascend950PR_957c", "Ascend950PR_957d"})
    t.push_back(c310(name, 28, 112 * GiB, 128 * MiB));
  for (const char *name :
       {"Ascend910_9581", "Ascend910_9589", "Ascend910_958a", "Ascend910_958b", "Ascend950PR_9589",
        "Ascend950PR_958a", "Ascend950PR_958b", "Ascend950PR_958c", "Ascend950PR_958d"})
    t.push_back(c310(name, 32, 128 * GiB, 128 * MiB));
  for (const char *name :
       {"Ascend910_9599", "Ascend950PR_9599", "Ascend950PR_959a", "Ascend950PR_959b"})
    t.push_back(c310(name, 36, 128 * GiB, 128 * MiB));
  for (const char *name :
       {"Ascend950DT_9571", "Ascend950DT_9572", "Ascend950DT_9573", "Ascend950DT_9574",
        "Ascend950DT_9575", "Ascend950DT_9576", "Ascend950DT_9577", "Ascend950DT_9578"})
    t.push_back(c310(name, 28, 96 * GiB, 128 * MiB));
  for (const char *name :
       {"Ascend950DT_9581", "Ascend950DT_9582", "Ascend950DT_9583", "Ascend950DT_9584",
        "Ascend950DT_9585", "Ascend950DT_9586", "Ascend950DT_9587", "Ascend950DT_9588"})
    t.push_back(c310(name, 32, 96 * GiB, 128 * MiB));
  for (const char *name : {"Ascend950DT_9591", "Ascend950DT_9592", "Ascend950DT_9595",
                           "Ascend950DT_9596", "Ascend950DT_95A1", "Ascend950DT_95A2"})
    t.push_back(c310(name, 36, 144 * GiB, 128 * MiB));
  return t;
}

/// Plain names that users and IR tests write, and other spellings.
struct Alias {
  std::string_view name, target;
};
constexpr Alias kAliases[] = {
    {"Ascend950", "Ascend950PR_9589"},
    {"Ascend910_95", "Ascend910_9589"},
    {"Ascend910B4_1", "Ascend910B4-1"},
};

} // namespace

const std::vector<HardwareModel> &allHardwareModels() {
  static const std::vector<HardwareModel> table = makeTable();
  return table;
}

const HardwareModel *findHardwareModel(std::string_view name, std::string *error) {
  std::string_view wanted = name;
  for (const Alias &alias : kAliases)
    if (alias.name == wanted)
      wanted = alias.target;
  for (const HardwareModel &model : allHardwareModels())
    if (wanted == model.name)
      return &model;
  if (!error)
    return nullptr;
  std::string text = "TRITON_ASCEND_ARCH = " + std::string(name) + " is invalid! Candidates: ";
  const char *separator = "";
  for (const HardwareModel &model : allHardwareModels()) {
    text += separator;
    text += model.name;
    separator = ", ";
  }
  for (const Alias &alias : kAliases)
    text += ", " + std::string(alias.name);
  *error = std::move(text);
  return nullptr;
}

const HardwareModel *selectedHardwareModel(std::string *error) {
  const char *name = std::getenv("TRITON_ASCEND_ARCH");
  return findHardwareModel(name && *name ? name : kDefaultSoc, error);
}

} // namespace piton
