// Runs the CUDA kernels of general games on a CPU, to test their logic where there is no GPU.

#include "fibers.hpp"

struct int2 { int x, y; };
static inline int2 make_int2(int x, int y) { return {x, y}; }

struct BlockState {
    std::vector<double> slots;
    std::vector<char> shared, dynamic;
    Barrier all;
    std::vector<Barrier> groups[6];
};

static std::vector<BlockState> block_states;

#define SYNC_BLOCK() wait_at(block_states[current->block].all, blockDim.x)
#define SHARED_BY_BLOCK(type, name) type& name = *(type*)block_states[current->block].shared.data()
#define shared_space (block_states[current->block].dynamic.data())

template <typename T> static T load(const T* at) { return *at; }

template <int WIDTH, typename T, typename Combine> static T group_reduce(T x, Combine combine) {
    BlockState& block = block_states[current->block];
    const int thread = current->thread;
    int kind = 0;
    while ((1 << kind) < WIDTH) kind++;
    Barrier& barrier = block.groups[kind][thread / WIDTH];
    for (int offset = WIDTH / 2; offset > 0; offset /= 2) {
        block.slots[thread] = x;
        wait_at(barrier, WIDTH);
        const T other = (T)block.slots[thread ^ offset];
        wait_at(barrier, WIDTH);
        x = combine(x, other);
    }
    return x;
}
template <int WIDTH> static REAL group_sum(REAL x) {
    return group_reduce<WIDTH>(x, [](REAL a, REAL b) { return a + b; });
}
template <int WIDTH> static REAL group_max(REAL x) {
    return group_reduce<WIDTH>(x, [](REAL a, REAL b) { return b > a ? b : a; });
}

static void meet(unsigned* arrived, unsigned target, int blocks) {
    SYNC_BLOCK();
    if (blocks == 1) return;
    if (current->thread == 0) {
        ++*arrived;
        while (*arrived < target) give_way();
    }
    SYNC_BLOCK();
}

#include KERNELS

static void launch(int blocks, int threads, size_t dynamic, unsigned seed, std::function<void()> kernel) {
    gridDim.x = blocks;
    blockDim.x = threads;
    block_states = std::vector<BlockState>(blocks);
    for (auto& state : block_states) {
        state.slots.resize(threads);
        state.shared.resize(sizeof(Block));
        std::memset(state.shared.data(), 0x7f, sizeof(Block));
        state.dynamic.resize(dynamic + 64);
        for (int kind = 0; kind < 6; kind++) state.groups[kind].resize(threads);
    }
    blockIdx.x = 0;
    run_fibers(blocks, threads, seed, kernel);
}

extern "C" {
void run_solve(int grid, int threads, size_t dynamic, unsigned seed, const Player* given, const Row* schedule,
               int iterations, int simultaneous, int blocks, int carried, unsigned* arrived) {
    launch(grid, threads, dynamic, seed,
           [=] { solve(given, schedule, iterations, simultaneous, blocks, carried, arrived); });
}
void run_evaluate(int grid, int threads, size_t dynamic, unsigned seed, const Player* given, int average, int blocks,
                  unsigned* arrived) {
    launch(grid, threads, dynamic, seed, [=] { evaluate(given, average, blocks, arrived); });
}
void run_level_rows(int grid, int threads, const Player* given, int player, int evaluating) {
    launch(grid, threads, 0, 1, [=] { level_rows(given, player, evaluating); });
}
void run_level_up(int grid, int threads, const Player* given, int player, int begin, int end, const Row* schedule,
                  const int* next) {
    launch(grid, threads, 0, 1, [=] { level_up(given, player, begin, end, schedule, next); });
}
void run_level_down(int grid, int threads, const Player* given, int player, int begin, int end, int evaluating) {
    launch(grid, threads, 0, 1, [=] { level_down(given, player, begin, end, evaluating); });
}
void run_level_up_best(int grid, int threads, const Player* given, int player, int begin, int end) {
    launch(grid, threads, 0, 1, [=] { level_up_best(given, player, begin, end); });
}
void run_level_normalise(int grid, int threads, const Player* given, int player, int average) {
    launch(grid, threads, 0, 1, [=] { level_normalise(given, player, average); });
}
void run_tick(int grid, int threads, int* next) {
    launch(grid, threads, 0, 1, [=] { tick(next); });
}
}
