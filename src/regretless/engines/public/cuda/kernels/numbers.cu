// Stored numbers: 32-bit floats, or halves (regrets) and integers (averages) of 16 bits. `formats.py` has the units.
//
// A thread works on four adjacent hands, whose numbers of an action are adjacent too. Rounding to 16 bits is stochastic;
// it is the same as on a CPU, so that both solve alike.

#ifndef ON_HOST
#define SYNC_BLOCK() __syncthreads()
extern __shared__ __align__(16) unsigned char shared_space[];  // sized by the launch

__device__ __forceinline__ float from_half(unsigned short bits) {
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
    return number;
}
__device__ __forceinline__ unsigned short to_half(float number) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(number));
    return bits;
}
__device__ __forceinline__ int bits_of(float number) { return __float_as_int(number); }
__device__ __forceinline__ float float_of(int bits) { return __int_as_float(bits); }
// A place in shared memory that compilers take as it is; else they add up all it consists of at every use.
template <typename Number> __device__ __forceinline__ Number* settled(Number* at) {
    unsigned place = (unsigned)__cvta_generic_to_shared(at);
    asm("" : "+r"(place));
    return (Number*)__cvta_shared_to_generic(place);
}
// Numbers that are read and written once per walk must not push others out of the caches.
__device__ __forceinline__ float4 load_once(const float4* at) { return __ldcs(at); }
__device__ __forceinline__ uint2 load_once(const uint2* at) { return __ldcs(at); }
__device__ __forceinline__ void store_once(float4* at, float4 numbers) { __stcs(at, numbers); }
__device__ __forceinline__ void store_once(uint2* at, uint2 numbers) { __stcs(at, numbers); }
// Copies a number into shared memory while the thread goes on; `wait_for_copies` waits for its own.
__device__ __forceinline__ void copy_later(float* to, const float* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
// Prefetches into the L2 cache without waiting; `bytes` and the address are multiples of 16.
__device__ __forceinline__ void prefetch_l2(const void* from, int bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)), "r"(bytes));
#endif
}
// Tables never change while kernels run, so that compilers may read them early.
template <typename Entry> __device__ __forceinline__ Entry load_table(const Entry* at) { return __ldg(at); }
template <typename Entry> __device__ __forceinline__ Entry* load_table(Entry* const* at) {
    return (Entry*)__ldg((const unsigned long long*)at);
}
#endif

#if STORAGE == 32
typedef float Regret;
typedef float Average;
typedef float4 FourAverages;
#else
typedef unsigned short Regret;   // the bits of a half
typedef unsigned short Average;  // 65535ths of the total weight
typedef uint2 FourAverages;
#endif

const int FOUR = 4;
#define EACH(j) _Pragma("unroll") for (int j = 0; j < FOUR; j++)

// A number for each of two columns.
template <typename Number> struct __align__(2 * sizeof(Number)) Two {
    Number of[2];
    __device__ __forceinline__ Number& operator[](int i) { return of[i]; }
    __device__ __forceinline__ const Number& operator[](int i) const { return of[i]; }
};
#define BOTH(i) _Pragma("unroll") for (int i = 0; i < 2; i++)

// A number for each of four hands.
template <typename Number> struct __align__(FOUR * sizeof(Number)) Four {
    Number of[FOUR];
    __device__ __forceinline__ Number& operator[](int j) { return of[j]; }
    __device__ __forceinline__ const Number& operator[](int j) const { return of[j]; }
};
typedef Four<float> Hands;
typedef Four<unsigned> Chances;

__device__ __forceinline__ Hands load_regrets(const Regret* at) {
    const Four<Regret> stored = *(const Four<Regret>*)at;
    Hands found;
#if STORAGE == 32
    EACH(j) found[j] = stored[j];
#else
    EACH(j) found[j] = from_half(stored[j]);
#endif
    return found;
}

__device__ __forceinline__ Hands averages_of(const Four<Average>& stored) {
    Hands found;
    EACH(j) found[j] = (float)stored[j];
    return found;
}

__device__ __forceinline__ Hands load_averages(const Average* at) {
    const FourAverages whole = load_once((const FourAverages*)at);
    return averages_of(*(const Four<Average>*)&whole);
}

// A 32-bit number that looks random, from what identifies an action in an iteration.
__device__ __forceinline__ unsigned hashed(long long seed) {
    const unsigned number = (unsigned)((unsigned long long)seed * 0x9E3779B97F4A7C15ull);
    return (number ^ (number >> 15)) * 0x85EBCA6Bu;
}

__device__ __forceinline__ void store_regrets(Regret* at, const Hands& values, unsigned chance, const Chances& own) {
    Four<Regret> stored;
#if STORAGE == 32
    EACH(j) stored[j] = values[j];
#else
    EACH(j) {
        const float value = fminf(fmaxf(values[j], -65504.0f), 65504.0f);
        // Up to half a step of a half, either way.
        const float moved = float_of(bits_of(value) + ((int)(chance + own[j]) >> 19));
        stored[j] = to_half(value == 0.0f ? value : moved);
    }
#endif
    *(Four<Regret>*)at = stored;
}

__device__ __forceinline__ void store_averages(Average* at, const Hands& values, unsigned chance, const Chances& own) {
    Four<Average> stored;
#if STORAGE == 32
    EACH(j) stored[j] = values[j];
#else
    EACH(j) {
        const float ahead = float_of((int)((chance + own[j]) >> 9 | 0x3F800000u));  // from 1 to 2
        stored[j] = (Average)(int)fminf(fmaxf(values[j] - 1.0f + ahead, 0.0f), 65535.0f);
    }
#endif
    store_once((FourAverages*)at, *(const FourAverages*)&stored);
}
