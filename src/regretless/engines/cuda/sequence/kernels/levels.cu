// One launch per step and level, over the whole device: for games too large or too deep for `solve`.

__device__ __forceinline__ Player one_player(const Player* all_players, int player, int evaluating) {
    Player me = all_players[player];
    if (evaluating) {
        me.strategy = me.other_strategy;
        me.plan = me.other_plan;
    }
    return me;
}

extern "C" __global__ void level_rows(const Player* all_players, int player, int evaluating) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const Player me = one_player(all_players, player, evaluating);
    const real* plan = evaluating ? all_players[1 - player].other_plan : all_players[1 - player].plan;
    const int* rows = me.row_bounds;
    multiply_rows<32>(me, me.value, plan, rows[0], rows[1], thread, threads);
    if (player == 0) multiply_rows<ROW_LANES_0>(me, me.value, plan, rows[1], rows[2], thread, threads);
    else multiply_rows<ROW_LANES_1>(me, me.value, plan, rows[1], rows[2], thread, threads);
}

extern "C" __global__ void level_up(const Player* all_players, int player, int begin, int end, const Row* schedule,
                                    const int* next) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const Player me = all_players[player];
    const Weights w = weights_of(schedule[next[0]]);
    if (player == 0) sweep_up<LANES_0, false>(me, w, begin, end, 0, 0, thread, threads);
    else sweep_up<LANES_1, false>(me, w, begin, end, 0, 0, thread, threads);
}

extern "C" __global__ void level_up_best(const Player* all_players, int player, int begin, int end) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const Player me = one_player(all_players, player, 1);
    if (player == 0) sweep_up_best<LANES_0, false>(me, begin, end, 0, thread, threads);
    else sweep_up_best<LANES_1, false>(me, begin, end, 0, thread, threads);
}

extern "C" __global__ void level_down(const Player* all_players, int player, int begin, int end, int evaluating) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    sweep_down<false>(one_player(all_players, player, evaluating), begin, end, 0, thread, threads);
}

extern "C" __global__ void level_normalise(const Player* all_players, int player, int average) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const Player me = one_player(all_players, player, 1);
    normalise<false>(me, average ? me.average : me.strategy, 0, (int)me.sets, 0, thread, threads);
}

// The next iteration reads the next row of the schedule.
extern "C" __global__ void tick(int* next) { next[0] += 1; }
