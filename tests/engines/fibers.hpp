// CUDA threads as fibers on a CPU: a barrier is a fiber that gives way until all it waits for have arrived. Which fiber
// runs next is drawn at random, so that a barrier that is missing in the kernels shows as a wrong result.

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

struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    int thread, block;
    bool done = false;
};
struct Barrier { int arrived = 0; long generation = 0; };

static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static Fiber* current;
static std::function<void()> body;

static void give_way() { swapcontext(&current->context, &scheduler); }

static void wait_at(Barrier& barrier, int count) {
    const long generation = barrier.generation;
    if (++barrier.arrived == count) {
        barrier.arrived = 0;
        barrier.generation++;
    } else {
        while (barrier.generation == generation) give_way();
    }
}

static void enter() {
    body();
    current->done = true;
    swapcontext(&current->context, &scheduler);
}

// Runs `kernel` in blocks × threads fibers until all are done.
static void run_fibers(int blocks, int threads, unsigned seed, std::function<void()> kernel) {
    body = kernel;
    fibers = std::vector<Fiber>(blocks * threads);
    for (int k = 0; k < blocks * threads; k++) {
        Fiber& fiber = fibers[k];
        fiber.thread = k % threads;
        fiber.block = k / threads;
        fiber.stack = std::make_unique<char[]>(1 << 16);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = 1 << 16;
        fiber.context.uc_link = &scheduler;
        makecontext(&fiber.context, enter, 0);
    }
    std::mt19937 random(seed);
    std::vector<int> waiting(fibers.size());
    for (size_t k = 0; k < waiting.size(); k++) waiting[k] = (int)k;
    while (!waiting.empty()) {
        for (size_t k = waiting.size() - 1; k > 0; k--) std::swap(waiting[k], waiting[random() % (k + 1)]);
        std::vector<int> next;
        for (int k : waiting) {
            current = &fibers[k];
            threadIdx.x = current->thread;
            if (blocks > 1) blockIdx.x = current->block;
            swapcontext(&scheduler, &current->context);
            if (!current->done) next.push_back(k);
        }
        waiting.swap(next);
    }
}
