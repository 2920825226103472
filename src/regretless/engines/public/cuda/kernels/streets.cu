// Decisions of every street, and the leaves before the last one. A row of reach or values per node and runout, in device
// memory; what only the thread itself needs again stays with it: rows below 0 are its own.
//
// 1. `down`    a thread for four hands of a line: reach of every node; before the last street, own averages too.
// 2. `leaves`  a block per fold, and per chance node once the next street is done: its value. (`terminals.cu` has those of
//              the last street.)
// 3. `up`      a thread for four hands of a line: values of decisions, own regrets; on the last street own averages first,
//              so that regrets come from memory once.
//
// The threads of a block are adjacent fours of hands of adjacent lines, whatever the number of hands; lines of the same
// shape are adjacent, so that few warps diverge.

// A record of a table, read whole.
template <typename Record> __device__ __forceinline__ Record record_at(const Record* at) {
    Record found;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(Record) / sizeof(int4)); i++) ((int4*)&found)[i] = load_table((const int4*)at + i);
    return found;
}

// One line of the tree on one runout. Records are copied, or the compiler would reload them after every store.
struct Stretch {
    const Job& job;
    Street street, above;  // the street itself and the one before it, if there is one
    Runout runout;
    Line line;
    int piece, local, number, slot;
};

// `place` counts the lines of a street in the order in which threads take them.
__device__ __forceinline__ Stretch stretch_of(const Job& job, const Item& item, int street_number, int place) {
    const Street street = job.streets[street_number], above = job.streets[max(street_number - 1, 0)];
    const int number = street.first_runout + item.runout;
    const int piece = load_table(job.line_order + street.first_line + place);
    return {job,   street,      above,  record_at(job.runouts + number), record_at(job.lines + street.first_line + piece),
            piece, item.runout, number, item.slot};
}

__device__ __forceinline__ Hands& hands_at(float* row) { return *(Hands*)row; }

// Rows that a thread keeps in shared memory.
struct Kept {
    Hands* first;
    int count;
    __device__ __forceinline__ Hands& operator[](int row) const { return first[row * blockDim.x]; }
};

__device__ __forceinline__ Kept kept_rows(int count) { return {(Hands*)shared_space + threadIdx.x, count}; }

// Rows of reach of a line: those below 0 are only kept; of the others, the first few are kept too.
struct Rows {
    float* all;
    Kept kept;
    int first, hands;
    __device__ __forceinline__ Hands read(int row) const {
        if (row < 0) return kept[~row];
        return row - first < kept.count ? kept[row - first] : hands_at(all + row * hands);
    }
    __device__ __forceinline__ void write(int row, const Hands& reach) const {
        if (row < 0) {
            kept[~row] = reach;
            return;
        }
        if (row - first < kept.count) kept[row - first] = reach;
        hands_at(all + row * hands) = reach;
    }
};

// Calls body(decision) for each decision of a line, of the own player or of the opponent.
template <typename Body> __device__ __forceinline__ void each_decision(const Stretch& at, bool mine, Body body) {
    const Decision* const end = at.job.decisions + at.line.last_decision;
    for (const Decision* i = at.job.decisions + at.line.first_decision; i < end; i++) {
        const Decision decision = record_at(i);
        if (decision.mine == mine) body(decision);
    }
}

// A walk reads the numbers of a line's decisions one after another; this prefetches all of them at the start. The line's
// `fours` threads share the decisions: body(decision) prefetches the numbers of all hands.
template <typename Body> __device__ __forceinline__ void prefetch_line(const Stretch& at, int four, int fours, Body body) {
    for (int i = at.line.first_decision + four; i < at.line.last_decision; i += fours) body(record_at(at.job.decisions + i));
}

template <int MODE> __device__ __forceinline__ void other_rows(const Stretch& at, int hand, const Kept& kept) {
    const Job& job = at.job;
    const int m = job.other_hands;
    float* const all = job.opponent_rows + at.street.opponent_at + (long long)at.slot * at.street.opponent_rows * m + hand;
    Hands reach = *(const Hands*)(job.other_reach + hand);
    if (at.runout.parent >= 0) {
        const long long row = (long long)at.runout.parent * at.above.opponent_rows + at.line.above_opponent;
        reach = hands_at(job.opponent_rows + at.above.opponent_at + row * m + hand);
    }
    const Four<unsigned char> alive = *(const Four<unsigned char>*)(job.other_alive + (long long)at.number * m + hand);
    EACH(j) if (!alive[j]) reach[j] = 0.0f;
    const Rows rows = {all, kept, at.line.opponent_row, m};
    rows.write(at.line.opponent_row, reach);
    const Numbers numbers = numbers_of<MODE>(job, at.street, at.local);
    each_decision(at, false, [&](const Decision& decision) {
        split(played_at<MODE>(numbers, decision, hand), decision.actions, rows.read(decision.source),
              [&](int a, const Hands& leaving) { rows.write(decision.to + a, leaving); });
    });
}

__device__ __forceinline__ void own_rows(const Stretch& at, const Step& step, int hand, const Kept& kept) {
    const Job& job = at.job;
    const int n = job.own_hands;
    float* const all = job.own_rows + at.street.own_at_rows + (long long)at.slot * at.street.own_rows * n + hand;
    Hands reach = {1.0f, 1.0f, 1.0f, 1.0f};
    if (at.runout.parent >= 0) {
        const long long row = (long long)at.runout.parent * at.above.own_rows + at.line.above_own;
        reach = hands_at(job.own_rows + at.above.own_at_rows + row * n + hand);
    }
    const Rows rows = {all, kept, at.line.own_row, n};
    rows.write(at.line.own_row, reach);
    const Chances rounding = *(const Chances*)(job.roundings + at.runout.symmetry * n + hand);
    const Numbers numbers = numbers_of<LEARN>(job, at.street, at.local);
    each_decision(at, true, [&](const Decision& decision) {
        const unsigned needed = decision.needed;  // a bit per action: something reads its reach
        int to = decision.to;
        const int next = to < 0 ? -1 : 1;
        split_and_average(numbers, step, decision, hand, rows.read(decision.source), rounding,
                          [&](int a, const Hands& leaving) {
                              if (a > 31 || needed >> a & 1) {
                                  rows.write(to, leaving);
                                  to += next;
                              }
                          });
    });
}

// The weights of a job's iteration, `stride` from one spot to the next; the jobs of a spot are adjacent.
__device__ __forceinline__ Step step_of(const Step* steps, int stride, int job) {
    return steps[(long long)(job / 2) * stride];
}

// The item and the unit of a thread, if `blocks` walk an item.
struct Place { int item, unit; };

__device__ __forceinline__ Place place_of(int blocks) {
    return {(int)(blockIdx.x / blocks), (int)(blockIdx.x % blocks * blockDim.x + threadIdx.x)};
}

// OWN: own reach and averages too.
template <int MODE, bool OWN>
__device__ __forceinline__ void walk_down(const Job* jobs, const Item* items, int blocks, int street_number, int kept_count,
                                          const Step* steps, int stride) {
    const Place place = place_of(blocks);
    const Item item = items[place.item];
    const Job job = jobs[item.job];
    const int theirs = job.other_hands / FOUR, each = theirs + (OWN ? job.own_hands / FOUR : 0);
    const int line = place.unit / each, four = place.unit - line * each;
    if (line >= job.streets[street_number].walked) return;
    const Stretch at = stretch_of(job, item, street_number, line);
    const Kept kept = kept_rows(kept_count);
    if (!OWN && MODE == LEARN) {
        const Regret* const played = (const Regret*)numbers_of<MODE>(job, at.street, at.local).other;
        prefetch_line(at, four, theirs, [&](const Decision& decision) {
            const int bytes = decision.actions * job.other_hands * sizeof(Regret);
            if (!decision.mine) prefetch_l2(played + decision.block, bytes);
        });
    }
    if (four < theirs) other_rows<MODE>(at, FOUR * four, kept);
    else if (OWN) own_rows(at, step_of(steps, stride, item.job), FOUR * (four - theirs), kept);
}

extern "C" __global__ void learn_down(const Job* jobs, const Item* items, int blocks, int street, int kept, const Step* steps,
                                      int stride) {
    walk_down<LEARN, true>(jobs, items, blocks, street, kept, steps, stride);
}
extern "C" __global__ void last_down(const Job* jobs, const Item* items, int blocks, int street, int kept, const Step* steps,
                                     int stride) {
    walk_down<LEARN, false>(jobs, items, blocks, street, kept, steps, stride);
}
extern "C" __global__ void mean_down(const Job* jobs, const Item* items, int blocks, int street, int kept, const Step* steps,
                                     int stride) {
    walk_down<MEAN, false>(jobs, items, blocks, street, kept, steps, stride);
}

__device__ __forceinline__ float* values_of(const Job& job, const Street& street, bool is_last, int slot) {
    return (is_last ? job.value_rows : job.earlier_values) + street.value_at +
           (long long)slot * street.value_rows * job.own_hands;
}

// A fold: pay · (all − S[c] − S[d] + same hand), with S[c] the reach of the hands that hold card c. A thread per own hand.
__device__ __forceinline__ void fold_values(const Job& job, const Street& street, const Item& item, const Leaf& leaf,
                                            int hand, float* values) {
    const int n = job.own_hands, m = job.other_hands, deck = job.deck, number = street.first_runout + item.runout;
    const float* const row =
        job.opponent_rows + street.opponent_at + ((long long)item.runout * street.opponent_rows + leaf.opponent_row) * m;
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
            const int end = job.held_first[i + 1];
#pragma unroll 8
            for (int k = job.held_first[i]; k < end; k++) sum += (Real)reach[job.held_hands[k]];
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
    values[hand] = lives ? (float)(met * (Real)leaf.pay) : 0.0f;
}

const int DEALS = 12;  // of a chance node that are loaded before any is added

// A chance node: the sum over the deals, copies included. Equivalent hands share the sum of the first, in 64 bits. Up to
// `room` deals are listed in shared memory.
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
    const float* const lines = job.line_values + below.line_at + (long long)leaf.line * n;
    const short* const permutations = job.permutations + job.alike_hands[runout.symmetry * n + hand];
    const long long stride = (long long)below.lines * n;
    double sum = 0;
    for (int i = 0; i < count; i += DEALS) {
        float found[DEALS];
#pragma unroll
        for (int j = 0; j < DEALS; j++) {
            const Term& term = terms[min(i + j, count - 1)];
            found[j] = lines[term.child * stride + permutations[term.permutation * n]];
        }
#pragma unroll
        for (int j = 0; j < DEALS; j++)
            if (i + j < count) sum += terms[i + j].probability * (double)found[j];
    }
    values[hand] = (float)sum;
}

extern "C" __global__ void leaves(const Job* jobs, const Item* items, int street_number, int room) {
    const Item item = items[blockIdx.x];
    const Job job = jobs[item.job];
    const Street street = job.streets[street_number], below = job.streets[street_number + 1];
    const Leaf leaf = job.leaves[item.piece];
    float* const values = values_of(job, street, false, item.runout) + (long long)leaf.value_row * job.own_hands;
    const int hand = blockIdx.y * blockDim.x + threadIdx.x;
    if (leaf.line >= 0) chance_values(job, street, below, item, leaf, hand, values, room);
    else fold_values(job, street, item, leaf, hand, values);
}

// OWN: own reach and averages first.
template <int MODE, bool OWN>
__device__ __forceinline__ void walk_up(const Job* jobs, const Item* items, int blocks, int street_number, int kept_count,
                                          const Step* steps, int stride) {
    const Place place = place_of(blocks);
    const Item item = items[place.item];
    const Job job = jobs[item.job];
    const int n = job.own_hands, each = n / FOUR, line_number = place.unit / each;
    const int hand = FOUR * (place.unit - line_number * each);
    if (line_number >= job.streets[street_number].lines) return;
    const Stretch at = stretch_of(job, item, street_number, line_number);
    const bool is_last = street_number == job.last_street;
    const Kept kept = kept_rows(kept_count);
    const Numbers numbers = numbers_of<MODE>(job, at.street, at.local);
    float* const rows = values_of(job, at.street, is_last, at.slot) + hand;
    if (OWN)
        prefetch_line(at, hand / FOUR, each, [&](const Decision& decision) {
            const int children[] = {decision.child_a, decision.child_b, decision.child_c, decision.child_d};
            EACH(a) if (a < decision.actions && children[a] >= 0)
                prefetch_l2(rows - hand + children[a] * n, n * sizeof(float));
            if (!decision.mine) return;
            const int count = decision.actions * n;
            prefetch_l2(numbers.regret + decision.block, count * sizeof(Regret));
            if (PREDICTS) prefetch_l2(numbers.matched + decision.block, count * sizeof(Regret));
            prefetch_l2(numbers.average + decision.block, count * sizeof(Average));
        });
    Step step = {};
    if (MODE == LEARN) step = step_of(steps, stride, item.job);
    if (OWN && at.line.first_decision < at.line.last_decision) own_rows(at, step, hand, kept);
    const Chances rounding = *(const Chances*)(job.roundings + at.runout.symmetry * n + hand);
    const long long row = (long long)at.local * at.street.lines + at.piece;
    float* const line_values = job.line_values + at.street.line_at + row * n + hand;
    const int* const children = job.children;
    const int root = at.line.root, first = at.line.first_decision;
    const auto value_at = [&](int row) { return row < 0 ? kept[~row] : hands_at(rows + row * n); };
    for (int i = at.line.last_decision - 1; i >= first; i--) {
        const Decision decision = record_at(job.decisions + i);
        const Hands value = join<MODE>(numbers, step, decision, hand, rounding, [&](int a) {
            const int row = a == 0 ? decision.child_a : a == 1 ? decision.child_b : a == 2 ? decision.child_c
                          : a == 3 ? decision.child_d : load_table(children + decision.first + a);
            return value_at(row);
        });
        if (decision.kept >= 0) kept[decision.kept] = value;
        if (decision.place >= 0) hands_at(rows + decision.place * n) = value;
    }
    hands_at(line_values) = value_at(root);
}

extern "C" __global__ void learn_up(const Job* jobs, const Item* items, int blocks, int street, int kept, const Step* steps,
                                    int stride) {
    walk_up<LEARN, false>(jobs, items, blocks, street, kept, steps, stride);
}
extern "C" __global__ void __launch_bounds__(128, UP_BLOCKS)
last_up(const Job* jobs, const Item* items, int blocks, int street, int kept, const Step* steps, int stride) {
    walk_up<LEARN, true>(jobs, items, blocks, street, kept, steps, stride);
}
// The average strategy, and in the jobs of the other way a best response.
extern "C" __global__ void value_up(const Job* jobs, const Item* items, int blocks, int street, int kept, const Step* steps,
                                    int stride) {
    if (!jobs[items[place_of(blocks).item].job].best) walk_up<MEAN, false>(jobs, items, blocks, street, kept, steps, stride);
    else walk_up<BEST, false>(jobs, items, blocks, street, kept, steps, stride);
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
        const long long at = job.lock_at[i];
        ((Regret*)job.regret)[at] = ((const Regret*)job.lock_regret)[i];
        ((Regret*)job.matched)[at] = ((const Regret*)job.lock_regret)[i];
        ((Average*)job.average)[at] = ((const Average*)job.lock_average)[i];
    }
}
