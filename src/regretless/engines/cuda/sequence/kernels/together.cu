// All iterations of a schedule in one launch.
//
// A barrier between thread blocks costs about a microsecond, as much as the arithmetic of a small game, so each block
// owns whole subtrees ("parts") and sweeps them with barriers of its own; every block computes the few sets above them
// (the "top", part 0) for itself, in its own copy. Blocks synchronise once before the top is swept and once before the
// next product. The copies stay equal to the last bit, because all blocks do the same operations in the same order.

// What a block keeps in shared memory: bounds would otherwise be fetched again after every barrier.
struct Block {
    Player players[2];
    int2 sets[2][2][MAX_LEVELS];       // [player][top or own part][level]
    int2 sequences[2][2][MAX_LEVELS];  // the same slices as sequences
    int depth[2][2];                   // levels of the top and of the own part
    int rows[2][3];
    const real* values[2];
    Weights weights[2];                // of this iteration and the next
    long long copy[2], set_copy[2];    // where the copy of the top begins
};

// Reads a row of the schedule, one number per thread.
__device__ __forceinline__ void load_weights(Weights& to, const Row& from, int thread) {
    if (thread < COLUMNS) ((real*)&to)[thread] = (real)((const double*)&from)[thread];
}

// Copies an array into shared memory and returns where it is; `write_back` writes it back.
__device__ __forceinline__ real* carry(real*& space, real* from, long long count, int thread, int threads) {
    real* to = space;
    space += count;
    for (long long k = thread; k < count; k += threads) to[k] = from[k];
    return to;
}

__device__ __forceinline__ void write_back(real* to, const real* from, long long count, int thread, int threads) {
    for (long long k = thread; k < count; k += threads) to[k] = from[k];
}

// Fills `state` for one player. With `carried`, a single block keeps the game's arrays in shared memory.
__device__ __forceinline__ void set_up_player(Block& state, int p, const Player* all_players, int game, int block,
                                              int blocks, int carried, real*& space, int thread, int threads) {
    Player& me = state.players[p];
    if (thread == 0) {
        me = all_players[p];
        const long long step = game * me.sequence_stride;
        me.regret += step;
        me.average += step;
        me.strategy += step;
        me.plan += step;
        me.q += step;
        me.other_strategy += step;
        me.other_plan += step;
        me.product += game * me.product_stride;
        me.set_value += game * me.set_stride;
        me.value += game * me.values;
        state.copy[p] = block == 0 ? 0 : me.sequences + (block - 1) * me.top_sequences;
        state.set_copy[p] = block == 0 ? 0 : me.sets + (block - 1) * me.top_sets;
        for (int part = 0; part < 2; part++) {
            const int row = part == 0 ? 0 : block + 1;
            state.depth[p][part] = me.part_levels[row];
            for (int l = 0; l < me.part_levels[row]; l++) {
                const int* bounds = me.level + row * (me.levels + 1) + l;
                state.sets[p][part][l] = make_int2(bounds[0], bounds[1]);
                state.sequences[p][part][l] = make_int2(me.first[bounds[0]], me.first[bounds[1]]);
            }
        }
        for (int k = 0; k < 3; k++) state.rows[p][k] = me.row_bounds[block * 3 + k];
        state.values[p] = me.value;
    }
    SYNC_BLOCK();
#if PACKED
    const real* table = state.players[p].value;
    real* values = carry(space, (real*)table, me.values, thread, threads);
    SYNC_BLOCK();
    if (thread == 0) state.values[p] = values;
#endif
    if (carried) {
        real* plan = carry(space, me.plan, me.sequences, thread, threads);
        real* strategy = carry(space, me.strategy, me.sequences, thread, threads);
        real* regret = carry(space, me.regret, me.sequences, thread, threads);
        real* average = carry(space, me.average, me.sequences, thread, threads);
        real* product = carry(space, me.product, me.sequences, thread, threads);
        real* set_value = carry(space, me.set_value, me.sets, thread, threads);
        SYNC_BLOCK();
        if (thread == 0) {
            me.plan = plan;
            me.strategy = strategy;
            me.regret = regret;
            me.average = average;
            me.product = product;
            me.set_value = set_value;
        }
    }
    SYNC_BLOCK();
}

template <int P>
__device__ __forceinline__ void rows_of(Block& state, int thread, int threads) {
    constexpr int WIDTH = P == 0 ? ROW_LANES_0 : ROW_LANES_1;
    const real* plan = state.players[1 - P].plan;
    multiply_rows<32>(state.players[P], state.values[P], plan, state.rows[P][0], state.rows[P][1], thread, threads);
    multiply_rows<WIDTH>(state.players[P], state.values[P], plan, state.rows[P][1], state.rows[P][2], thread, threads);
}

template <int P, bool TOP, bool BEST>
__device__ __forceinline__ void up_level(Block& state, const Weights& w, int level, int thread, int threads) {
    constexpr int WIDTH = P == 0 ? LANES_0 : LANES_1;
    if (level >= state.depth[P][TOP ? 0 : 1]) return;
    const int2 sets = state.sets[P][TOP ? 0 : 1][level];
    if (BEST) sweep_up_best<WIDTH, TOP>(state.players[P], sets.x, sets.y, state.set_copy[P], thread, threads);
    else sweep_up<WIDTH, TOP>(state.players[P], w, sets.x, sets.y, state.copy[P], state.set_copy[P], thread, threads);
}

template <int P, bool TOP>
__device__ __forceinline__ void down_level(Block& state, int level, int thread, int threads) {
    if (level >= state.depth[P][TOP ? 0 : 1]) return;
    const int2 sequences = state.sequences[P][TOP ? 0 : 1][level];
    sweep_down<TOP>(state.players[P], sequences.x, sequences.y, state.copy[P], thread, threads);
}

template <int FROM, int TO>
__device__ __forceinline__ int deepest(const Block& state, int part) {
    int depth = 0;
    for (int p = FROM; p < TO; p++) depth = state.depth[p][part] > depth ? state.depth[p][part] : depth;
    return depth;
}

template <int FROM, int TO, bool TOP, bool BEST>
__device__ __forceinline__ void up(Block& state, const Weights& w, int thread, int threads) {
    for (int level = deepest<FROM, TO>(state, TOP ? 0 : 1) - 1; level >= 0; level--) {
        if (FROM == 0) up_level<0, TOP, BEST>(state, w, level, thread, threads);
        if (TO == 2) up_level<1, TOP, BEST>(state, w, level, thread, threads);
        SYNC_BLOCK();
    }
}

template <int FROM, int TO, bool TOP>
__device__ __forceinline__ void down(Block& state, int thread, int threads) {
    const int depth = deepest<FROM, TO>(state, TOP ? 0 : 1);
    for (int level = 0; level < depth; level++) {
        if (FROM == 0) down_level<0, TOP>(state, level, thread, threads);
        if (TO == 2) down_level<1, TOP>(state, level, thread, threads);
        SYNC_BLOCK();
    }
}

// Updates players FROM .. TO-1 against the current strategies.
template <int FROM, int TO>
__device__ __forceinline__ void turn(Block& state, const Weights& w, unsigned* arrived, unsigned& target, int blocks,
                                     int thread, int threads) {
    if (FROM == 0) rows_of<0>(state, thread, threads);
    if (TO == 2) rows_of<1>(state, thread, threads);
    SYNC_BLOCK();
    up<FROM, TO, false, false>(state, w, thread, threads);
    // When both are updated at once, no block may change a plan while another still multiplies by it.
    if (TO - FROM == 2 || deepest<FROM, TO>(state, 0) > 0) meet(arrived, target += blocks, blocks);
    up<FROM, TO, true, false>(state, w, thread, threads);
    down<FROM, TO, true>(state, thread, threads);
    down<FROM, TO, false>(state, thread, threads);
    meet(arrived, target += blocks, blocks);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
solve(const Player* all_players, const Row* schedule, int iterations, int simultaneous, int blocks, int carried,
      unsigned* arrived) {
    SHARED_BY_BLOCK(Block, state);
    const int thread = threadIdx.x, threads = blockDim.x;
    const int game = blockIdx.x / blocks, block = blockIdx.x % blocks;
    real* space = (real*)shared_space;
    arrived += game;
    unsigned target = 0;
    set_up_player(state, 0, all_players, game, block, blocks, carried, space, thread, threads);
    set_up_player(state, 1, all_players, game, block, blocks, carried, space, thread, threads);
    load_weights(state.weights[0], schedule[0], thread);
    SYNC_BLOCK();
    for (int t = 0; t < iterations; t++) {
        if (t + 1 < iterations) load_weights(state.weights[(t + 1) & 1], schedule[t + 1], thread);
        const Weights w = state.weights[t & 1];
        if (simultaneous) {
            turn<0, 2>(state, w, arrived, target, blocks, thread, threads);
        } else {
            turn<0, 1>(state, w, arrived, target, blocks, thread, threads);
            turn<1, 2>(state, w, arrived, target, blocks, thread, threads);
        }
    }
    if (carried) {
        for (int p = 0; p < 2; p++) {
            const Player& me = state.players[p];
            const long long step = game * me.sequence_stride;
            write_back(all_players[p].plan + step, me.plan, me.sequences, thread, threads);
            write_back(all_players[p].strategy + step, me.strategy, me.sequences, thread, threads);
            write_back(all_players[p].regret + step, me.regret, me.sequences, thread, threads);
            write_back(all_players[p].average + step, me.average, me.sequences, thread, threads);
        }
    }
}

// Plans, products and best responses of the average strategy, or of `other_strategy` if `average` is 0. Afterwards
// other_plan, product and set_value are what the host sums. It begins like `solve`, because only a kernel can declare the
// memory that its block shares.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
evaluate(const Player* all_players, int average, int blocks, unsigned* arrived) {
    SHARED_BY_BLOCK(Block, state);
    const int thread = threadIdx.x, threads = blockDim.x;
    const int game = blockIdx.x / blocks, block = blockIdx.x % blocks;
    real* space = (real*)shared_space;
    arrived += game;
    unsigned target = 0;
    for (int p = 0; p < 2; p++) {
        set_up_player(state, p, all_players, game, block, blocks, 0, space, thread, threads);
        if (thread == 0) {
            state.players[p].strategy = state.players[p].other_strategy;
            state.players[p].plan = state.players[p].other_plan;
        }
        SYNC_BLOCK();
        const Player& me = state.players[p];
        const real* source = average ? me.average : me.strategy;
        const int top = state.depth[p][0], own = state.depth[p][1];
        if (top) normalise<true>(me, source, 0, state.sets[p][0][top - 1].y, state.copy[p], thread, threads);
        if (own) normalise<false>(me, source, state.sets[p][1][0].x, state.sets[p][1][own - 1].y, 0, thread, threads);
    }
    SYNC_BLOCK();
    const Weights unused = {};
    down<0, 2, true>(state, thread, threads);
    down<0, 2, false>(state, thread, threads);
    meet(arrived, target += blocks, blocks);
    rows_of<0>(state, thread, threads);
    rows_of<1>(state, thread, threads);
    SYNC_BLOCK();
    up<0, 2, false, true>(state, unused, thread, threads);
    meet(arrived, target += blocks, blocks);
    up<0, 2, true, true>(state, unused, thread, threads);
}
