// The three steps of an iteration, and their counterparts in an evaluation. Each function is called by `threads`
// threads with their own number `thread`, and handles a slice of rows, sets or sequences.

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
            sum += me.set_value[set < me.top_sets ? set_copy + set : set];
        } else {
            sum += me.set_value[c];
        }
    }
    return sum;
}

__device__ __forceinline__ real positive(real number) { return number > 0 ? number : (real)0; }

template <int WIDTH, bool TOP>
__device__ __forceinline__ void sweep_up(const Player& me, const Weights& w, int begin, int end, long long copy,
                                         long long set_copy, int thread, int threads) {
    const int lane = thread & (WIDTH - 1);
    for (int i = begin + thread / WIDTH; i < end; i += threads / WIDTH) {
        const int from = load(me.first + i), to = load(me.first + i + 1);
        const long long set_value_at = (TOP ? set_copy : 0) + i;
        if (to - from <= WIDTH) {  // one action per thread: everything stays in registers and all loads start at once
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
            const real set_value = group_sum<WIDTH>(strategy * q);
            const real instant = q - set_value;
            regret = new_regret(regret, instant, w);
            const real next = live ? positive(predicted_regret(regret, instant, w)) : (real)0;
            const real total = group_sum<WIDTH>(next);
            if (live) {
                me.regret[k] = regret;
                me.average[k] = new_average(average, w.average_weight * plan, w);
                me.strategy[k] = total >= SMALLEST ? next / total : (real)1 / (real)(to - from);
            }
            if (lane == 0) me.set_value[set_value_at] = set_value;
            continue;
        }
        real set_value = 0;
        for (int s = from + lane; s < to; s += WIDTH) {
            const long long k = (TOP ? copy : 0) + s;
            const real q = me.product[s] + following<TOP>(me, load(me.children + s), set_copy);
            me.q[k] = q;
            set_value += me.strategy[k] * q;
        }
        set_value = group_sum<WIDTH>(set_value);
        real total = 0;
        for (int s = from + lane; s < to; s += WIDTH) {
            const long long k = (TOP ? copy : 0) + s;
            const real instant = me.q[k] - set_value;
            const real regret = new_regret(me.regret[k], instant, w);
            const real next = positive(predicted_regret(regret, instant, w));
            me.regret[k] = regret;
            me.average[k] = new_average(me.average[k], w.average_weight * me.plan[k], w);
            me.strategy[k] = next;
            total += next;
        }
        total = group_sum<WIDTH>(total);
        for (int s = from + lane; s < to; s += WIDTH) {
            const long long k = (TOP ? copy : 0) + s;
            me.strategy[k] = total >= SMALLEST ? me.strategy[k] / total : (real)1 / (real)(to - from);
        }
        if (lane == 0) me.set_value[set_value_at] = set_value;
    }
}

// The same sweep for a best response: the value of a set is that of its best action.
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
        if (lane == 0) me.set_value[(TOP ? set_copy : 0) + i] = best;
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

// `source`, or uniform where it is 0, normalised over each set: the strategy that `evaluate` evaluates.
template <bool TOP>
__device__ __forceinline__ void normalise(const Player& me, const real* source, int begin, int end, long long copy,
                                          int thread, int threads) {
    for (int i = begin + thread; i < end; i += threads) {
        const int from = load(me.first + i), to = load(me.first + i + 1);
        const long long offset = TOP ? copy : 0;
        real total = 0;
        for (int s = from; s < to; s++) total += source[offset + s];
        for (int s = from; s < to; s++)
            me.strategy[offset + s] = total >= SMALLEST ? source[offset + s] / total : (real)1 / (real)(to - from);
    }
}
