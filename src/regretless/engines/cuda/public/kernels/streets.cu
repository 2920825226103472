// Decisions of streets with many runouts, and the leaves before the last street. (`levels.cu` has streets with few.)
//
// 1. `down`    a thread for a slice of hands of a line: reach of every node; before the last street, own averages too.
// 2. `leaves`  a block per fold, and per chance node once the next street is done: its value. (`terminals.cu` has those of
//              the last street.)
// 3. `up`      a thread for a slice of hands of a line: values of decisions, own regrets; on the last street own averages
//              too: with the regrets if possible, else on a way down before, so that regrets come from memory once.
//
// The threads of a block are adjacent slices of hands of adjacent lines, whatever the number of hands; lines of the same
// shape are adjacent, so that few warps diverge.

// Calls body(decision) for each decision of a line.
template <typename Body> __device__ __forceinline__ void each_decision(const RunoutLine& at, Body body) {
    const Decision* const end = at.job.decisions + at.line.last_decision;
    for (const Decision* i = at.job.decisions + at.line.first_decision; i < end; i++) body(record_at(i));
}

// A walk reads the numbers of a line's decisions one after another; this prefetches all of them at the start. The line's
// `slices` threads share the decisions: body(decision) prefetches the numbers of all hands.
template <typename Body> __device__ __forceinline__ void prefetch_line(const RunoutLine& at, int slice, int slices, Body body) {
    for (int i = at.line.first_decision + slice; i < at.line.last_decision; i += slices)
        body(record_at(at.job.decisions + i));
}

template <int MODE, bool HALVES>
__device__ __forceinline__ void other_rows(const RunoutLine& at, int hand, const CachedRows& cached) {
    const auto rows = rows_of_other<HALVES>(at, hand, cached);
    rows.write(at.line.opponent_row, first_of_other<HALVES>(at, hand));
    const Numbers numbers = numbers_of<MODE>(at.job, at.street, at.local);
    each_decision(at, [&](const Decision& decision) {
        if (!decision.mine) split(played_at<MODE>(numbers, decision, hand), decision.actions, rows.read(decision.reach_row),
              Leaving(at.job, decision, rows));
    });
}

// Whether an own decision's averages can be updated with its regrets: the thread keeps the reach it needs until then, and
// no reach below it is needed before. (`_value_slots` in `program.py` leaves that reach alone.)
__device__ __forceinline__ bool averages_on_the_way_up(const Decision& decision) {
    return decision.reach_row < 0 && decision.needed == 0 && decision.actions <= FOUR;
}

// On the way up; OWN: the thread has kept own reach on the way down.
template <bool OWN> struct MineGoingUp : Mine {
    const CachedRows& cached;
    __device__ __forceinline__ bool averages_now() const { return OWN && averages_on_the_way_up(decision); }
    __device__ __forceinline__ Hands reach() const { return cached.read(~decision.reach_row); }
};

// KEPT: the thread keeps reach until the way up.
template <bool CACHED>
__device__ __forceinline__ void own_rows(const RunoutLine& at, const Step& step, int hand, const CachedRows& cached,
                                         const Numbers& numbers) {
    const Rows<float> rows = rows_of_own(at, hand, cached);
    rows.write(at.line.own_row, first_of_own(at, hand));
    const Chances rounding = rounding_of(at, hand);
    each_decision(at, [&](const Decision& decision) {
        if (!decision.mine || (CACHED && averages_on_the_way_up(decision))) return;
        split_own(mine_at(numbers, decision, hand), numbers, step, decision, hand, rounding, rows);
    });
}

// The item and the unit of a thread, if `blocks` walk an item.
struct WorkUnit { int item, unit; };

__device__ __forceinline__ WorkUnit work_unit_of(int blocks) {
    return {(int)(blockIdx.x / blocks), (int)(blockIdx.x % blocks * blockDim.x + threadIdx.x)};
}

// OWN: own reach and averages too.
template <int MODE, bool OWN>
__device__ __forceinline__ void walk_down(const Job* jobs, const Item* items, int blocks, int street_number, int cached_count,
                                          const Step* steps, int stride) {
    const WorkUnit work = work_unit_of(blocks);
    const Item item = items[work.item];
    const Job job = jobs[item.job];
    const Street& street = job.streets[street_number];
    const int theirs = other_hands_of(job, street) / HANDS;
    const int each = theirs + (OWN ? own_hands_of(job, street) / HANDS : 0);
    const int line = work.unit / each, slice = work.unit - line * each;
    if (line >= street.walked) return;
    const RunoutLine at = runout_line(job, item, street_number, line);
    const CachedRows cached = cached_rows(cached_count, blockDim.x, threadIdx.x);
    if (!OWN && MODE == LEARN) {
        const Regret* const played = (const Regret*)numbers_of<MODE>(job, at.street, at.local).other;
        prefetch_line(at, slice, theirs, [&](const Decision& decision) {
            const int bytes = decision.actions * other_hands_of(job, at.street) * sizeof(Regret);
            if (!decision.mine) prefetch_l2(played + decision.block, bytes);
        });
    }
    if (slice < theirs) other_rows<MODE, IN_HALVES<MODE, OWN>>(at, HANDS * slice, cached);
    else if (OWN) {
        const Numbers numbers = numbers_of<LEARN>(job, at.street, at.local);
        own_rows<false>(at, step_of(steps, stride, item.job), HANDS * (slice - theirs), cached, numbers);
    }
}

extern "C" __global__ void learn_down(const Job* jobs, const Item* items, int blocks, int street, int cached, const Step* steps,
                                      int stride) {
    walk_down<LEARN, true>(jobs, items, blocks, street, cached, steps, stride);
}
extern "C" __global__ void last_down(const Job* jobs, const Item* items, int blocks, int street, int cached, const Step* steps,
                                     int stride) {
    walk_down<LEARN, false>(jobs, items, blocks, street, cached, steps, stride);
}
extern "C" __global__ void mean_down(const Job* jobs, const Item* items, int blocks, int street, int cached, const Step* steps,
                                     int stride) {
    walk_down<MEAN, false>(jobs, items, blocks, street, cached, steps, stride);
}

// A fold: pay · (all − S[c] − S[d] + same hand), with S[c] the reach of the hands that hold card c. A thread per own hand.
__device__ __forceinline__ void fold_values(const Job& job, const Street& street, const Item& item, const Leaf& leaf,
                                            Real pay, int hand, float* values) {
    const int n = job.own_hands, m = job.other_hands, deck = job.deck, number = street.first_runout + item.runout;
    const float* const row =
        job.opponent_rows + street.opponent_begin + ((long long)item.runout * street.opponent_rows + leaf.opponent_row) * m;
    const unsigned char* const alike = job.alike_cards + job.runouts[number].symmetry * (deck + 1);
    Real* const by_card = (Real*)shared_space;  // [deck + 1], the last for a missing card
    Real* const partial = by_card + deck + 1;   // [32]
    float* const reach = (float*)(partial + 32);
    int c = deck, d = deck, same = -1;
    bool lives = false;
    if (hand < n) {
        c = alike[job.own_cards[2 * hand]], d = alike[job.own_cards[2 * hand + 1]], same = job.same[hand];
        lives = job.own_alive[(long long)number * n + hand];
    }
    for (int k = threadIdx.x; k < m; k += blockDim.x) reach[k] = row[k];
    SYNC_BLOCK();
    for (int i = threadIdx.x; i < deck + 33; i += blockDim.x) {
        Real sum = 0;
        if (i < deck) {
            const int end = job.card_first[i + 1];
#pragma unroll 8
            for (int k = job.card_first[i]; k < end; k++) sum += (Real)reach[job.card_hands[k]];
        } else if (i > deck) {
            for (int k = i - deck - 1; k < m; k += 32) sum += (Real)reach[k];
        }
        by_card[i] = sum;
    }
    SYNC_BLOCK();
    if (hand >= n) return;
    Real all = 0;
    for (int i = 0; i < 32; i++) all += partial[i];
    const Real met = all - (by_card[min(c, d)] + by_card[max(c, d)]) + (same < 0 ? (Real)0 : (Real)reach[same]);
    values[hand] = lives ? (float)(met * pay) : 0.0f;
}

const int DEALS = 16;  // of a chance node that are loaded before any is added

// The sum over deals, copies included, in 64 bits. Blocks of them are summed by themselves before they are added up, so
// that parts of a form give the same bits. `lines` has the values of runout 0 below, for hand 0; `positions`, if not null,
// where hands are in them.
__device__ __forceinline__ double deals_sum(const Term* terms, int count, const float* lines, long long stride,
                                            const short* permutations, int hands, const short* positions) {
    double sum = 0, block = 0;
    for (int i = 0; i < count; i += DEALS) {
        float result[DEALS];
        // All loads of one kind before the first of the next: each would wait for the one that it depends on.
#if PLACES
        if (positions) {
            int hand[DEALS];
#pragma unroll
            for (int j = 0; j < DEALS; j++) hand[j] = permutations[terms[min(i + j, count - 1)].permutation * hands];
#pragma unroll
            for (int j = 0; j < DEALS; j++)
                hand[j] = positions[(long long)terms[min(i + j, count - 1)].child * hands + hand[j]];
#pragma unroll
            for (int j = 0; j < DEALS; j++)
                result[j] = lines[terms[min(i + j, count - 1)].child * stride + max(hand[j], 0)];
#pragma unroll
            for (int j = 0; j < DEALS; j++) result[j] = hand[j] < 0 ? 0.0f : result[j];
        } else
#endif
#pragma unroll
            for (int j = 0; j < DEALS; j++) {
                const Term& term = terms[min(i + j, count - 1)];
                result[j] = lines[term.child * stride + permutations[term.permutation * hands]];
            }
#pragma unroll
        for (int j = 0; j < DEALS; j++)
            if (i + j < count) {
                block = fma(terms[i + j].probability, (double)result[j], block);
                if (terms[i + j].ends_block) sum += block, block = 0;
            }
    }
    return sum;
}

// Permutations of the hand, among the equivalent ones on a runout, that represents a hand: these share its sum.
__device__ __forceinline__ const short* permutations_of(const Job& job, const Runout& runout, int hand) {
    return job.permutations + job.alike_hands[runout.symmetry * job.own_hands + hand];
}

// A chance node: the sum over the deals. Up to `room` deals are listed in shared memory. The item's slot is the runout
// below whose values of lines come first: those of the last street take turns.
__device__ __forceinline__ void chance_values(const Job& job, const Street& street, const Street& below, const Item& item,
                                              const Leaf& leaf, int hand, float* values, int room) {
    const int n = job.own_hands;
    const Runout runout = record_at(job.runouts + street.first_runout + item.runout);
    const int count = runout.last_term - runout.first_term;
    const Term* terms = job.terms + runout.first_term;
    if (count <= room) {
        Term* const near = (Term*)shared_space;
        for (int i = threadIdx.x; i < count; i += blockDim.x) near[i] = terms[i];
        terms = near;
    }
    SYNC_BLOCK();
    if (hand >= n) return;
    const long long stride = (long long)below.lines * own_hands_of(job, below);
    const float* const lines =
        job.line_values + below.line_begin + (long long)leaf.line * own_hands_of(job, below) - item.slot * stride;
    const short* const positions = below.has_places ? job.own_positions : nullptr;
    values[hand] = (float)deals_sum(terms, count, lines, stride, permutations_of(job, runout, hand), n, positions);
}

// In a part of a form: the sum over a block of runouts of the second street, at a chance node of the first. The item's
// slot is the block's first deal, and its `runout` the block. Sums are [blocks, lines, hands].
extern "C" __global__ void block_sums(const Job* jobs, const Item* items) {
    const Item item = items[blockIdx.x];
    const Job& job = jobs[item.job];
    const Street below = job.streets[1];
    const int n = job.own_hands, hand = blockIdx.y * blockDim.x + threadIdx.x, line = job.leaves[item.piece].line;
    if (hand >= n) return;
    const Term* const terms = job.terms + item.slot;
    int count = 1;
    while (!terms[count - 1].ends_block) count++;
    const long long stride = (long long)below.lines * own_hands_of(job, below);
    const float* const lines = job.line_values + below.line_begin + (long long)line * own_hands_of(job, below);
    const short* const positions = below.has_places ? job.own_positions : nullptr;
    job.block_sums[((long long)item.runout * below.lines + line) * n + hand] =
        deals_sum(terms, count, lines, stride, permutations_of(job, job.runouts[0], hand), n, positions);
}

// `centered`: what a tie is worth is subtracted from payoffs, as in `products.cu`.
extern "C" __global__ void leaves(const Job* jobs, const Item* items, int street_number, int room, int centered) {
    const Item item = items[blockIdx.x];
    const Job job = jobs[item.job];
    const Street street = job.streets[street_number], below = job.streets[street_number + 1];
    const Leaf leaf = job.leaves[item.piece];
    float* const values = values_of(job, street, false, item.runout) + (long long)leaf.value_row * job.own_hands;
    const int hand = blockIdx.y * blockDim.x + threadIdx.x;
    if (leaf.line >= 0) chance_values(job, street, below, item, leaf, hand, values, room);
    else fold_values(job, street, item, leaf, leaf.pay - (centered ? job.middle : 0.0f), hand, values);
}

// OWN: own reach and averages first.
template <int MODE, bool OWN>
__device__ __forceinline__ void walk_up(const Job* jobs, const Item* items, int blocks, int street_number, int cached_count,
                                        const Step* steps, int stride) {
    const WorkUnit work = work_unit_of(blocks);
    const Item item = items[work.item];
    const Job job = jobs[item.job];
    const Street& street = job.streets[street_number];
    const int n = own_hands_of(job, street), each = n / HANDS, line_number = work.unit / each;
    const int hand = HANDS * (work.unit - line_number * each);
    if (line_number >= (REST_DONE<MODE, OWN> ? street.decided : street.lines)) return;
    const RunoutLine at = runout_line(job, item, street_number, line_number);
    const CachedRows cached = cached_rows(cached_count, blockDim.x, threadIdx.x);
    const Numbers numbers = numbers_of<MODE>(job, at.street, at.local);
    float* const rows = pin_global(values_of(job, at.street, street_number == job.last_street, at.slot) + hand);
    if (OWN)
        prefetch_line(at, hand / HANDS, each, [&](const Decision& decision) {
            const int children[] = {decision.child_a, decision.child_b, decision.child_c, decision.child_d};
            FEW(a, 0, FOUR, decision.actions) if (children[a] >= 0)
                prefetch_l2(rows - hand + children[a] * n, n * sizeof(float));
            if (!decision.mine) return;
            const int count = decision.actions * n;
            prefetch_l2(numbers.regret + decision.block, count * sizeof(Regret));
            if (PREDICTS) prefetch_l2(numbers.matched + decision.block, count * sizeof(Regret));
            prefetch_l2(numbers.average + decision.block, count * sizeof(Average));
        });
    Step step = {};
    if (MODE == LEARN) step = step_of(steps, stride, item.job);
    if (OWN && at.line.first_decision < at.line.last_decision) own_rows<true>(at, step, hand, cached, numbers);
    const Chances rounding = rounding_of(at, hand);
    const long long row = (long long)at.slot * at.street.lines + at.piece;
    float* const line_values = job.line_values + at.street.line_begin + row * n + hand;
    const int root = at.line.root, first = at.line.first_decision;
    for (int i = at.line.last_decision - 1; i >= first; i--) {
        const Decision decision = record_at(job.decisions + i);
        const MineGoingUp<OWN> mine = {mine_at(numbers, decision, hand), cached};
        const Hands value = join<MODE>(mine, numbers, step, decision, hand, rounding, [&](int a) {
            const int row = child_of(decision, a, job.children);
            return row == NOTHING ? Hands{} : row < 0 ? cached.read(~row) : hands_once(rows + row * n);
        });
        if (decision.cached_row >= 0) cached.write(decision.cached_row, value);
        if (decision.value_row >= 0) hands_at(rows + decision.value_row * n) = value;
    }
    hands_at(line_values) = root < 0 ? cached.read(~root) : hands_at(rows + root * n);
}

extern "C" __global__ void learn_up(const Job* jobs, const Item* items, int blocks, int street, int cached, const Step* steps,
                                    int stride) {
    walk_up<LEARN, false>(jobs, items, blocks, street, cached, steps, stride);
}
extern "C" __global__ void __launch_bounds__(128, UP_BLOCKS)
last_up(const Job* jobs, const Item* items, int blocks, int street, int cached, const Step* steps, int stride) {
    walk_up<LEARN, true>(jobs, items, blocks, street, cached, steps, stride);
}
// The average strategy, and in the jobs of the other way a best response.
extern "C" __global__ void value_up(const Job* jobs, const Item* items, int blocks, int street, int cached, const Step* steps,
                                    int stride) {
    const bool best = jobs[items[work_unit_of(blocks).item].job].best;
    if (!best) walk_up<MEAN, false>(jobs, items, blocks, street, cached, steps, stride);
    else walk_up<BEST, false>(jobs, items, blocks, street, cached, steps, stride);
}

// What the own players win at the root: values of all hands, by weight. A block per item.
extern "C" __global__ void sums(const Job* jobs, const Item* items) {
    const Job& job = jobs[items[blockIdx.x].job];
    double* const partial = (double*)shared_space;  // [threads]
    double sum = 0;
    for (int hand = threadIdx.x; hand < job.own_hands; hand += blockDim.x)
        sum += (double)job.line_values[hand] * job.own_weight[hand];
    partial[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        SYNC_BLOCK();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *job.result = partial[0];
}

// Locked strategies replace what was learned; a thread per locked number.
extern "C" __global__ void hold(const Job* jobs, int number) {
    const Job& job = jobs[number];
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < job.lock_count; i += threads) {
        const long long at = job.lock_index[i];
        ((Regret*)job.regret)[at] = ((const Regret*)job.lock_regret)[i];
        ((Regret*)job.matched)[at] = ((const Regret*)job.lock_regret)[i];
        ((Average*)job.average)[at] = ((const Average*)job.lock_average)[i];
    }
}
