// Launches of kernels on a CPU. Blocks do not wait for each other, so they run one after another.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "fibers.hpp"

using std::max;
using std::min;

template <typename T> static T load_table(const T* at) { return *at; }

const size_t GUARD = 1 << 14;
static std::vector<char> shared_memory;
static Barrier barrier;
#define __shared__ static  // blocks run one after another

#define SYNC_BLOCK() wait_at(barrier, blockDim.x)
#define shared_space ((unsigned char*)shared_memory.data())

// Whether all blocks stayed within the shared memory they asked for: bytes after it must not change.
static bool launch(int across, int down, int threads, size_t shared, std::function<void()> kernel) {
    bool within = true;
    gridDim = {across, down};
    blockDim.x = threads;
    for (blockIdx.y = 0; blockIdx.y < down; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < across; blockIdx.x++) {
            shared_memory.assign(shared + GUARD, 0x7f);  // a huge number, where a kernel reads what it has not written
            barrier = {};
            run_fibers(1, threads, 1 + blockIdx.x, kernel);
            within &= std::all_of(shared_memory.end() - GUARD, shared_memory.end(), [](char byte) { return byte == 0x7f; });
        }
    return within;
}
