// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective calls in the server of the control plane: joins what the members of a team send,
// checks that they made the same call, and numbers new teams.

#include "abi/DeviceState.h"
#include "runtime/shmem/ControlServer.h"
#include "runtime/shmem/Report.h"

#include <algorithm>
#include <cstdio>

namespace piton::shmem {

/// Index of `pe` in the team, or -1.
static int indexIn(const std::vector<int> &members, int pe) {
  auto at = std::find(members.begin(), members.end(), pe);
  return at == members.end() ? -1 : static_cast<int>(at - members.begin());
}

/// "20", or "0.25" for a part of a second.
static std::string seconds(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(time.count()) / 1000);
  return text;
}

void ControlServer::answer(int pe, CallKey key, int code, std::string_view text,
                           std::string_view data) {
  Writer out;
  out.value<int32_t>(key.first).value<uint64_t>(key.second).value<int32_t>(code);
  out.text(text).text(data);
  sendTo(pe, FrameType::Result, out.out);
}

void ControlServer::call(int pe, Reader reader) {
  auto team = reader.value<int32_t>();
  auto sequence = reader.value<uint64_t>();
  auto kind = static_cast<CallKind>(reader.value<uint32_t>());
  constexpr int64_t longest = int64_t(UINT32_MAX) * 1000;
  std::chrono::milliseconds timeout(std::clamp<int64_t>(reader.value<int64_t>(), 0, longest));
  Contribution part{true, std::string(reader.text()), std::string(reader.text()),
                    std::string(reader.text())};
  CallKey key{team, sequence};
  if (!reader.ok())
    return answer(pe, key, ACLSHMEM_INNER_ERROR, "a collective call arrived damaged at PE 0", {});
  bool exists = team >= 0 && static_cast<size_t>(team) < teams.size();
  const std::vector<int> none, &team_ = exists ? teams[static_cast<size_t>(team)].members : none;
  int index = indexIn(team_, pe);
  if (index < 0)
    return answer(pe, key, ACLSHMEM_INVALID_PARAM,
                  "PE " + std::to_string(pe) + " is no member of team " + std::to_string(team), {});
  members[static_cast<size_t>(pe)].lastCall = part.what;

  if (auto late = expired.find(key); late != expired.end()) {
    answer(pe, key, ACLSHMEM_TIMEOUT_ERROR, late->second.second, {});
    if (--late->second.first == 0)
      expired.erase(late);
    return;
  }
  Pending &pending = calls[key];
  if (pending.parts.empty()) {
    pending.kind = kind;
    pending.parts.resize(team_.size());
    pending.timeout = timeout;
    pending.deadline = Clock::now() + timeout;
  }
  Contribution &slot = pending.parts[static_cast<size_t>(index)];
  if (slot.present)
    return answer(pe, key, ACLSHMEM_INNER_ERROR, "a collective call was made twice", {});
  slot = std::move(part);
  if (++pending.count == team_.size()) {
    complete(key, pending);
    calls.erase(key);
  }
}

void ControlServer::complete(CallKey key, Pending &pending) {
  const std::vector<int> team = teams[static_cast<size_t>(key.first)].members;
  std::string error = compare(team, pending), data;
  int code = error.empty() ? ACLSHMEM_SUCCESS : ACLSHMEM_INVALID_VALUE;
  if (error.empty() && pending.kind == CallKind::Split) {
    data = split(pending, error);
    code = error.empty() ? ACLSHMEM_SUCCESS : ACLSHMEM_INNER_ERROR;
  } else if (error.empty()) {
    Writer out;
    for (const Contribution &part : pending.parts)
      out.text(part.data);
    data = std::move(out.out);
  }
  if (error.empty() && pending.kind == CallKind::Final)
    listener.reset();
  for (int pe : team)
    answer(pe, key, code, error, data);
}

/// Empty if all members made the same call, else who called what.
std::string ControlServer::compare(const std::vector<int> &team, const Pending &pending) const {
  const Contribution &first = pending.parts[0];
  for (size_t i = 1; i < pending.parts.size(); ++i) {
    const Contribution &other = pending.parts[i];
    if (other.check != first.check)
      return "the PEs made different collective calls: PE " + std::to_string(team[0]) + " called " +
             first.what + ", PE " + std::to_string(team[i]) + " called " + other.what;
  }
  return {};
}

/// Numbers the teams that `check` lists: the same free number for all members.
std::string ControlServer::split(const Pending &pending, std::string &error) {
  Reader reader(pending.parts[0].check);
  reader.text(); // the call's name
  auto count = reader.value<uint32_t>();
  std::vector<int32_t> numbers;
  for (uint32_t t = 0; t < count && reader.ok(); ++t) {
    std::vector<int> team(std::min<uint32_t>(reader.value<uint32_t>(), kMaxPes));
    bool known = !team.empty();
    for (int &pe : team) {
      pe = reader.value<int32_t>();
      known &= pe >= 0 && pe < options.world;
    }
    if (!known || !reader.ok()) {
      error = "a team split arrived damaged at PE 0";
      break;
    }
    size_t number = 1;
    while (number < teams.size() && !teams[number].members.empty())
      ++number;
    if (number >= static_cast<size_t>(kMaxTeams)) {
      error = "there are " + std::to_string(kMaxTeams) +
              " teams already; destroy some with aclshmem_team_destroy";
      break;
    }
    if (number == teams.size())
      teams.emplace_back();
    teams[number].members = std::move(team);
    numbers.push_back(static_cast<int32_t>(number));
  }
  if (!error.empty())
    for (int32_t made : numbers)
      teams[static_cast<size_t>(made)] = {};
  Writer out;
  for (int32_t number : numbers)
    out.value(number);
  return std::move(out.out);
}

/// A number is free again when all members have given it up.
void ControlServer::destroyTeam(int team) {
  if (team <= 0 || static_cast<size_t>(team) >= teams.size())
    return;
  Team &target = teams[static_cast<size_t>(team)];
  if (++target.destroyed < target.members.size())
    return;
  target = {};
  std::erase_if(calls, [&](const auto &entry) { return entry.first.first == team; });
  std::erase_if(expired, [&](const auto &entry) { return entry.first.first == team; });
}

void ControlServer::expireCalls(Clock::time_point now) {
  for (auto at = calls.begin(); at != calls.end();) {
    auto &[key, pending] = *at;
    if (now < pending.deadline) {
      ++at;
      continue;
    }
    const std::vector<int> team = teams[static_cast<size_t>(key.first)].members;
    std::vector<int> present, missing;
    std::string what;
    for (size_t i = 0; i < team.size(); ++i) {
      (pending.parts[i].present ? present : missing).push_back(team[i]);
      if (pending.parts[i].present && what.empty())
        what = pending.parts[i].what;
    }
    std::string text = what + ": " + listPes(missing) + " did not make this call within " +
                       seconds(pending.timeout) + " s (control_operation_timeout), " +
                       listPes(present) + " did";
    const std::string &last = members[static_cast<size_t>(missing[0])].lastCall;
    if (!last.empty())
      text += "; the last collective call of PE " + std::to_string(missing[0]) + " was " + last;
    for (int pe : present)
      answer(pe, key, ACLSHMEM_TIMEOUT_ERROR, text, {});
    expired[key] = {missing.size(), text};
    at = calls.erase(at);
  }
}

} // namespace piton::shmem
