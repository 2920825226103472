// Runs the CUDA kernels of the public form on a CPU, to test their logic where there is no GPU.

#include "blocks.hpp"

struct float4 { float x, y, z, w; };
struct uint2 { unsigned x, y; };
struct int4 { int x, y, z, w; };
template <typename T> static T* settled(T* at) { return at; }
template <typename T> static T load_once(const T* at) { return *at; }
template <typename T> static void store_once(T* at, T numbers) { *at = numbers; }
static void copy_later(float* to, const float* from) { *to = *from; }
static void wait_for_copies() {}
static void prefetch_l2(const void*, int) {}

static float from_half(unsigned short bits) {
    _Float16 half;
    std::memcpy(&half, &bits, 2);
    return (float)half;
}
static unsigned short to_half(float number) {
    const _Float16 half = (_Float16)number;
    unsigned short bits;
    std::memcpy(&bits, &half, 2);
    return bits;
}
static int bits_of(float number) {
    int bits;
    std::memcpy(&bits, &number, 4);
    return bits;
}
static float float_of(int bits) {
    float number;
    std::memcpy(&number, &bits, 4);
    return number;
}

#include KERNELS

#define LAUNCH(kernel, ...) launch(across, down, threads, shared, [=] { kernel(__VA_ARGS__); })
#define AT(type, index) (*(type*)arguments[index])

extern "C" bool run(const char* name, int across, int down, int threads, size_t shared, void** arguments) {
    const std::string kernel = name;
    const Job* jobs = AT(const Job*, 0);
    if (kernel == "hold") return LAUNCH(hold, jobs, AT(int, 1));
    if (kernel == "make_lists") return LAUNCH(make_lists, jobs, AT(const int*, 1));
    const Item* items = AT(const Item*, 1);
    if (kernel == "sums") return LAUNCH(sums, jobs, items);
    if (kernel == "leaves") return LAUNCH(leaves, jobs, items, AT(int, 2), AT(int, 3));
    if (kernel == "terminals") return LAUNCH(terminals, jobs, items, AT(const Rooms*, 2), AT(char*, 3), AT(int, 4));
#define WALK(which) if (kernel == #which) return \
    LAUNCH(which, jobs, items, AT(int, 2), AT(int, 3), AT(int, 4), AT(const Step*, 5), AT(int, 6));
    WALK(learn_down) WALK(last_down) WALK(mean_down) WALK(learn_up) WALK(last_up) WALK(value_up)
#define LEVEL(which) if (kernel == #which) return \
    LAUNCH(which, jobs, items, AT(int, 2), AT(int, 3), AT(int, 4), AT(const Step*, 5), AT(int, 6), AT(int, 7));
    LEVEL(levels_learn_down) LEVEL(levels_last_down) LEVEL(levels_mean_down)
    LEVEL(levels_learn_up) LEVEL(levels_last_up) LEVEL(levels_value_up)
    std::abort();
}
