// Lines of the betting tree on a runout: where their records and rows are, and the reach they begin with. Rows of reach and
// values, one per node and runout, are in device memory; what only a thread or its block needs again stays in shared memory.

// A record of a table, read whole.
template <typename Record> __device__ __forceinline__ Record record_at(const Record* at) {
    Record result;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(Record) / sizeof(int4)); i++) ((int4*)&result)[i] = load_table((const int4*)at + i);
    return result;
}

// One line of the tree on one runout. Records are copied, or the compiler would reload them after every store.
struct RunoutLine {
    const Job& job;
    Street street, above;  // the street itself and the one before it, if there is one
    Runout runout;
    Line line;
    int piece, local, number, slot;
};

// `position` counts the lines of a street in the order in which threads take them.
__device__ __forceinline__ RunoutLine runout_line(const Job& job, const Item& item, int street_number, int position) {
    const Street street = job.streets[street_number], above = job.streets[max(street_number - 1, 0)];
    const int number = street.first_runout + item.runout;
    const int piece = load_table(job.line_order + street.first_line + position);
    return {job,   street,      above,  record_at(job.runouts + number), record_at(job.lines + street.first_line + piece),
            piece, item.runout, number, item.slot};
}

__device__ __forceinline__ Hands& hands_at(float* row) { return *(Hands*)row; }
__device__ __forceinline__ Hands hands_once(const float* row) {
    const float4 result = load_once((const float4*)row);
    return *(const Hands*)&result;
}

// Rows that are kept in shared memory, for each of the block's `slices`.
struct CachedRows {
    Hands* first;
    int count, slices;
    __device__ __forceinline__ Hands read(int row) const { return first[row * slices]; }
    __device__ __forceinline__ void write(int row, const Hands& numbers) const { first[row * slices] = numbers; }
};

__device__ __forceinline__ CachedRows cached_rows(int count, int slices, int slice) {
    return {pin_shared((Hands*)shared_space + slice), count, slices};
}

// Rows of reach of a line: those below 0 are only kept; of the others, the first few are kept too, as they are stored.
template <typename Number> struct Rows {
    Number* all;
    CachedRows cached;
    int first, hands;
    __device__ __forceinline__ Hands read(int row) const {
        if (row < 0) return cached.read(~row);
        return row - first < cached.count ? cached.read(row - first) : Stored<Number>::read(all + row * hands);
    }
    __device__ __forceinline__ void write(int row, const Hands& reach) const {
        if (row < 0) {
            cached.write(~row, reach);
            return;
        }
        const Hands stored = Stored<Number>::write(all + row * hands, reach);
        if (row - first < cached.count) cached.write(row - first, stored);
    }
};

// The opponent's reach is in half precision where `products.cu` multiplies it: on the last street, where nothing else is
// walked down, while the own player learns.
template <int MODE, bool OWN> const bool IN_HALVES = PRODUCTS && MODE == LEARN && !OWN;
// It then gives the values of lines without decisions too.
template <int MODE, bool OWN> const bool REST_DONE = PRODUCTS && MODE == LEARN && OWN;
template <bool HALVES> struct Reach { typedef float Number; };
template <> struct Reach<true> { typedef unsigned short Number; };

// Writes what leaves an opponent's decision. Where calling leads to a showdown, the fold's row gets a mixture of both, which
// is what `terminals.cu` needs. `products.cu` needs the fold alone, with a factor.
template <typename Number> struct Leaving {
    static const bool MIXES = sizeof(Number) == sizeof(float);
    const Rows<Number>& rows;
    int to;
    Mixture mixture;
    Hands mixed;
    __device__ __forceinline__ Leaving(const Job& job, const Decision& decision, const Rows<Number>& rows)
        : rows(rows), to(decision.child_reach_row), mixture{-1, -1}, mixed{} {
        if (decision.needed >= 0) mixture = record_at(job.mixtures + decision.needed);
    }
    __device__ __forceinline__ void operator()(int a, const Hands& leaving) {
        const bool folds = a == mixture.fold, calls = MIXES && a == mixture.call;
        if (!folds) rows.write(to + a, leaving);
        if (!folds && !calls) return;
        const float share = !MIXES ? mixture.stake_share : folds ? mixture.fold_share : mixture.call_share;
        EACH_HAND(j) mixed[j] = fmaf(share, leaving[j], mixed[j]);
        if (!MIXES || (a >= mixture.fold && a >= mixture.call)) rows.write(to + mixture.fold, mixed);
    }
};

// Where the value of a decision's child is: a row, or ~where it is kept.
__device__ __forceinline__ int child_of(const Decision& decision, int a, const int* children) {
    return a == 0 ? decision.child_a : a == 1 ? decision.child_b : a == 2 ? decision.child_c
         : a == 3 ? decision.child_d : load_table(children + decision.first_child + a);
}

// An own decision on the way down: averages, and reach where something reads it.
template <typename From>
__device__ __forceinline__ void split_own(const From& from, const Numbers& numbers, const Step& step,
                                          const Decision& decision, int hand, const Chances& rounding,
                                          const Rows<float>& rows) {
    const unsigned needed = decision.needed;  // a bit per action
    int to = decision.child_reach_row;
    const int next = to < 0 ? -1 : 1;
    split_and_average(from, numbers, step, decision, hand, rows.read(decision.reach_row), rounding,
                      [&](int a, const Hands& leaving) {
                          if (a > 31 || needed >> a & 1) {
                              rows.write(to, leaving);
                              to += next;
                          }
                      });
}

// The reach of a slice of hands in a row of the street above: they may be only those that the runout leaves.
__device__ __forceinline__ Hands arriving_at(const float* row, const Street& street, const short* places, int hand,
                                             int local, int hands) {
#if PLACES
    if (street.has_places) {
        const Slice<short> place = *(const Slice<short>*)(places + (long long)local * hands + hand);
        Hands reach;
        EACH_HAND(j) reach[j] = place[j] < 0 ? 0.0f : row[place[j]];
        return reach;
    }
#endif
    return *(const Hands*)(row + hand);
}

// The opponent's rows of a line, for a slice of hands, and the reach it begins with.
template <bool HALVES>
__device__ __forceinline__ auto rows_of_other(const RunoutLine& at, int hand, const CachedRows& cached) {
    typedef typename Reach<HALVES>::Number Number;
    const int m = other_hands_of(at.job, at.street);
    const long long row = (long long)at.slot * at.street.opponent_rows;
    Number* const rows = (Number*)(at.job.opponent_rows + at.street.opponent_begin);
    return Rows<Number>{pin_global(rows + row * m + hand), cached, at.line.opponent_row, m};
}
template <bool HALVES> __device__ __forceinline__ Hands first_of_other(const RunoutLine& at, int hand) {
    const Job& job = at.job;
    const int m = job.other_hands;
    Hands reach = *(const Hands*)(job.other_reach + hand);
    if (at.runout.parent >= 0) {
        const long long row = (long long)at.runout.parent * at.above.opponent_rows + at.line.above_opponent;
        const float* const above = job.opponent_rows + at.above.opponent_begin + row * m;
        reach = arriving_at(above, at.street, job.other_places, hand, at.local, at.street.other_hands);
    }
#if PLACES
    if (at.street.has_places) return reach;
#endif
    const Slice<unsigned char> alive = *(const Slice<unsigned char>*)(job.other_alive + (long long)at.number * m + hand);
    EACH_HAND(j) reach[j] = !alive[j] ? 0.0f : HALVES ? reach[j] * job.reach_scale : reach[j];
    return reach;
}

// The same of the own player.
__device__ __forceinline__ Rows<float> rows_of_own(const RunoutLine& at, int hand, const CachedRows& cached) {
    const int n = own_hands_of(at.job, at.street);
    const long long row = (long long)at.slot * at.street.own_rows;
    return {pin_global(at.job.own_rows + at.street.own_rows_begin + row * n + hand), cached, at.line.own_row, n};
}
__device__ __forceinline__ Hands first_of_own(const RunoutLine& at, int hand) {
    if (at.runout.parent < 0) {
        Hands all;
        EACH_HAND(j) all[j] = 1.0f;
        return all;
    }
    const long long row = (long long)at.runout.parent * at.above.own_rows + at.line.above_own;
    const float* const above = at.job.own_rows + at.above.own_rows_begin + row * at.job.own_hands;
    return arriving_at(above, at.street, at.job.own_places, hand, at.local, at.street.own_hands);
}

// What decides how numbers of own hands are rounded.
__device__ __forceinline__ Chances rounding_of(const RunoutLine& at, int hand) {
    const unsigned* const roundings = at.job.roundings + at.runout.symmetry * at.job.own_hands;
#if PLACES
    if (at.street.has_places) {
        const long long first = (long long)at.local * at.street.own_hands + hand;
        const Slice<short> place = *(const Slice<short>*)(at.job.own_places + first);
        Chances result;
        EACH_HAND(j) result[j] = roundings[max((int)place[j], 0)];
        return result;
    }
#endif
    return *(const Chances*)(roundings + hand);
}

// The weights of a job's iteration, `stride` from one spot to the next; the jobs of a spot are adjacent.
__device__ __forceinline__ Step step_of(const Step* steps, int stride, int job) {
    return steps[(long long)(job / 2) * stride];
}

__device__ __forceinline__ float* values_of(const Job& job, const Street& street, bool is_last, int slot) {
    return (is_last ? job.value_rows : job.earlier_values) + street.value_begin +
           (long long)slot * street.value_rows * own_hands_of(job, street);
}
