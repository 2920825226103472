// CUDA threads as fibers on a CPU: a barrier is a fiber that gives way until all it waits for have arrived. Which fiber
// runs next is drawn at random, so that a barrier that is missing in the kernels shows as a wrong result. Fibers jump
// from stack to stack, which a checked longjmp (_FORTIFY_SOURCE) would take for an error.

#include <setjmp.h>
#include <ucontext.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#define ON_HOST
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

struct Index { int x, y; };
static Index threadIdx, blockIdx, blockDim, gridDim;  // of the fiber that runs

struct Barrier { int arrived = 0; long generation = 0; };
struct Fiber {
    ucontext_t start;
    jmp_buf place;  // where it gave way: swapcontext would ask the system for the signal mask every time
    int thread, block;
    bool begun = false, done = false;
    const Barrier* barrier = nullptr;  // at which it waits for the end of a generation
    long generation = 0;
};

const size_t STACK_BYTES = 1 << 16;
static std::vector<std::unique_ptr<char[]>> stacks;  // kept for the next kernel
static std::vector<Fiber> fibers;
static jmp_buf scheduler;
static Fiber* current;
static std::function<void()> body;

static void give_way() {
    if (_setjmp(current->place) == 0) _longjmp(scheduler, 1);
}

// Lets a fiber run until it gives way.
__attribute__((noinline)) static void resume(Fiber& fiber) {
    if (_setjmp(scheduler) != 0) return;
    if (fiber.begun) _longjmp(fiber.place, 1);
    fiber.begun = true;
    setcontext(&fiber.start);
}

static void wait_at(Barrier& barrier, int count) {
    if (++barrier.arrived == count) {
        barrier.arrived = 0;
        barrier.generation++;
    } else {
        current->barrier = &barrier;
        current->generation = barrier.generation;
        give_way();
    }
}

static void enter() {
    body();
    current->done = true;
    _longjmp(scheduler, 1);
}

// Runs `kernel` in blocks × threads fibers until all are done.
static void run_fibers(int blocks, int threads, unsigned seed, std::function<void()> kernel) {
    body = kernel;
    fibers = std::vector<Fiber>(blocks * threads);
    while (stacks.size() < fibers.size()) stacks.emplace_back(new char[STACK_BYTES]);
    for (int k = 0; k < blocks * threads; k++) {
        Fiber& fiber = fibers[k];
        fiber.thread = k % threads;
        fiber.block = k / threads;
        getcontext(&fiber.start);
        fiber.start.uc_stack.ss_sp = stacks[k].get();
        fiber.start.uc_stack.ss_size = STACK_BYTES;
        makecontext(&fiber.start, enter, 0);
    }
    std::mt19937 random(seed);
    std::vector<int> waiting(fibers.size());
    for (size_t k = 0; k < waiting.size(); k++) waiting[k] = (int)k;
    while (!waiting.empty()) {
        for (size_t k = waiting.size() - 1; k > 0; k--) std::swap(waiting[k], waiting[random() % (k + 1)]);
        std::vector<int> next;
        for (int k : waiting) {
            current = &fibers[k];
            if (current->barrier != nullptr && current->barrier->generation == current->generation) {
                next.push_back(k);
                continue;
            }
            current->barrier = nullptr;
            threadIdx.x = current->thread;
            if (blocks > 1) blockIdx.x = current->block;
            resume(*current);
            if (!current->done) next.push_back(k);
        }
        waiting.swap(next);
    }
}
