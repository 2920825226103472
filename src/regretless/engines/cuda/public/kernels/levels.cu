// Streets with few lines and runouts, level by level. A thread that walked a whole line would wait for the memory of one
// decision after another, and there are too few other threads to hide that. So a block takes some hands of one line on one
// runout, and each thread one of its decisions for a slice of hands: it loads all that the decision needs, then waits for
// its level. Reach and values go from level to level through shared memory, or through device memory if there are too many.
//
// 1. `down`  reach of every node; before the last street, own averages too. Levels count decisions of the same player
//            above.
// 2. `up`    values of decisions, own regrets; on the last street own averages first. Levels count decisions below.
// 3. `relay` up the first street for one player, then down it for the other.
//
// A block with fewer threads than decisions takes the line in passes. Parents come before their children in a line, so on
// the way down a pass needs only itself and earlier passes; on the way up, passes come in reverse order.

// What a thread of a block works on: a slice of hands, and every `slots`-th decision.
struct Team {
    int hand, slot, slots;
    bool works;  // not beyond the last hand
};

__device__ __forceinline__ Team team_of(int slices, int chunk, int hands) {
    const int slot = threadIdx.x / slices, hand = HANDS * (chunk * slices + (int)threadIdx.x - slot * slices);
    return {hand, slot, (int)blockDim.x / slices, hand < hands};
}

__device__ __forceinline__ CachedRows team_rows(int count, int slices) {
    return cached_rows(count, slices, threadIdx.x % slices);
}

// How many blocks take the hands of a line.
__device__ __forceinline__ int chunks_of(int hands, int slices) { return (hands / HANDS + slices - 1) / slices; }

// The line of an item: `piece` is its number among those of all streets.
__device__ __forceinline__ RunoutLine line_of(const Job& job, const Item& item, int street_number) {
    const Street street = job.streets[street_number], above = job.streets[max(street_number - 1, 0)];
    const int number = street.first_runout + item.runout;
    return {job,   street, above, record_at(job.runouts + number), record_at(job.lines + item.piece),
            item.piece - street.first_line, item.runout, number, item.slot};
}

// first_four[a], without an index that is only known at run time: registers cannot be indexed.
template <typename Numbers> __device__ __forceinline__ Numbers pick(const Numbers* first_four, int a) {
    Numbers result;
    const auto word = [&](int a, int i) { return ((const unsigned*)&first_four[a])[i]; };
#pragma unroll
    for (int i = 0; i < (int)(sizeof(Numbers) / sizeof(unsigned)); i++)
        ((unsigned*)&result)[i] = a == 1 ? word(1, i) : a == 2 ? word(2, i) : a == 3 ? word(3, i) : word(0, i);
    return result;
}

// What the opponent's strategy at a decision is matched to; loaded ahead for the first four actions.
template <typename Played> struct TheirsAhead {
    static const bool AHEAD = true;
    Played memory;
    typename Played::Stored number[FOUR];
    __device__ __forceinline__ void load_ahead(const Decision& decision, const Played& played) {
        memory = played;
        FEW(a, 0, FOUR, decision.actions) number[a] = memory.stored(a);
    }
    __device__ __forceinline__ Hands load(int a) const {
        return Played::hands_of(a < FOUR ? pick(number, a) : memory.stored(a));
    }
};

// The own player's numbers, as far as a walk down, a walk up, or a walk down and up again needs them.
template <int MODE, bool DOWN, bool UP> struct MineAhead {
    static const bool AHEAD = true;
    const Numbers& numbers;
    const Decision& decision;
    int hand;
    Slice<Regret> old[FOUR], match[FOUR];
    Slice<Average> sum[FOUR];
    Averages::Stored played[FOUR];
    __device__ __forceinline__ Mine memory() const { return mine_at(numbers, decision, hand); }
    __device__ __forceinline__ void load_ahead() {
        const Mine from = memory();
        FEW(a, 0, FOUR, decision.actions) {
            if (MODE == LEARN && (UP || !PREDICTS)) old[a] = from.regret(a);
            if (MODE == LEARN && PREDICTS) match[a] = from.matched(a);
            if (MODE == LEARN && DOWN) sum[a] = from.average(a);
        }
        if (MODE == MEAN || (MODE == BEST && numbers.lock_rows)) {
            const Averages averages = from.averages();
            FEW(a, 0, FOUR, decision.actions) played[a] = averages.stored(a);
        }
    }
    __device__ __forceinline__ Slice<Regret> regret(int a) const { return a < FOUR ? pick(old, a) : memory().regret(a); }
    __device__ __forceinline__ Slice<Average> average(int a) const { return a < FOUR ? pick(sum, a) : memory().average(a); }
    __device__ __forceinline__ Slice<Regret> matched(int a) const {
        return a < FOUR ? pick(PREDICTS ? match : old, a) : memory().matched(a);
    }
    struct Played {
        const MineAhead& from;
        __device__ __forceinline__ Hands load(int a) const {
            return Averages::hands_of(a < FOUR ? pick(from.played, a) : from.memory().averages().stored(a));
        }
    };
    __device__ __forceinline__ Played averages() const { return {*this}; }
    static __device__ __forceinline__ bool averages_now() { return false; }
    static __device__ __forceinline__ Hands reach() { return {}; }
    __device__ __forceinline__ Hands load(int a) const { return positive_of(regrets_of(matched(a))); }
};

// Reads a thread's decision in the pass that begins with decision `first` of the line; false if it has none.
__device__ __forceinline__ bool read_decision(const RunoutLine& at, const Team& team, int first, Decision& decision) {
    const int i = at.line.first_decision + first + team.slot;
    if (!team.works || i >= at.line.last_decision) return false;
    decision = record_at(at.job.decisions + i);
    return true;
}

// Every thread that works calls body() when its `level` comes; levels count from 0.
template <typename Body>
__device__ __forceinline__ void by_level(const RunoutLine& at, bool works, int level, Body body) {
#pragma unroll 1
    for (int now = 0; now < at.line.levels; now++) {
        SYNC_BLOCK();
        if (works && level == now) body();
    }
}

// Reach of a line.
template <int MODE, bool HALVES>
__device__ __forceinline__ void other_levels(const RunoutLine& at, const Team& team, const CachedRows& cached) {
    const auto rows = rows_of_other<HALVES>(at, team.hand, cached);
    const Numbers numbers = numbers_of<MODE>(at.job, at.street, at.local);
    Hands reach = {};
    if (team.works && team.slot == 0) reach = first_of_other<HALVES>(at, team.hand);
    int first = 0;
    do {
        Decision decision;
        const bool works = read_decision(at, team, first, decision) && !decision.mine;
        TheirsAhead<decltype(played_at<MODE>(numbers, decision, 0))> from;
        if (works) from.load_ahead(decision, played_at<MODE>(numbers, decision, team.hand));
        if (team.works && team.slot + first == 0) rows.write(rows.first, reach);
        by_level(at, works, decision.depth, [&] {
            split(from, decision.actions, rows.read(decision.reach_row), Leaving(at.job, decision, rows));
        });
        first += team.slots;
    } while (at.line.first_decision + first < at.line.last_decision);
}

// Own reach and averages. Returns where the last pass begins; `decision` and `works` are left as of that pass.
template <typename From>
__device__ __forceinline__ int own_levels(const RunoutLine& at, const Team& team, const CachedRows& cached, const Step& step,
                                          const Chances& rounding, From& from, Decision& decision, bool& works) {
    const Rows<float> rows = rows_of_own(at, team.hand, cached);
    Hands reach = {};
    if (team.works && team.slot == 0) reach = first_of_own(at, team.hand);
    for (int first = 0;; first += team.slots) {
        works = read_decision(at, team, first, decision);
        const bool mine = works && decision.mine;
        if (mine) from.load_ahead();
        if (team.works && team.slot + first == 0) rows.write(rows.first, reach);
        by_level(at, mine, decision.depth, [&] {
            split_own(from, from.numbers, step, decision, team.hand, rounding, rows);
        });
        if (at.line.first_decision + first + team.slots >= at.line.last_decision) return first;
    }
}

// Some hands of a line on one runout: the opponent's and, if OWN, the own ones after them.
template <int MODE, bool OWN>
__device__ __forceinline__ void chunk_down(const Job* jobs, const Item& item, int chunk, int street_number, int cached_count,
                                           const Step* steps, int stride, int slices) {
    const Job job = jobs[item.job];
    const Street& street = job.streets[street_number];
    const int theirs = chunks_of(other_hands_of(job, street), slices);
    if (chunk >= theirs + (OWN ? chunks_of(own_hands_of(job, street), slices) : 0)) return;
    const RunoutLine at = line_of(job, item, street_number);
    const CachedRows cached = team_rows(cached_count, slices);
    if (chunk < theirs) {
        other_levels<MODE, IN_HALVES<MODE, OWN>>(at, team_of(slices, chunk, other_hands_of(job, street)), cached);
    } else if (OWN) {
        const Team team = team_of(slices, chunk - theirs, own_hands_of(job, street));
        const Numbers numbers = numbers_of<LEARN>(job, at.street, at.local);
        Chances rounding = {};
        if (team.works) rounding = rounding_of(at, team.hand);
        Decision decision;
        MineAhead<LEARN, true, false> from = {numbers, decision, team.hand};
        bool works;
        own_levels(at, team, cached, step_of(steps, stride, item.job), rounding, from, decision, works);
    }
}

// Lines without decisions: their values are those of leaves.
__device__ __forceinline__ void copy_values(const Job& job, const Item& item, int street_number, int chunk, int blocks) {
    const Street street = job.streets[street_number];
    const int n = own_hands_of(job, street), each = n / HANDS;
    const bool is_last = street_number == job.last_street;
    for (int unit = chunk * blockDim.x + threadIdx.x;; unit += blocks * blockDim.x) {
        const int position = street.decided + unit / each, hand = HANDS * (unit % each);
        if (position >= street.lines) return;
        const int piece = load_table(job.line_order + street.first_line + position);
        const int root = load_table(&job.lines[street.first_line + piece].root);
        const long long row = (long long)item.slot * street.lines + piece;
        hands_at(job.line_values + street.line_begin + row * n + hand) =
            hands_at(values_of(job, street, is_last, item.slot) + root * n + hand);
    }
}

// Some own hands of a line on one runout, or of all lines without decisions. OWN: own reach and averages first.
template <int MODE, bool OWN>
__device__ __forceinline__ void chunk_up(const Job* jobs, const Item& item, int chunk, int blocks, int street_number,
                                         int cached_count, const Step* steps, int stride, int slices) {
    const Job job = jobs[item.job];
    const int n = own_hands_of(job, job.streets[street_number]);
    if (item.piece < 0) {
        if (!REST_DONE<MODE, OWN>) copy_values(job, item, street_number, chunk, blocks);
        return;
    }
    if (chunk >= chunks_of(n, slices)) return;
    const RunoutLine at = line_of(job, item, street_number);
    const Team team = team_of(slices, chunk, n);
    const CachedRows cached = team_rows(cached_count, slices);
    const Numbers numbers = numbers_of<MODE>(job, at.street, at.local);
    float* const rows = pin_global(values_of(job, at.street, street_number == job.last_street, at.slot) + team.hand);
    const auto value_at_row = [&](int row) {
        return row == NOTHING ? Hands{} : row < 0 ? cached.read(~row) : hands_at(rows + row * n);
    };
    Step step = {};
    Chances rounding = {};
    if (MODE == LEARN) {
        step = step_of(steps, stride, item.job);
        if (team.works) rounding = rounding_of(at, team.hand);
    }
    const long long row = (long long)at.slot * at.street.lines + at.piece;
    float* const line_values = job.line_values + at.street.line_begin + row * n + team.hand;
    const int count = at.line.last_decision - at.line.first_decision;
    Decision decision;
    MineAhead<MODE, OWN, true> from = {numbers, decision, team.hand};
    bool works;
    int first;
    if (OWN) {
        first = own_levels(at, team, cached, step, rounding, from, decision, works);
    } else {
        first = (count - 1) / team.slots * team.slots;
        works = read_decision(at, team, first, decision);
        if (works && decision.mine) from.load_ahead();
    }
    while (true) {
        const int children[] = {decision.child_a, decision.child_b, decision.child_c, decision.child_d};
        // Whether children in memory are leaves, whose values are known from the beginning: either the values of all
        // decisions are kept, or all children are leaves.
        const bool ready = count <= cached_count || decision.height == 0;
        Hands below[FOUR];
        if (works && ready) FEW(a, 0, FOUR, decision.actions) if (children[a] >= 0) below[a] = value_at_row(children[a]);
        by_level(at, works, decision.height, [&] {
            FEW(a, 0, FOUR, decision.actions) if (!ready || children[a] < 0) below[a] = value_at_row(children[a]);
            const Hands value = join<MODE>(from, numbers, step, decision, team.hand, rounding, [&](int a) {
                return a < FOUR ? pick(below, a) : value_at_row(load_table(job.children + decision.first_child + a));
            });
            if (decision.cached_row >= 0) cached.write(decision.cached_row, value);
            if (decision.value_row >= 0) hands_at(rows + decision.value_row * n) = value;
            if (first + team.slot == 0) hands_at(line_values) = value;
        });
        if (first == 0) return;
        first -= team.slots;
        works = read_decision(at, team, first, decision);
        if (works && decision.mine) from.load_ahead();
    }
}

#define LEVELS(name)                                                                                                \
    extern "C" __global__ void __launch_bounds__(LEVEL_THREADS, LEVEL_BLOCKS)                                       \
    name(const Job* jobs, const Item* items, int blocks, int street, int cached, const Step* steps, int stride, int slices)
#define LEVELS_DOWN(name, MODE, OWN)                                                                                \
    LEVELS(name) {                                                                                                  \
        const Item item = items[blockIdx.x / blocks];                                                               \
        chunk_down<MODE, OWN>(jobs, item, blockIdx.x % blocks, street, cached, steps, stride, slices);              \
    }
#define LEVELS_UP(name, MODE, OWN)                                                                                  \
    LEVELS(name) {                                                                                                  \
        const Item item = items[blockIdx.x / blocks];                                                               \
        chunk_up<MODE, OWN>(jobs, item, blockIdx.x % blocks, blocks, street, cached, steps, stride, slices);        \
    }
LEVELS_DOWN(levels_learn_down, LEARN, true)
LEVELS_DOWN(levels_last_down, LEARN, false)
LEVELS_DOWN(levels_mean_down, MEAN, false)
LEVELS_UP(levels_learn_up, LEARN, false)
LEVELS_UP(levels_last_up, LEARN, true)
// The average strategy, and in the jobs of the other way a best response.
LEVELS(levels_value_up) {
    const Item item = items[blockIdx.x / blocks];
    const int chunk = blockIdx.x % blocks;
    if (!jobs[item.job].best) chunk_up<MEAN, false>(jobs, item, chunk, blocks, street, cached, steps, stride, slices);
    else chunk_up<BEST, false>(jobs, item, chunk, blocks, street, cached, steps, stride, slices);
}

// The first street, up for the player who learns and then down for the walk of the other: all that the next walk needs of a
// block's hands is what they have just learned. Unless the street is the LAST, further blocks take the next player's hands.
#define RELAY(name, LAST)                                                                                           \
    extern "C" __global__ void __launch_bounds__(LEVEL_THREADS)                                                     \
    name(const Job* jobs, const Item* items, int blocks, int cached, const Step* steps, const Item* next_items,     \
         int next_cached, const Step* next_steps, int stride, int slices) {                                         \
        const int number = blockIdx.x / blocks, chunk = blockIdx.x % blocks;                                        \
        chunk_up<LEARN, LAST>(jobs, items[number], chunk, blocks, 0, cached, steps, stride, slices);                \
        SYNC_BLOCK();                                                                                               \
        chunk_down<LEARN, !LAST>(jobs, next_items[number], chunk, 0, next_cached, next_steps, stride, slices);      \
    }
RELAY(levels_relay, false)
RELAY(levels_last_relay, true)
