// Threads that work together: WIDTH lanes of a warp that share a row or a set, the threads of a block, the blocks of a
// game. Tests that run the kernels on a CPU define their own.

#ifndef ON_HOST

__device__ __forceinline__ int2 load(const int2* at) { return __ldg(at); }
__device__ __forceinline__ int load(const int* at) { return __ldg(at); }
__device__ __forceinline__ unsigned load(const unsigned* at) { return __ldg(at); }

template <int WIDTH>
__device__ __forceinline__ unsigned group_mask() {
    if constexpr (WIDTH == 32) return 0xffffffffu;
    else return ((1u << WIDTH) - 1u) << (threadIdx.x & 31u & ~(WIDTH - 1u));
}

template <int WIDTH>
__device__ __forceinline__ real group_sum(real x) {
    const unsigned mask = group_mask<WIDTH>();
#pragma unroll
    for (int offset = WIDTH / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(mask, x, offset, WIDTH);
    return x;
}

template <int WIDTH>
__device__ __forceinline__ real group_max(real x) {
    const unsigned mask = group_mask<WIDTH>();
#pragma unroll
    for (int offset = WIDTH / 2; offset > 0; offset /= 2) {
        const real other = __shfl_xor_sync(mask, x, offset, WIDTH);
        x = other > x ? other : x;
    }
    return x;
}

// A barrier between all blocks of a game. The fence also publishes what other threads of the block wrote before the
// __syncthreads; the acquire makes the block's later loads see what the other blocks published. The launch is
// cooperative, so all blocks are running and the wait ends.
__device__ __forceinline__ void meet(unsigned* arrived, unsigned target, int blocks) {
    __syncthreads();
    if (blocks == 1) return;
    if (threadIdx.x == 0) {
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
        unsigned seen;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
        } while (seen < target);
    }
    __syncthreads();
}

#define SYNC_BLOCK() __syncthreads()
#define SHARED_BY_BLOCK(type, name) __shared__ type name
extern __shared__ __align__(16) unsigned char shared_space[];  // sized by the launch

#endif  // ON_HOST
