// A decision for a slice of hands: how their strategies split reach on the way down, and join values on the way up.
//
// The numbers of a node are [hands / 16, actions, 16], so the actions of a hand are sixteen numbers apart. Up to four
// actions are unrolled, with all loads before the first use. `from` says where a decision's numbers come from: memory,
// or what a thread has loaded ahead (`levels.cu`). There, fetching instructions is the bottleneck, so the same code serves
// up to four actions. Whether a compiler fuses a multiplication with an addition depends on the code around it; here it is
// written out, with fmaf, so that all walks give the same bits.

const int LEARN = 0, BEST = 1, MEAN = 2;  // what the own player does: regret matching, best response, average strategy
const int LANES = 16;

// The stored numbers of one runout. Fields of the job are copied: as far as the compiler knows, any store might change the
// job, so it would reload them after each.
struct Numbers {
    Regret* regret;
    Regret* matched;
    Average* average;
    const void* other;    // regrets while the own player learns, else averages
    long long own_start;  // index of the first of the own numbers in snapshots, which determines how they are rounded
    const int* lock_rows; // of the runout, by node; null without locks
    const unsigned char* locked;
    int hands;
    const float* const* tables;  // strategies per bucket, by node, and the buckets of both players' hands on the runout
    const unsigned short* own_buckets;
    const unsigned short* other_buckets;
};

// Hands in the rows of a street: without PLACES, those of the form on every street.
__device__ __forceinline__ int own_hands_of(const Job& job, const Street& street) {
    return PLACES ? street.own_hands : job.own_hands;
}
__device__ __forceinline__ int other_hands_of(const Job& job, const Street& street) {
    return PLACES ? street.other_hands : job.other_hands;
}

template <int MODE>
__device__ __forceinline__ Numbers numbers_of(const Job& job, const Street& street, int runout) {
    const long long own = street.own_begin + runout * street.own_size, other = street.other_begin + runout * street.other_size;
    const void* theirs = MODE == LEARN ? (const void*)((const Regret*)job.other_matched + other)
                                       : (const void*)((const Average*)job.other_average + other);
    const long long lock_row = (long long)(street.first_runout + runout) * job.nodes;
    const long long row = street.first_runout + runout;
    Regret* const regret = pin_global((Regret*)job.regret + own);
    return {regret, PREDICTS ? pin_global((Regret*)job.matched + own) : regret,
            pin_global((Average*)job.average + own), pin_global(theirs), street.rounding_begin + runout * street.rounding_size,
            MODE == BEST && job.lock_rows ? job.lock_rows + lock_row : nullptr, job.locked, job.own_hands,
            job.tables, job.own_buckets + row * job.own_hands, job.other_buckets + row * job.other_hands};
}

__device__ __forceinline__ int number_at(const Decision& decision, int hand) {
    return decision.block + (hand & -LANES) * decision.actions + (hand & (LANES - 1));
}

// What decides how the numbers of an action are rounded.
__device__ __forceinline__ unsigned chance_of(const Numbers& numbers, const Step& step, const Decision& decision, int a) {
    return STORAGE == 32 ? 0u : hashed(step.salt + numbers.own_start + decision.before * numbers.hands + a);
}

// What the strategies of a slice of hands at a decision are matched to: `load(a)` returns the numbers of action a, in two
// steps `hands_of(stored(a))`, since stored numbers need fewer registers.
struct Regrets {
    typedef Slice<Regret> Stored;
    static const bool AHEAD = false;
    const Regret* at;
    __device__ __forceinline__ Stored stored(int a) const { return load_regrets(at + a * LANES); }
    static __device__ __forceinline__ Hands hands_of(const Stored& stored) { return positive_of(regrets_of(stored)); }
    __device__ __forceinline__ Hands load(int a) const { return hands_of(stored(a)); }
};

#if BUCKETED
// The averages of the hands' buckets. A table is [buckets, actions], so that what a hand does is in one place.
struct Averages {
    typedef Hands Stored;
    static const bool AHEAD = false;
    const float* table;
    Slice<unsigned short> bucket;
    int actions;
    __device__ __forceinline__ Stored stored(int a) const {
        Hands result;
        EACH_HAND(j) result[j] = load_table(table + bucket[j] * actions + a);
        return result;
    }
    static __device__ __forceinline__ Hands hands_of(const Stored& stored) { return positive_of(stored); }
    __device__ __forceinline__ Hands load(int a) const { return hands_of(stored(a)); }
};

template <bool OWN>
__device__ __forceinline__ Averages averages_at(const Numbers& numbers, const Decision& decision, int hand) {
    const long long result = load_table((const long long*)((OWN ? numbers.own_buckets : numbers.other_buckets) + hand));
    return {load_table(numbers.tables + decision.node), *(const Slice<unsigned short>*)&result, decision.actions};
}
#else
struct Averages {
    typedef Slice<Average> Stored;
    static const bool AHEAD = false;
    const Average* at;
    __device__ __forceinline__ Stored stored(int a) const { return load_averages(at + a * LANES); }
    static __device__ __forceinline__ Hands hands_of(const Stored& stored) { return positive_of(averages_of(stored)); }
    __device__ __forceinline__ Hands load(int a) const { return hands_of(stored(a)); }
};

template <bool OWN>
__device__ __forceinline__ Averages averages_at(const Numbers& numbers, const Decision& decision, int hand) {
    return {(OWN ? numbers.average : (const Average*)numbers.other) + number_at(decision, hand)};
}
#endif

// What the opponent plays at a decision.
template <int MODE>
__device__ __forceinline__ auto played_at(const Numbers& numbers, const Decision& decision, int hand) {
    if constexpr (MODE == LEARN) return Regrets{(const Regret*)numbers.other + number_at(decision, hand)};
    else return averages_at<false>(numbers, decision, hand);
}

// The own player's numbers at a decision; `load(a)` returns those that the strategy is matched to while it learns.
struct Mine {
    static const bool AHEAD = false;
    const Numbers& numbers;
    const Decision& decision;
    int hand, at;
    __device__ __forceinline__ Slice<Regret> regret(int a) const { return load_regrets(numbers.regret + at + a * LANES); }
    __device__ __forceinline__ Slice<Regret> matched(int a) const { return load_regrets(numbers.matched + at + a * LANES); }
    __device__ __forceinline__ Slice<Average> average(int a) const {
        return load_averages(numbers.average + at + a * LANES);
    }
    __device__ __forceinline__ Hands load(int a) const { return positive_of(regrets_of(matched(a))); }
    __device__ __forceinline__ Averages averages() const { return averages_at<true>(numbers, decision, hand); }
    static __device__ __forceinline__ bool averages_now() { return false; }  // on the way up
    static __device__ __forceinline__ Hands reach() { return {}; }           // for that
};

__device__ __forceinline__ Mine mine_at(const Numbers& numbers, const Decision& decision, int hand) {
    return {numbers, decision, hand, number_at(decision, hand)};
}

// Calls few(the most actions, actions) if there is unrolled code for that many, else many().
template <int COUNT> struct Most { static const int MOST = COUNT; };
template <typename From, typename Few, typename Many>
__device__ __forceinline__ auto by_actions(int actions, Few few, Many many) {
    if (From::AHEAD) {
        if (actions <= FOUR) return few(Most<FOUR>{}, actions);
    } else {
        switch (actions) {
            case 1: return few(Most<1>{}, 1);
            case 2: return few(Most<2>{}, 2);
            case 3: return few(Most<3>{}, 3);
            case 4: return few(Most<4>{}, 4);
        }
    }
    return many();
}
#define FEW(a, first, MOST, actions) _Pragma("unroll") for (int a = first; a < MOST; a++) if (a < actions)

__device__ __forceinline__ Hands added(Hands numbers, const Hands& to) {
    EACH_HAND(j) numbers[j] += to[j];
    return numbers;
}

// What arriving reach leaves with: an action gets its share of the positive numbers; all get the same if none is positive.
struct Shares {
    Hands factor, evenly;
    __device__ __forceinline__ Shares(const Hands& positive, const Hands& arriving, int actions) {
        EACH_HAND(j) {
            const bool some = positive[j] > 0.0f;
            const float each = product_of(arriving[j], inverse_of(some ? positive[j] : (float)actions));
            factor[j] = some ? each : 0.0f;
            evenly[j] = some ? 0.0f : each;
        }
    }
    __device__ __forceinline__ Hands leaving(const Hands& number) const {
        Hands result;
        EACH_HAND(j) result[j] = fmaf(number[j], factor[j], evenly[j]);
        return result;
    }
};

// Calls body(a, leaving reach) for every action.
template <int MOST, typename From, typename Body>
__device__ __forceinline__ void split_few(const From& from, int actions, const Hands& arriving, Body body) {
    Hands number[MOST];
    FEW(a, 0, MOST, actions) number[a] = from.load(a);
    Hands positive = number[0];
    FEW(a, 1, MOST, actions) positive = added(positive, number[a]);
    const Shares shares(positive, arriving, actions);
    FEW(a, 0, MOST, actions) body(a, shares.leaving(number[a]));
}

template <typename From, typename Body>
__device__ __forceinline__ void split_many(const From& from, int actions, const Hands& arriving, Body body) {
    Hands positive = from.load(0);
#pragma unroll 1
    for (int a = 1; a < actions; a++) positive = added(positive, from.load(a));
    const Shares shares(positive, arriving, actions);
#pragma unroll 1
    for (int a = 0; a < actions; a++) body(a, shares.leaving(from.load(a)));
}

template <typename From, typename Body>
__device__ __forceinline__ void split(const From& from, int actions, const Hands& arriving, Body body) {
    by_actions<From>(
        actions,
        [&](auto most, int actions) { split_few<decltype(most)::MOST>(from, actions, arriving, body); },
        [&] { split_many(from, actions, arriving, body); });
}

__device__ __forceinline__ Hands averaged(const Step& step, const Hands& sum, const Hands& leaving) {
    Hands result;
    EACH_HAND(j) result[j] = fmaf(leaving[j], step.average_weight, fmaf(sum[j], step.average_decay, -TOO_SMALL));
    return result;
}

// Own reach as it counts in averages.
__device__ __forceinline__ Hands counted(Hands reach, const Step& step) {
    EACH_HAND(j) reach[j] = fmaf(reach[j], step.reach_share, 1.0f - step.reach_share);
    return reach;
}

// The new average of one action.
__device__ __forceinline__ void average_action(const Numbers& numbers, const Step& step, const Decision& decision, int at, int a,
                                               const Slice<Average>& sum, const Hands& leaving, const Chances& rounding) {
    store_averages(numbers.average + at + a * LANES, averaged(step, averages_of(sum), leaving),
                   chance_of(numbers, step, decision, a), rounding);
}

// The own player's decision on the way down: as above, and the average is updated.
template <typename From, typename Body>
__device__ __forceinline__ void split_and_average(const From& from, const Numbers& numbers, const Step& step,
                                                  const Decision& decision, int hand, const Hands& reach,
                                                  const Chances& rounding, Body body) {
    const Hands arriving = counted(reach, step);
    const int at = number_at(decision, hand);
    const auto store = [&](int a, const Slice<Average>& sum, const Hands& leaving) {
        body(a, leaving);
        average_action(numbers, step, decision, at, a, sum, leaving, rounding);
    };
    by_actions<From>(
        decision.actions,
        [&](auto most, int actions) {
            const int MOST = decltype(most)::MOST;
            Slice<Average> sum[MOST];
            FEW(a, 0, MOST, actions) sum[a] = from.average(a);
            split_few<MOST>(from, actions, arriving, [&](int a, const Hands& leaving) { store(a, sum[a], leaving); });
        },
        [&] {
            split_many(from, decision.actions, arriving,
                       [&](int a, const Hands& leaving) { store(a, from.average(a), leaving); });
        });
}

struct ActionValues {
    Hands positive = {}, mixed = {}, plain = {};
    __device__ __forceinline__ void add(const Hands& number, const Hands& value) {
        EACH_HAND(j) {
            positive[j] += number[j];
            mixed[j] = fmaf(number[j], value[j], mixed[j]);
            plain[j] += value[j];
        }
    }
    __device__ __forceinline__ Hands mean(int actions) const {
        Hands result;
        EACH_HAND(j) {
            const bool some = positive[j] > 0.0f;
            result[j] = product_of(some ? mixed[j] : plain[j], inverse_of(some ? positive[j] : (float)actions));
        }
        return result;
    }
};

// The new regret of one action, and what the next strategy is matched to: the update of `variants/variant.py`, fused.
__device__ __forceinline__ void update_regret(const Numbers& numbers, const Step& step, const Decision& decision, int at, int a,
                                               const Hands& old, const Hands& value, const Hands& mean,
                                               const Chances& rounding) {
    const Hands positive = positive_of(old);
    const float more = step.positive_discount - step.negative_discount, lowest = step.floor > 0.0f ? 0.0f : -3e38f;
    Hands regret, predicted;
    EACH_HAND(j) {
        const float gain = value[j] - mean[j];
        regret[j] = fmaxf(fmaf(positive[j], more, fmaf(old[j], step.negative_discount, gain)), lowest);
        predicted[j] = fmaf(regret[j], step.prediction_discount, gain * step.prediction);
    }
    const unsigned chance = chance_of(numbers, step, decision, a);
    store_regrets(numbers.regret + at + a * LANES, regret, chance, rounding);
    if (PREDICTS) store_regrets(numbers.matched + at + a * LANES, predicted, chance, rounding);
}

// The own player's decision on the way up: its value, new regrets and, if not yet updated on the way down, averages.
// `value(a)` is the value of action a.
template <typename From, typename Value>
__device__ __forceinline__ Hands improve(const From& from, const Numbers& numbers, const Step& step,
                                         const Decision& decision, int hand, const Chances& rounding, Value value) {
    const int at = number_at(decision, hand);
    const bool averages = from.averages_now();
    return by_actions<From>(
        decision.actions,
        [&](auto most, int actions) {
            const int MOST = decltype(most)::MOST;
            Slice<Regret> old[MOST];
            Hands below[MOST];
            FEW(a, 0, MOST, actions) old[a] = from.regret(a);
            Slice<Average> sum[MOST];
            if (averages) FEW(a, 0, MOST, actions) sum[a] = from.average(a);
            const auto played = [&](int a) { return positive_of(regrets_of(PREDICTS ? from.matched(a) : old[a])); };
            if (averages) {
                Hands positive = played(0);
                FEW(a, 1, MOST, actions) positive = added(positive, played(a));
                const Shares shares(positive, counted(from.reach(), step), actions);
                FEW(a, 0, MOST, actions)
                    average_action(numbers, step, decision, at, a, sum[a], shares.leaving(played(a)), rounding);
            }
            FEW(a, 0, MOST, actions) below[a] = value(a);  // after averages: fewer registers are needed at once
            ActionValues values;
            FEW(a, 0, MOST, actions) values.add(played(a), below[a]);
            const Hands mean = values.mean(actions);
            FEW(a, 0, MOST, actions)
                update_regret(numbers, step, decision, at, a, regrets_of(old[a]), below[a], mean, rounding);
            return mean;
        },
        [&] {
            const int actions = decision.actions;
            ActionValues values;
#pragma unroll 1
            for (int a = 0; a < actions; a++) values.add(from.load(a), value(a));
            const Hands mean = values.mean(actions);
#pragma unroll 1
            for (int a = 0; a < actions; a++)
                update_regret(numbers, step, decision, at, a, regrets_of(from.regret(a)), value(a), mean, rounding);
            return mean;
        });
}

// The value of a decision from those of its actions, whoever acts.
template <int MODE, typename From, typename Value>
__device__ __forceinline__ Hands join(const From& from, const Numbers& numbers, const Step& step, const Decision& decision,
                                      int hand, const Chances& rounding, Value value) {
    const int actions = decision.actions;
    if (!decision.mine) {
        Hands sum = value(0);
        FEW(a, 1, FOUR, actions) sum = added(sum, value(a));
        for (int a = FOUR; a < actions; a++) sum = added(sum, value(a));
        return sum;
    }
    if constexpr (MODE == LEARN) {
        return improve(from, numbers, step, decision, hand, rounding, value);
    } else {
        Hands mean = {};
        if (MODE == MEAN || numbers.lock_rows) {
            const auto played = from.averages();
            ActionValues values;
            for (int a = 0; a < actions; a++) values.add(played.load(a), value(a));
            mean = values.mean(actions);
            if (MODE == MEAN) return mean;
        }
        Hands highest = value(0);
        for (int a = 1; a < actions; a++) {
            const Hands below = value(a);
            EACH_HAND(j) highest[j] = fmaxf(highest[j], below[j]);
        }
        const int lock = numbers.lock_rows ? numbers.lock_rows[decision.node] : -1;
        if (lock >= 0) EACH_HAND(j) if (numbers.locked[(long long)lock * numbers.hands + hand + j]) highest[j] = mean[j];
        return highest;
    }
}
