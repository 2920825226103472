// Runs the CUDA kernels of the public form on a CPU, to test their logic where there is no GPU.

#include "blocks.hpp"

struct float4 { float x, y, z, w; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct int4 { int x, y, z, w; };
template <typename T> static T* pin_shared(T* at) { return at; }
template <typename T> static T* pin_global(T* at) { return at; }
template <typename T> static T load_once(const T* at) { return *at; }
template <typename T> static void store_once(T* at, T numbers) { *at = numbers; }
static void copy_later(float* to, const float* from) { *to = *from; }
static void copy_later(int4* to, const int4* from) { *to = *from; }
static void wait_for_copies() {}
static void prefetch_l2(const void*, int) {}

static float from_half(unsigned short bits) {
    _Float16 half;
    std::memcpy(&half, &bits, 2);
    return (float)half;
}
static unsigned to_halves(float low, float high) {
    const auto half = [](float number) { return (_Float16)std::min(std::max(number, -65504.0f), 65504.0f); };
    const _Float16 halves[] = {half(low), half(high)};
    unsigned bits;
    std::memcpy(&bits, halves, 4);
    return bits;
}
static unsigned short to_integer(float number) { return (unsigned short)std::min(std::max(number, 0.0f), 65535.0f); }
static float inverse_of(float number) { return 1.0f / number; }
static float product_of(float one, float two) { return one * two; }
static float half_of(unsigned halves, int which) { return from_half((unsigned short)(halves >> 16 * which)); }

// What lanes of a warp tell each other: all write, and wait for the others before they read and before they write again.
const int LANES_OF_WARP = 32, MAX_WARPS = 32;
static Barrier warps[MAX_WARPS];
template <typename Told> static std::vector<Told> tell(const Told& told) {
    static Told all[MAX_WARPS][LANES_OF_WARP];
    const int warp = threadIdx.x / LANES_OF_WARP;
    all[warp][threadIdx.x % LANES_OF_WARP] = told;
    wait_at(warps[warp], LANES_OF_WARP);
    std::vector<Told> found(all[warp], all[warp] + LANES_OF_WARP);
    wait_at(warps[warp], LANES_OF_WARP);
    return found;
}

template <int FROM> static void load_tile(unsigned (&rows)[4], const unsigned short* at) {
    const std::vector<const unsigned short*> places = tell(at + FROM);
    const int lane = threadIdx.x % LANES_OF_WARP;
    for (int i = 0; i < 4; i++) std::memcpy(&rows[i], places[8 * i + lane / 4] + lane % 4 * 2, 4);
}

struct Operands { unsigned rows[4], columns[2]; };
static void multiply_add(float (&sum)[4], const unsigned (&rows)[4], const unsigned (&columns)[2]) {
    Operands mine;
    std::memcpy(mine.rows, rows, sizeof rows);
    std::memcpy(mine.columns, columns, sizeof columns);
    const std::vector<Operands> all = tell(mine);
    const int lane = threadIdx.x % LANES_OF_WARP;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 16; k++) {
            const Operands& row = all[lane / 4 * 4 + k % 8 / 2];
            const Operands& column = all[(lane % 4 * 2 + i % 2) * 4 + k % 8 / 2];
            sum[i] += half_of(row.rows[k / 8 * 2 + i / 2], k % 2) * half_of(column.columns[k / 8], k % 2);
        }
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
    if (kernel == "make_codes") return LAUNCH(make_codes, jobs, AT(const int*, 1));
    if (kernel == "make_lists") return LAUNCH(make_lists, jobs, AT(const int*, 1));
    const Item* items = AT(const Item*, 1);
    if (kernel == "sums") return LAUNCH(sums, jobs, items);
    if (kernel == "block_sums") return LAUNCH(block_sums, jobs, items);
    if (kernel == "leaves") return LAUNCH(leaves, jobs, items, AT(int, 2), AT(int, 3), AT(int, 4));
    if (kernel == "products") return LAUNCH(products, jobs, items);
    if (kernel == "terminals") return LAUNCH(terminals, jobs, items, AT(const Rooms*, 2), AT(char*, 3), AT(int, 4));
#define WALK(which) if (kernel == #which) return \
    LAUNCH(which, jobs, items, AT(int, 2), AT(int, 3), AT(int, 4), AT(const Step*, 5), AT(int, 6));
    WALK(learn_down) WALK(last_down) WALK(mean_down) WALK(learn_up) WALK(last_up) WALK(value_up)
#define LEVEL(which) if (kernel == #which) return \
    LAUNCH(which, jobs, items, AT(int, 2), AT(int, 3), AT(int, 4), AT(const Step*, 5), AT(int, 6), AT(int, 7));
    LEVEL(levels_learn_down) LEVEL(levels_last_down) LEVEL(levels_mean_down)
    LEVEL(levels_learn_up) LEVEL(levels_last_up) LEVEL(levels_value_up)
#define RELAYED(which) if (kernel == #which) return \
    LAUNCH(which, jobs, items, AT(int, 2), AT(int, 3), AT(const Step*, 4), AT(const Item*, 5), AT(int, 6), \
           AT(const Step*, 7), AT(int, 8), AT(int, 9));
    RELAYED(levels_relay) RELAYED(levels_last_relay)
    std::abort();
}
