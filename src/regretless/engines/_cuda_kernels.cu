// CFR over the sequence form of a two-player game, for one GPU.
//
// One iteration updates each player in turn (or both at once). For the player who is updated:
//
//   rows   product(s) = sum of value * plan of the other player, over the entries of row s of the payoff matrix
//   up     deepest level first, in each information set:
//              q(s)  = product(s) + sum of worth over the sets below s
//              worth = sum of strategy(s) * q(s)
//              regret, average and next strategy by the seven weights of the iteration
//   down   root first: plan(s) = plan(sequence above) * strategy(s)
//
// `solve` runs all iterations of a schedule in one launch. A barrier between thread blocks costs about a microsecond, as
// much as the arithmetic of a small game, so each block owns whole subtrees ("parts") and sweeps them with barriers of
// its own; the few sets above them (the "top", part 0) every block computes for itself, in its own copy. Blocks meet
// once before the top is swept and once before the next product. The copies stay equal to the last bit, because all
// blocks do the same operations in the same order. No sum uses atomics: results repeat exactly.
//
// `level_rows`, `level_up`, `level_down` and `tick` are the same steps as one launch each, over the whole device, for
// games too large or too deep for `solve`; a recorded graph strings them together.
//
// Compile-time choices: REAL, and for each player LANES_i (threads that share an information set) and ROW_LANES_i
// (threads that share a row); PACKED says that an entry holds column and value in 32 bits.

#ifndef REAL
#define REAL float
#endif
#ifndef LANES_0
#define LANES_0 4
#endif
#ifndef LANES_1
#define LANES_1 4
#endif
#ifndef ROW_LANES_0
#define ROW_LANES_0 4
#endif
#ifndef ROW_LANES_1
#define ROW_LANES_1 4
#endif
#ifndef PACKED
#define PACKED 1
#endif
#ifndef THREADS
#define THREADS 1024
#endif
#ifndef MAX_LEVELS
#define MAX_LEVELS 64
#endif

typedef REAL real;

// What a kernel knows of one player. Every member takes 8 bytes: the host fills the struct as one array of integers.
// S sequences, I information sets, T sequences and U sets of the top, B blocks.
struct Player {
    const int* first;        // [I+1]      sequences of set i are first[i] : first[i+1]
    const int* parent;       // [S]        sequence before this one
    const int2* children;    // [S]        sets below: a slice of sets, or for the top a slice of top_child
    const int* top_child;    // [...]
    const int* level;        // [B+1, levels+1]  slices of sets, by part and level
    const int* part_levels;  // [B+1]      how many levels a part has
    const int* row_bounds;   // [B, 3]     rows of block b: long ones [0] : [1], short ones [1] : [2]
    const int2* row;         // [rows+1]   first entry, and the sequence whose row it is
    const unsigned* entry;   // [entries]  column; with PACKED, the number of its value in the high bits
    const real* value;       // [entries]  or, with PACKED, [values]
    real* regret;            // [S + (B-1) T]  the canonical array, then the copies of blocks 1, 2, ...
    real* average;           //            likewise
    real* strategy;          //            likewise
    real* plan;              //            likewise
    real* q;                 //            likewise
    real* product;           // [S]        stays 0 where a row has no entries
    real* worth;             // [I + (B-1) U]
    real* other_strategy;    // what `evaluate` looks at in place of strategy and plan
    real* other_plan;
    long long sequences;       // S
    long long sets;            // I
    long long top_sequences;   // T, at least 1: the empty sequence
    long long top_sets;        // U
    long long levels;
    long long values;          // how many values a game has
    long long sequence_stride; // from one game of a batch to the next, in arrays over sequences
    long long product_stride;
    long long set_stride;
    long long column_bits;     // bits of an entry that hold the column
};

struct Weights {
    real positive_discount, negative_discount, floor, average_decay, average_weight, prediction, prediction_discount;
};

// --- groups of threads ------------------------------------------------------------------------------------------

#ifndef ON_HOST  // the tests compile this file for a CPU and bring their own

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

// All blocks of a game wait for each other. The fence also publishes what other threads of the block wrote before the
// __syncthreads; the acquire makes the block's later loads see what the other blocks published. The launch is
// cooperative, so every block is running and the wait ends.
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
extern __shared__ __align__(16) unsigned char shared_space[];  // as much as the launch asks for

#endif  // ON_HOST

// --- steps --------------------------------------------------------------------------------------------------------

template <int WIDTH>
__device__ __forceinline__ void multiply_rows(const Player& me, const real* values, const real* plan, int begin,
                                              int end, int thread, int threads) {
    const int lane = thread & (WIDTH - 1);
    [[maybe_unused]] const int bits = (int)me.column_bits;
    [[maybe_unused]] const unsigned columns = bits < 32 ? (1u << bits) - 1u : 0xffffffffu;
    for (int r = begin + thread / WIDTH; r < end; r += threads / WIDTH) {
        const int2 here = load(me.row + r);
        const int last = load(me.row + r + 1).x;
        real sum = 0;
#pragma unroll 4
        for (int e = here.x + lane; e < last; e += WIDTH) {
            const unsigned entry = load(me.entry + e);
#if PACKED
            sum += values[entry >> bits] * plan[entry & columns];
#else
            sum += values[e] * plan[entry];
#endif
        }
        sum = group_sum<WIDTH>(sum);
        if (lane == 0) me.product[here.y] = sum;
    }
}

// A set's actions are shared by WIDTH threads. `copy` and `set_copy` say where this block's copy of the top begins.
template <bool TOP>
__device__ __forceinline__ real following(const Player& me, int2 below, long long set_copy) {
    real sum = 0;
    for (int c = below.x; c < below.y; c++) {
        if (TOP) {
            const int set = load(me.top_child + c);
            sum += me.worth[set < me.top_sets ? set_copy + set : set];
        } else {
            sum += me.worth[c];
        }
    }
    return sum;
}

__device__ __forceinline__ real updated(real regret, real fresh, const Weights& w) {
    regret = regret * (regret > 0 ? w.positive_discount : w.negative_discount) + fresh;
    return w.floor != 0 && regret < 0 ? (real)0 : regret;
}

__device__ __forceinline__ real predicted(real regret, real fresh, const Weights& w) {
    const real next = regret * w.prediction_discount + w.prediction * fresh;
    return next > 0 ? next : (real)0;
}

template <int WIDTH, bool TOP>
__device__ __forceinline__ void sweep_up(const Player& me, const Weights& w, int begin, int end, long long copy,
                                         long long set_copy, int thread, int threads) {
    const int lane = thread & (WIDTH - 1);
    for (int i = begin + thread / WIDTH; i < end; i += threads / WIDTH) {
        const int from = load(me.first + i), to = load(me.first + i + 1);
        const long long worth_at = (TOP ? set_copy : 0) + i;
        if (to - from <= WIDTH) {  // one action a thread: all of it stays in registers, all loads start at once
            const int s = from + lane;
            const long long k = (TOP ? copy : 0) + s;
            const bool live = s < to;
            real q = 0, strategy = 0, regret = 0, average = 0, plan = 0;
            if (live) {
                const int2 below = load(me.children + s);
                q = me.product[s];
                strategy = me.strategy[k];
                regret = me.regret[k];
                average = me.average[k];
                plan = me.plan[k];
                q += following<TOP>(me, below, set_copy);
            }
            const real worth = group_sum<WIDTH>(strategy * q);
            const real fresh = q - worth;
            regret = updated(regret, fresh, w);
            const real next = live ? predicted(regret, fresh, w) : (real)0;
            const real total = group_sum<WIDTH>(next);
            if (live) {
                me.regret[k] = regret;
                me.average[k] = average * w.average_decay + w.average_weight * plan;
                me.strategy[k] = total > 0 ? next / total : (real)1 / (real)(to - from);
            }
            if (lane == 0) me.worth[worth_at] = worth;
            continue;
        }
        real worth = 0;
        for (int s = from + lane; s < to; s += WIDTH) {
            const long long k = (TOP ? copy : 0) + s;
            const real q = me.product[s] + following<TOP>(me, load(me.children + s), set_copy);
            me.q[k] = q;
            worth += me.strategy[k] * q;
        }
        worth = group_sum<WIDTH>(worth);
        real total = 0;
        for (int s = from + lane; s < to; s += WIDTH) {
            const long long k = (TOP ? copy : 0) + s;
            const real fresh = me.q[k] - worth;
            const real regret = updated(me.regret[k], fresh, w);
            const real next = predicted(regret, fresh, w);
            me.regret[k] = regret;
            me.average[k] = me.average[k] * w.average_decay + w.average_weight * me.plan[k];
            me.strategy[k] = next;
            total += next;
        }
        total = group_sum<WIDTH>(total);
        for (int s = from + lane; s < to; s += WIDTH) {
            const long long k = (TOP ? copy : 0) + s;
            me.strategy[k] = total > 0 ? me.strategy[k] / total : (real)1 / (real)(to - from);
        }
        if (lane == 0) me.worth[worth_at] = worth;
    }
}

// The same sweep for a best response: a set is worth its best action.
template <int WIDTH, bool TOP>
__device__ __forceinline__ void sweep_up_best(const Player& me, int begin, int end, long long set_copy, int thread,
                                              int threads) {
    const int lane = thread & (WIDTH - 1);
    for (int i = begin + thread / WIDTH; i < end; i += threads / WIDTH) {
        const int from = load(me.first + i), to = load(me.first + i + 1);
        real best = (real)-1e30;
        for (int s = from + lane; s < to; s += WIDTH) {
            const real q = me.product[s] + following<TOP>(me, load(me.children + s), set_copy);
            best = q > best ? q : best;
        }
        best = group_max<WIDTH>(best);
        if (lane == 0) me.worth[(TOP ? set_copy : 0) + i] = best;
    }
}

template <bool TOP>
__device__ __forceinline__ void sweep_down(const Player& me, int begin, int end, long long copy, int thread,
                                           int threads) {
    for (int s = begin + thread; s < end; s += threads) {
        const int above = load(me.parent + s);
        if (TOP) me.plan[copy + s] = me.plan[copy + above] * me.strategy[copy + s];
        else me.plan[s] = me.plan[above < me.top_sequences ? copy + above : above] * me.strategy[s];
    }
}

// `source`, or uniform where it is 0, normalised over each set: the strategy that `evaluate` looks at.
template <bool TOP>
__device__ __forceinline__ void normalise(const Player& me, const real* source, int begin, int end, long long copy,
                                          int thread, int threads) {
    for (int i = begin + thread; i < end; i += threads) {
        const int from = load(me.first + i), to = load(me.first + i + 1);
        const long long offset = TOP ? copy : 0;
        real total = 0;
        for (int s = from; s < to; s++) total += source[offset + s];
        for (int s = from; s < to; s++)
            me.strategy[offset + s] = total > 0 ? source[offset + s] / total : (real)1 / (real)(to - from);
    }
}

// --- all iterations in one launch -------------------------------------------------------------------------------

// What a block keeps at hand in shared memory: bounds would otherwise be fetched anew after every barrier.
struct Block {
    Player players[2];
    int2 sets[2][2][MAX_LEVELS];       // [player][top or own part][level]
    int2 sequences[2][2][MAX_LEVELS];  // the same slices as sequences
    int depth[2][2];                   // levels of the top and of the own part
    int rows[2][3];
    const real* values[2];
    real weights[2][8];                // of this iteration and the next
    long long copy[2], set_copy[2];    // where the copy of the top begins
};

// Moves an array into shared memory and points at it there; `settle` writes it back.
__device__ __forceinline__ real* carry(real*& space, real* from, long long count, int thread, int threads) {
    real* to = space;
    space += count;
    for (long long k = thread; k < count; k += threads) to[k] = from[k];
    return to;
}

__device__ __forceinline__ void settle(real* to, const real* from, long long count, int thread, int threads) {
    for (long long k = thread; k < count; k += threads) to[k] = from[k];
}

// Fills `here` for one player. With `carried`, a block that has the game to itself keeps its arrays in shared memory.
__device__ __forceinline__ void settle_in(Block& here, int p, const Player* given, int game, int block, int blocks,
                                          int carried, real*& space, int thread, int threads) {
    Player& me = here.players[p];
    if (thread == 0) {
        me = given[p];
        const long long step = game * me.sequence_stride;
        me.regret += step;
        me.average += step;
        me.strategy += step;
        me.plan += step;
        me.q += step;
        me.other_strategy += step;
        me.other_plan += step;
        me.product += game * me.product_stride;
        me.worth += game * me.set_stride;
        me.value += game * me.values;
        here.copy[p] = block == 0 ? 0 : me.sequences + (block - 1) * me.top_sequences;
        here.set_copy[p] = block == 0 ? 0 : me.sets + (block - 1) * me.top_sets;
        for (int part = 0; part < 2; part++) {
            const int row = part == 0 ? 0 : block + 1;
            here.depth[p][part] = me.part_levels[row];
            for (int l = 0; l < me.part_levels[row]; l++) {
                const int* bounds = me.level + row * (me.levels + 1) + l;
                here.sets[p][part][l] = make_int2(bounds[0], bounds[1]);
                here.sequences[p][part][l] = make_int2(me.first[bounds[0]], me.first[bounds[1]]);
            }
        }
        for (int k = 0; k < 3; k++) here.rows[p][k] = me.row_bounds[block * 3 + k];
        here.values[p] = me.value;
    }
    SYNC_BLOCK();
#if PACKED
    const real* table = here.players[p].value;
    real* values = carry(space, (real*)table, me.values, thread, threads);
    SYNC_BLOCK();
    if (thread == 0) here.values[p] = values;
#endif
    if (carried) {
        real* plan = carry(space, me.plan, me.sequences, thread, threads);
        real* strategy = carry(space, me.strategy, me.sequences, thread, threads);
        real* regret = carry(space, me.regret, me.sequences, thread, threads);
        real* average = carry(space, me.average, me.sequences, thread, threads);
        real* product = carry(space, me.product, me.sequences, thread, threads);
        real* worth = carry(space, me.worth, me.sets, thread, threads);
        SYNC_BLOCK();
        if (thread == 0) {
            me.plan = plan;
            me.strategy = strategy;
            me.regret = regret;
            me.average = average;
            me.product = product;
            me.worth = worth;
        }
    }
    SYNC_BLOCK();
}

template <int P>
__device__ __forceinline__ void rows_of(Block& here, int thread, int threads) {
    constexpr int WIDTH = P == 0 ? ROW_LANES_0 : ROW_LANES_1;
    const real* plan = here.players[1 - P].plan;
    multiply_rows<32>(here.players[P], here.values[P], plan, here.rows[P][0], here.rows[P][1], thread, threads);
    multiply_rows<WIDTH>(here.players[P], here.values[P], plan, here.rows[P][1], here.rows[P][2], thread, threads);
}

template <int P, bool TOP, bool BEST>
__device__ __forceinline__ void up_level(Block& here, const Weights& w, int level, int thread, int threads) {
    constexpr int WIDTH = P == 0 ? LANES_0 : LANES_1;
    if (level >= here.depth[P][TOP ? 0 : 1]) return;
    const int2 sets = here.sets[P][TOP ? 0 : 1][level];
    if (BEST) sweep_up_best<WIDTH, TOP>(here.players[P], sets.x, sets.y, here.set_copy[P], thread, threads);
    else sweep_up<WIDTH, TOP>(here.players[P], w, sets.x, sets.y, here.copy[P], here.set_copy[P], thread, threads);
}

template <int P, bool TOP>
__device__ __forceinline__ void down_level(Block& here, int level, int thread, int threads) {
    if (level >= here.depth[P][TOP ? 0 : 1]) return;
    const int2 sequences = here.sequences[P][TOP ? 0 : 1][level];
    sweep_down<TOP>(here.players[P], sequences.x, sequences.y, here.copy[P], thread, threads);
}

template <int FROM, int TO>
__device__ __forceinline__ int deepest(const Block& here, int part) {
    int depth = 0;
    for (int p = FROM; p < TO; p++) depth = here.depth[p][part] > depth ? here.depth[p][part] : depth;
    return depth;
}

template <int FROM, int TO, bool TOP, bool BEST>
__device__ __forceinline__ void up(Block& here, const Weights& w, int thread, int threads) {
    for (int level = deepest<FROM, TO>(here, TOP ? 0 : 1) - 1; level >= 0; level--) {
        if (FROM == 0) up_level<0, TOP, BEST>(here, w, level, thread, threads);
        if (TO == 2) up_level<1, TOP, BEST>(here, w, level, thread, threads);
        SYNC_BLOCK();
    }
}

template <int FROM, int TO, bool TOP>
__device__ __forceinline__ void down(Block& here, int thread, int threads) {
    const int depth = deepest<FROM, TO>(here, TOP ? 0 : 1);
    for (int level = 0; level < depth; level++) {
        if (FROM == 0) down_level<0, TOP>(here, level, thread, threads);
        if (TO == 2) down_level<1, TOP>(here, level, thread, threads);
        SYNC_BLOCK();
    }
}

// Updates players FROM .. TO-1 against what is played now.
template <int FROM, int TO>
__device__ __forceinline__ void turn(Block& here, const Weights& w, unsigned* arrived, unsigned& target, int blocks,
                                     int thread, int threads) {
    if (FROM == 0) rows_of<0>(here, thread, threads);
    if (TO == 2) rows_of<1>(here, thread, threads);
    SYNC_BLOCK();
    up<FROM, TO, false, false>(here, w, thread, threads);
    // Updating both at once, no block may change a plan while another still multiplies by it.
    if (TO - FROM == 2 || deepest<FROM, TO>(here, 0) > 0) meet(arrived, target += blocks, blocks);
    up<FROM, TO, true, false>(here, w, thread, threads);
    down<FROM, TO, true>(here, thread, threads);
    down<FROM, TO, false>(here, thread, threads);
    meet(arrived, target += blocks, blocks);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
solve(const Player* given, const double* schedule, int iterations, int simultaneous, int blocks, int carried,
      unsigned* arrived) {
    SHARED_BY_BLOCK(Block, here);
    const int thread = threadIdx.x, threads = blockDim.x;
    const int game = blockIdx.x / blocks, block = blockIdx.x % blocks;
    real* space = (real*)shared_space;
    arrived += game;
    unsigned target = 0;
    settle_in(here, 0, given, game, block, blocks, carried, space, thread, threads);
    settle_in(here, 1, given, game, block, blocks, carried, space, thread, threads);
    if (thread < 7) here.weights[0][thread] = (real)schedule[thread];
    SYNC_BLOCK();
    for (int t = 0; t < iterations; t++) {
        if (thread < 7 && t + 1 < iterations) here.weights[(t + 1) & 1][thread] = (real)schedule[(t + 1) * 7 + thread];
        const real* now = here.weights[t & 1];
        const Weights w = {now[0], now[1], now[2], now[3], now[4], now[5], now[6]};
        if (simultaneous) {
            turn<0, 2>(here, w, arrived, target, blocks, thread, threads);
        } else {
            turn<0, 1>(here, w, arrived, target, blocks, thread, threads);
            turn<1, 2>(here, w, arrived, target, blocks, thread, threads);
        }
    }
    if (carried) {
        for (int p = 0; p < 2; p++) {
            const Player& me = here.players[p];
            const long long step = game * me.sequence_stride;
            settle(given[p].plan + step, me.plan, me.sequences, thread, threads);
            settle(given[p].strategy + step, me.strategy, me.sequences, thread, threads);
            settle(given[p].regret + step, me.regret, me.sequences, thread, threads);
            settle(given[p].average + step, me.average, me.sequences, thread, threads);
        }
    }
}

// Plans, products and best responses of the average strategy, or of `other_strategy` if `average` is 0. Afterwards
// other_plan, product and worth hold what the host sums up.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
evaluate(const Player* given, int average, int blocks, unsigned* arrived) {
    SHARED_BY_BLOCK(Block, here);
    const int thread = threadIdx.x, threads = blockDim.x;
    const int game = blockIdx.x / blocks, block = blockIdx.x % blocks;
    real* space = (real*)shared_space;
    arrived += game;
    unsigned target = 0;
    for (int p = 0; p < 2; p++) {
        settle_in(here, p, given, game, block, blocks, 0, space, thread, threads);
        if (thread == 0) {
            here.players[p].strategy = here.players[p].other_strategy;
            here.players[p].plan = here.players[p].other_plan;
        }
        SYNC_BLOCK();
        const Player& me = here.players[p];
        const real* source = average ? me.average : me.strategy;
        const int top = here.depth[p][0], own = here.depth[p][1];
        if (top) normalise<true>(me, source, 0, here.sets[p][0][top - 1].y, here.copy[p], thread, threads);
        if (own) normalise<false>(me, source, here.sets[p][1][0].x, here.sets[p][1][own - 1].y, 0, thread, threads);
    }
    SYNC_BLOCK();
    const Weights unused = {};
    down<0, 2, true>(here, thread, threads);
    down<0, 2, false>(here, thread, threads);
    meet(arrived, target += blocks, blocks);
    rows_of<0>(here, thread, threads);
    rows_of<1>(here, thread, threads);
    SYNC_BLOCK();
    up<0, 2, false, true>(here, unused, thread, threads);
    meet(arrived, target += blocks, blocks);
    up<0, 2, true, true>(here, unused, thread, threads);
}

// --- one step a launch --------------------------------------------------------------------------------------------

__device__ __forceinline__ Player one_player(const Player* given, int player, int evaluating) {
    Player me = given[player];
    if (evaluating) {
        me.strategy = me.other_strategy;
        me.plan = me.other_plan;
    }
    return me;
}

extern "C" __global__ void level_rows(const Player* given, int player, int evaluating) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const Player me = one_player(given, player, evaluating);
    const real* plan = evaluating ? given[1 - player].other_plan : given[1 - player].plan;
    const int* rows = me.row_bounds;
    multiply_rows<32>(me, me.value, plan, rows[0], rows[1], thread, threads);
    if (player == 0) multiply_rows<ROW_LANES_0>(me, me.value, plan, rows[1], rows[2], thread, threads);
    else multiply_rows<ROW_LANES_1>(me, me.value, plan, rows[1], rows[2], thread, threads);
}

extern "C" __global__ void level_up(const Player* given, int player, int begin, int end, const double* schedule,
                                    const int* next) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const Player me = given[player];
    const double* now = schedule + 7 * next[0];
    const Weights w = {(real)now[0], (real)now[1], (real)now[2], (real)now[3], (real)now[4], (real)now[5], (real)now[6]};
    if (player == 0) sweep_up<LANES_0, false>(me, w, begin, end, 0, 0, thread, threads);
    else sweep_up<LANES_1, false>(me, w, begin, end, 0, 0, thread, threads);
}

extern "C" __global__ void level_up_best(const Player* given, int player, int begin, int end) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const Player me = one_player(given, player, 1);
    if (player == 0) sweep_up_best<LANES_0, false>(me, begin, end, 0, thread, threads);
    else sweep_up_best<LANES_1, false>(me, begin, end, 0, thread, threads);
}

extern "C" __global__ void level_down(const Player* given, int player, int begin, int end, int evaluating) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    sweep_down<false>(one_player(given, player, evaluating), begin, end, 0, thread, threads);
}

extern "C" __global__ void level_normalise(const Player* given, int player, int average) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const Player me = one_player(given, player, 1);
    normalise<false>(me, average ? me.average : me.strategy, 0, (int)me.sets, 0, thread, threads);
}

// The next iteration reads the next row of the schedule.
extern "C" __global__ void tick(int* next) { next[0] += 1; }
