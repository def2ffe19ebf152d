// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a group's reductions, its thread, and the work objects that torch waits for. What
// goes through shared memory depends on what all ranks agree in (element type, operation), never on
// what one rank alone knows.
#include "HostGroup.h"

#include "SharedReduce.h"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unordered_map>

namespace piton::torch_device {
namespace {

using c10d::ReduceOp;

constexpr auto kTick = std::chrono::milliseconds(250); ///< between looks whether a group is gone

std::optional<Element> elementOf(c10::ScalarType type) {
  switch (type) {
  case c10::kFloat:
    return Element::F32;
  case c10::kDouble:
    return Element::F64;
  case c10::kHalf:
    return Element::F16;
  case c10::kBFloat16:
    return Element::BF16;
  case c10::kChar:
    return Element::I8;
  case c10::kByte:
    return Element::U8;
  case c10::kInt:
    return Element::I32;
  case c10::kLong:
    return Element::I64;
  default:
    return std::nullopt;
  }
}

std::optional<Combine> combineOf(const ReduceOp &operation, c10::ScalarType type) {
  switch (static_cast<ReduceOp::RedOpType>(operation)) {
  case ReduceOp::SUM:
    return Combine::Sum;
  case ReduceOp::PRODUCT:
    return Combine::Product;
  case ReduceOp::MIN:
    return Combine::Min;
  case ReduceOp::MAX:
    return Combine::Max;
  case ReduceOp::AVG:
    return c10::isFloatingType(type) ? std::optional(Combine::Mean) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// One all-reduce, as torch sees it. Holds the tensors until it is done.
class SharedWork final : public c10d::Work {
public:
  SharedWork(int rank, std::vector<at::Tensor> &tensors, Reduction reduction)
      : Work(rank, c10d::OpType::ALLREDUCE, "hccl:all_reduce", tensors), tensors(tensors),
        reduction(reduction), future(c10::make_intrusive<c10::ivalue::Future>(
                                  c10::ListType::create(c10::TensorType::get()))) {}

  std::vector<at::Tensor> result() override { return tensors; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future; }

  void run(SharedReduce &memory) {
    std::string failure = memory.run(reduction);
    if (failure.empty()) {
      future->markCompleted(c10::IValue(tensors));
      finish();
      return;
    }
    auto error = std::make_exception_ptr(std::runtime_error("hccl all_reduce: " + failure));
    future->setError(error);
    finish(error);
  }

private:
  const std::vector<at::Tensor> tensors;
  const Reduction reduction;
  const c10::intrusive_ptr<c10::ivalue::Future> future;
};

using WorkPointer = c10::intrusive_ptr<SharedWork>;

class HostGroup;
void forget(const std::string &name, const HostGroup *group);

/// The reductions of a group on this rank.
class HostGroup : public std::enable_shared_from_this<HostGroup> {
public:
  HostGroup(std::string name, std::unique_ptr<SharedReduce> memory)
      : name(std::move(name)), memory(std::move(memory)) {}

  /// With the end of the back end this rank leaves the group.
  void watch(const c10::intrusive_ptr<c10d::Backend> &backend) {
    std::lock_guard<std::mutex> guard(mutex);
    if (watched)
      return;
    watched.emplace(backend);
    startThread();
  }

  void submit(const WorkPointer &work, bool asynchronous) {
    std::unique_lock<std::mutex> guard(mutex);
    if (asynchronous || busy || !waiting.empty()) {
      waiting.push_back(work);
      changed.notify_one();
      return;
    }
    busy = true;
    guard.unlock();
    work->run(*memory);
    guard.lock();
    busy = false;
    if (!waiting.empty())
      changed.notify_one();
  }

private:
  void startThread() {
    // Signals are the business of the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([self = shared_from_this()] { self->serve(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void serve() {
    std::unique_lock<std::mutex> guard(mutex);
    for (;;) {
      changed.wait_for(guard, kTick, [&] { return !waiting.empty() && !busy; });
      if (waiting.empty() || busy) {
        if (!busy && watched->expired())
          break;
        continue;
      }
      WorkPointer work = std::move(waiting.front());
      waiting.pop_front();
      busy = true;
      guard.unlock();
      work->run(*memory);
      work.reset();
      guard.lock();
      busy = false;
    }
    guard.unlock();
    memory->leave();
    forget(name, this);
  }

  const std::string name;
  const std::unique_ptr<SharedReduce> memory;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<WorkPointer> waiting;
  bool busy = false;
  std::optional<c10::weak_intrusive_ptr<c10d::Backend>> watched;
};

/// Groups by name. Never destroyed: threads may use them until the process ends.
struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<HostGroup>> groups;
};

Registry &registry() {
  static auto *instance = new Registry;
  return *instance;
}

void forget(const std::string &name, const HostGroup *group) {
  std::lock_guard<std::mutex> guard(registry().mutex);
  auto found = registry().groups.find(name);
  if (found != registry().groups.end() && found->second.get() == group)
    registry().groups.erase(found); // the thread that calls still holds it
}

bool keep(const std::string &group, std::unique_ptr<SharedReduce> memory) {
  if (!memory)
    return false;
  std::shared_ptr<HostGroup> before; // of an earlier group of this name; ends outside the lock
  auto next = std::make_shared<HostGroup>(group, std::move(memory));
  std::lock_guard<std::mutex> guard(registry().mutex);
  std::swap(before, registry().groups[group]);
  registry().groups[group] = std::move(next);
  return true;
}

/// Stands for a gloo back end in one call.
class SharedBackend final : public c10d::Backend {
public:
  SharedBackend(c10::intrusive_ptr<c10d::Backend> gloo, std::shared_ptr<HostGroup> group)
      : Backend(gloo->getRank(), gloo->getSize()), gloo(std::move(gloo)), group(std::move(group)) {
    if (this->gloo->getBoundDeviceId())
      setBoundDeviceId(this->gloo->getBoundDeviceId());
  }

  const std::string getBackendName() const override { return "hccl"; }

  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor> &tensors,
                                           const c10d::AllreduceOptions &options) override {
    std::optional<Element> element;
    std::optional<Combine> combine;
    if (tensors.size() == 1 && tensors[0].layout() == c10::kStrided) {
      element = elementOf(tensors[0].scalar_type());
      combine = combineOf(options.reduceOp, tensors[0].scalar_type());
    }
    // A tensor with gaps is an error, which gloo reports.
    if (!element || !combine || !tensors[0].is_non_overlapping_and_dense())
      return gloo->allreduce(tensors, options);
    auto timeout = options.timeout == c10d::kUnsetTimeout ? gloo->getBackendOptions()->timeout
                                                          : options.timeout;
    Reduction reduction{tensors[0].data_ptr(), static_cast<uint64_t>(tensors[0].numel()), *element,
                        *combine, timeout};
    auto work = c10::make_intrusive<SharedWork>(getRank(), tensors, reduction);
    group->submit(work, options.asyncOp);
    return work;
  }

private:
  const c10::intrusive_ptr<c10d::Backend> gloo;
  const std::shared_ptr<HostGroup> group;
};

} // namespace

std::string offerSharedMemory(const std::string &group, int64_t size) {
  std::string address;
  return keep(group, SharedReduce::create(static_cast<int>(size), address)) ? address : "";
}

bool joinSharedMemory(const std::string &group, int64_t rank, int64_t size,
                      const std::string &address) {
  return keep(group, SharedReduce::join(static_cast<int>(rank), static_cast<int>(size), address));
}

void dropSharedMemory(const std::string &group) {
  std::shared_ptr<HostGroup> before;
  std::lock_guard<std::mutex> guard(registry().mutex);
  if (auto found = registry().groups.find(group); found != registry().groups.end()) {
    before = std::move(found->second);
    registry().groups.erase(found);
  }
}

c10::intrusive_ptr<c10d::Backend> withSharedMemory(c10::intrusive_ptr<c10d::Backend> backend,
                                                   bool reduces) {
  std::shared_ptr<HostGroup> group;
  {
    std::lock_guard<std::mutex> guard(registry().mutex);
    auto found = registry().groups.find(backend->getGroupUid());
    // With TORCH_DISTRIBUTED_DEBUG=DETAIL torch's checks stand before gloo; they stay.
    if (found == registry().groups.end() || backend->getBackendName() != "gloo")
      return backend;
    group = found->second;
  }
  group->watch(backend);
  if (!reduces)
    return backend;
  return c10::make_intrusive<SharedBackend>(std::move(backend), std::move(group));
}

} // namespace piton::torch_device
