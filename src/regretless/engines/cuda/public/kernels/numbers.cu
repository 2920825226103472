// Stored numbers: 32-bit floats, or halves (regrets) and integers (averages) of 16 bits. `formats.py` has the units.
//
// A thread works on a slice of HANDS adjacent hands, whose numbers of an action are adjacent too. Rounding to 16 bits is
// stochastic; it is the same as on a CPU, so that both solve alike.

#ifndef ON_HOST
#define SYNC_BLOCK() __syncthreads()
extern __shared__ __align__(16) unsigned char shared_space[];  // sized by the launch

__device__ __forceinline__ float from_half(unsigned short bits) {
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
    return number;
}
// Two halves; what is too large becomes the largest.
__device__ __forceinline__ unsigned to_halves(float low, float high) {
    unsigned bits;
    asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}
// The integer below, from 0 to 65535.
__device__ __forceinline__ unsigned short to_integer(float number) {
    unsigned short integer;
    asm("cvt.rzi.u16.f32 %0, %1;" : "=h"(integer) : "f"(number));
    return integer;
}
// About 1 / number, which is at least 2^-126 and at most 2^126.
__device__ __forceinline__ float inverse_of(float number) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(number));
    return inverse;
}
// A product that the compiler never fuses with an addition.
__device__ __forceinline__ float product_of(float one, float two) { return __fmul_rn(one, two); }
// Loads the left operand of `multiply_add`, a tile of sixteen rows of sixteen halves (`products.cu`). Lane i passes the address
// of row i % 16, the upper half of the lanes that of its ninth half; FROM halves are added to every address.
template <int FROM> __device__ __forceinline__ void load_tile(unsigned (&rows)[4], const unsigned short* at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(rows[0]), "=r"(rows[1]), "=r"(rows[2]), "=r"(rows[3])
                 : "r"((unsigned)__cvta_generic_to_shared(at)), "n"(2 * FROM));
}
__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&rows)[4], const unsigned (&columns)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(columns[0]), "r"(columns[1]));
}
__device__ __forceinline__ int bits_of(float number) { return __float_as_int(number); }
__device__ __forceinline__ float float_of(int bits) { return __int_as_float(bits); }
// An address in shared memory that compilers keep; otherwise they compute it again at every use.
template <typename Number> __device__ __forceinline__ Number* pin_shared(Number* at) {
    unsigned address = (unsigned)__cvta_generic_to_shared(at);
    asm("" : "+r"(address));
    return (Number*)__cvta_shared_to_generic(address);
}
// The same for an address in device memory.
template <typename Number> __device__ __forceinline__ Number* pin_global(Number* at) {
    size_t address = __cvta_generic_to_global(at);
    asm("" : "+l"(address));
    return (Number*)__cvta_global_to_generic(address);
}
// Numbers that are read and written once per walk must not push others out of the caches.
__device__ __forceinline__ float4 load_once(const float4* at) { return __ldcs(at); }
__device__ __forceinline__ uint2 load_once(const uint2* at) { return __ldcs(at); }
__device__ __forceinline__ void store_once(float4* at, float4 numbers) { __stcs(at, numbers); }
__device__ __forceinline__ void store_once(uint2* at, uint2 numbers) { __stcs(at, numbers); }
// Copies into shared memory without blocking the thread; `wait_for_copies` waits for the thread's own copies.
__device__ __forceinline__ void copy_later(float* to, const float* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
__device__ __forceinline__ void copy_later(int4* to, const int4* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}
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
typedef float4 AllAverages;  // of a slice
#else
typedef unsigned short Regret;   // the bits of a half
typedef unsigned short Average;  // 65535ths of the total weight
typedef uint2 AllAverages;
#endif

const int FOUR = 4, HANDS = FOUR;
#define EACH(j) _Pragma("unroll") for (int j = 0; j < FOUR; j++)
#define EACH_HAND(j) _Pragma("unroll") for (int j = 0; j < HANDS; j++)

// A number for each of two columns.
template <typename Number> struct __align__(2 * sizeof(Number)) Two {
    Number of[2];
    __device__ __forceinline__ Number& operator[](int i) { return of[i]; }
    __device__ __forceinline__ const Number& operator[](int i) const { return of[i]; }
};
#define BOTH(i) _Pragma("unroll") for (int i = 0; i < 2; i++)

// Four numbers that are read at once.
template <typename Number> struct __align__(FOUR * sizeof(Number)) Four {
    Number of[FOUR];
    __device__ __forceinline__ Number& operator[](int j) { return of[j]; }
    __device__ __forceinline__ const Number& operator[](int j) const { return of[j]; }
};

// A number for each hand of a slice.
template <typename Number> struct __align__(HANDS * sizeof(Number)) Slice {
    Number of[HANDS];
    __device__ __forceinline__ Number& operator[](int j) { return of[j]; }
    __device__ __forceinline__ const Number& operator[](int j) const { return of[j]; }
};
typedef Slice<float> Hands;
typedef Slice<unsigned> Chances;

__device__ __forceinline__ Slice<Regret> load_regrets(const Regret* at) { return *(const Slice<Regret>*)at; }
__device__ __forceinline__ Slice<Average> load_averages(const Average* at) {
    const AllAverages whole = load_once((const AllAverages*)at);
    return *(const Slice<Average>*)&whole;
}

__device__ __forceinline__ Hands regrets_of(const Slice<Regret>& stored) {
    Hands result;
#if STORAGE == 32
    EACH_HAND(j) result[j] = stored[j];
#else
    EACH_HAND(j) result[j] = from_half(stored[j]);
#endif
    return result;
}
// Rows of reach: floats, or halves.
template <typename Number> struct Stored {
    static __device__ __forceinline__ Hands read(const float* at) { return *(const Hands*)at; }
    static __device__ __forceinline__ Hands write(float* at, const Hands& numbers) { return *(Hands*)at = numbers; }
};
template <> struct Stored<unsigned short> {
    static __device__ __forceinline__ Hands read(const unsigned short* at) {
        const Slice<unsigned short> stored = *(const Slice<unsigned short>*)at;
        Hands result;
        EACH_HAND(j) result[j] = from_half(stored[j]);
        return result;
    }
    // Returns what was stored.
    static __device__ __forceinline__ Hands write(unsigned short* at, const Hands& numbers) {
        Slice<unsigned short> stored;
        unsigned* const pairs = (unsigned*)&stored;
#pragma unroll
        for (int i = 0; i < HANDS / 2; i++) pairs[i] = to_halves(numbers[2 * i], numbers[2 * i + 1]);
        *(Slice<unsigned short>*)at = stored;
        Hands result;
        EACH_HAND(j) result[j] = from_half(stored[j]);
        return result;
    }
};

__device__ __forceinline__ Hands averages_of(const Slice<Average>& stored) {
    Hands result;
    EACH_HAND(j) result[j] = (float)stored[j];
    return result;
}

__device__ __forceinline__ Hands positive_of(Hands numbers) {
    EACH_HAND(j) numbers[j] = fmaxf(numbers[j], 0.0f);
    return numbers;
}

const float TINY_REGRET = 0x1p-60f;  // stands for a regret of 0, whose bits cannot be moved down

// A 32-bit number that looks random, from what identifies an action in an iteration.
__device__ __forceinline__ unsigned hashed(long long seed) {
    const unsigned number = (unsigned)((unsigned long long)seed * 0x9E3779B97F4A7C15ull);
    return (number ^ (number >> 15)) * 0x85EBCA6Bu;
}

__device__ __forceinline__ void store_regrets(Regret* at, const Hands& values, unsigned chance, const Chances& own) {
#if STORAGE == 32
    *(Hands*)at = values;
#else
    Hands moved;  // up to half a step of a half, either way
    EACH_HAND(j) moved[j] = float_of(bits_of(values[j] + TINY_REGRET) + ((int)(chance + own[j]) >> 19));
    Slice<Regret> stored;
#pragma unroll
    for (int j = 0; j < HANDS; j += 2) *(unsigned*)&stored[j] = to_halves(moved[j], moved[j + 1]);
    *(Slice<Regret>*)at = stored;
#endif
}

// Averages are stored of numbers that are this too small.
const float TOO_SMALL = STORAGE == 32 ? 0.0f : 1.0f;

__device__ __forceinline__ void store_averages(Average* at, const Hands& values, unsigned chance, const Chances& own) {
    Slice<Average> stored;
#if STORAGE == 32
    EACH_HAND(j) stored[j] = values[j];
#else
    EACH_HAND(j) {
        const float ahead = float_of((int)((chance + own[j]) >> 9 | 0x3F800000u));  // from 1 to 2
        stored[j] = to_integer(values[j] + ahead);
    }
#endif
    store_once((AllAverages*)at, *(const AllAverages*)&stored);
}
