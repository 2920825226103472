// Terminals of the last street: a block takes some of them on one runout, a column each.
//
// 1. `gather`        a thread per hand: their rows of the opponent's reach, transposed into a tile [opponent hands][columns].
// 2. `first_step`    a lane per two columns: partial sums of reach in order of strength, and E for pairs (`lists.cu`) of
//                    some cards.
// 3. `second_step`   a lane per two columns: P for every group, and E for all other pairs.
// 4. `store_values`  a thread per hand: P − E − E.
//
// With W, E and V the reach of the opponent's hands that are weaker, weaker or equal, and all, a showdown is worth
// (win − tie) · W + (tie − lose) · E + lose · V. Of a fold, only V remains: one sum over all hands and one per card, which
// a showdown beside it needs too. So a column includes
//
// - the opponent's fold, if calling instead leads to the showdown: nothing needs their values apart. The way down has
//   stored a *mixture* for it, lose · reach + pay · reach of the fold, whose V takes the place of lose · V;
// - the own fold, if calling instead leads to the showdown: both have the same reach. Its value has a row of its own.
//
// Where lanes are columns, half a warp follows the same list and little diverges. Two columns at a time share what it
// takes to find a row. A row of a tile has an odd number of such pairs, so that threads that transpose do not collide in
// shared memory.

const int WARP = 32;
const int TEAM = 16;  // lanes that sum a unit together, two columns each
const int MAX_COLUMNS = 2 * TEAM;

template <typename Number> __device__ __forceinline__ Two<Number>& two_at(Number* at) { return *(Two<Number>*)at; }
template <typename Number> __device__ __forceinline__ const Two<Number>& two_at(const Number* at) {
    return *(const Two<Number>*)at;
}

// A piece on one runout: columns, first those with a mixture, then those with an own fold. Of an odd number the last is
// taken twice: both columns of a pair then write the same.
struct LoadedPiece {
    const Job& job;
    Street street;
    const float* above;  // the opponent's rows of the street above
    int width, final, number, slot;
    Piece piece;
    const Terminal* terminal;  // [columns]
    const double* pays;        // [PAYS][width]

    __device__ __forceinline__ LoadedPiece(const Job& job, const Item& item, int width)
        : job(job), street(job.streets[job.last_street]), width(width), final(item.runout), slot(item.slot) {
        number = street.first_runout + final;
        const Street before = job.streets[max(job.last_street - 1, 0)];
        const long long row = (long long)max(job.runouts[number].parent, 0) * before.opponent_rows;
        above = job.opponent_rows + before.opponent_begin + row * job.other_hands;
        turn_to(item.piece);
    }
    __device__ __forceinline__ void turn_to(int piece_number) {
        piece = record_at(job.pieces + piece_number);
        terminal = job.terminals + piece.first;
        pays = job.pays + (long long)piece_number * PAYS * width;
    }
    __device__ __forceinline__ void turn_to(const LoadedPiece& other) {
        piece = other.piece, terminal = other.terminal, pays = other.pays;
    }
    __device__ __forceinline__ int paired() const { return piece.columns + piece.columns % 2; }
    __device__ __forceinline__ int column(int i) const { return min(i, piece.columns - 1); }
    __device__ __forceinline__ double pay(int which, int i) const { return pays[which * width + column(i)]; }
};

// What all threads need of every column.
struct Columns {
    const float* reach[2 * MAX_COLUMNS];   // rows in memory: of the columns, then of their mixtures
#if PLACES
    int above[2 * MAX_COLUMNS];            // whether they are rows of the street above
#endif
    Real weaker[MAX_COLUMNS];              // pays
    Real equal[MAX_COLUMNS];
    Real all[MAX_COLUMNS];
    Real fold[MAX_COLUMNS];
    Real same[MAX_COLUMNS];                // what the opponent's same hand, which both cards subtract, is worth,
    Real mixed[MAX_COLUMNS];               // and the same hand of the mixture
    Real fold_base[MAX_COLUMNS];           // what an own fold is worth before cards are subtracted
    int value_row[MAX_COLUMNS];
    int fold_row[MAX_COLUMNS];
};

__device__ __forceinline__ void fill_column(const LoadedPiece& loaded, Columns& columns, int i) {
    const int m = other_hands_of(loaded.job, loaded.street);
    const float* const rows = loaded.job.opponent_rows + loaded.street.opponent_begin +
                              (long long)loaded.slot * loaded.street.opponent_rows * m;
    const Terminal terminal = record_at(loaded.terminal + loaded.column(i));
    const double equal = loaded.pay(EQUAL, i), all = loaded.pay(ALL, i);
    const int row = terminal.opponent_row;
    const float* const reach = row < 0 ? loaded.above + ~row * loaded.job.other_hands : rows + row * m;
    columns.reach[i] = reach;
#if PLACES
    columns.above[i] = row < 0;
    if (i < loaded.piece.mixed) columns.above[loaded.paired() + i] = columns.above[i] && terminal.mixture < 0;
#endif
    columns.weaker[i] = (Real)loaded.pay(WEAKER, i);
    columns.equal[i] = (Real)equal;
    columns.all[i] = (Real)all;
    columns.fold[i] = (Real)loaded.pay(OWN_FOLD, i);
    columns.same[i] = (Real)(terminal.mixture < 0 ? equal + all : equal);
    columns.mixed[i] = (Real)(terminal.mixture < 0 ? 0.0 : all);
    columns.value_row[i] = terminal.value_row;
    columns.fold_row[i] = terminal.fold_value;
    if (i < loaded.piece.mixed)
        columns.reach[loaded.paired() + i] = terminal.mixture < 0 ? reach : rows + terminal.mixture * m;
}

// Step 1; a row of zeros follows the last hand. The tile is complete after `wait_for_copies` and a barrier.
__device__ __forceinline__ void gather(const LoadedPiece& loaded, const Columns& columns, float* reach, int stride) {
    const int m = other_hands_of(loaded.job, loaded.street), warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
    for (int i = threadIdx.x / WARP; i < loaded.paired() + loaded.piece.mixed; i += warps) {
        const float* const row = columns.reach[i];
#if PLACES
        if (columns.above[i]) {
            const short* const places = loaded.job.other_places + (long long)loaded.final * m;
            for (int hand = lane; hand < m; hand += WARP) reach[hand * stride + i] = row[max((int)places[hand], 0)];
            continue;
        }
#endif
        for (int hand = lane; hand < m; hand += WARP) {
            if (REACH_SHARED) copy_later(reach + hand * stride + i, row + hand);
            else reach[hand * stride + i] = row[hand];
        }
    }
    for (int i = threadIdx.x; i < stride; i += blockDim.x) reach[m * stride + i] = 0.0f;
}

struct Tile {
    float* reach;   // [opponent hands + 1][reach stride]  columns, then mixtures; the last row is 0
    Real* parts;    // [1 + pairs][stride]  E; the first row is 0
    Real* base;     // [groups][stride]  P
    Real* partial;  // [SEGMENTS][stride]  of columns,
    Real* mixed;    // [SEGMENTS][mixed stride]  and of mixtures
    Real* folds;    // [1 + deck][fold stride]  E of own folds; the first row is 0
    unsigned* operations;  // of all units
    Unit* units;           // [SEGMENTS + deck + 1]
    int units_count;
    int reach_stride, stride, mixed_stride, fold_stride;  // numbers from one row to the next
};

__device__ __forceinline__ Tile tile_of(const Rooms& room, int deck, char* outside) {
    return {(float*)(REACH_SHARED ? (char*)shared_space + room.reach : outside + room.reach),
            (Real*)(PARTS_SHARED ? (char*)shared_space + room.parts : outside + room.parts),
            (Real*)(shared_space + room.base),
            (Real*)(shared_space + room.partial),
            (Real*)(shared_space + room.mixed),
            (Real*)(shared_space + room.folds),
            (unsigned*)(shared_space + room.operations),
            (Unit*)(shared_space + room.units),
            SEGMENTS + deck,
            room.reach_stride, room.stride, room.mixed_stride, room.fold_stride};
}

// An operation: where a row of reach begins, in pairs, and flags in the highest bits, which an address in bytes shifts out.
const unsigned MARK = 1u << 31, EMIT = 1u << 30, PASS = 1u << 29, FLAGS = MARK | EMIT | PASS;
typedef Four<unsigned> Operations;  // read at once; units are padded with rows of zeros

// Two columns of a tile, as a lane sums them.
struct Lane {
    int column;
    bool mixes, folds;   // whether they have mixtures, and own folds
    const float* reach;  // the columns,
    const float* met;    // and what V is the sum of: they themselves or their mixtures
    Two<Real> weaker, equal, all, fold;  // pays
};

__device__ __forceinline__ Two<float> reach_at(const float* columns, unsigned operation) {
    return *(const Two<float>*)((const char*)columns + (operation << 3));
}

__device__ __forceinline__ const Operations* first_of(const Tile& tile, int unit) {
    return (const Operations*)(tile.operations + tile.units[unit].first);
}

__device__ __forceinline__ Two<Real> sum_rows(const Tile& tile, const float* columns, int unit) {
    Two<Real> sum = {0, 0};
    const Operations* const end = first_of(tile, unit + 1);
#pragma unroll 1
    for (const Operations* at = first_of(tile, unit); at < end; at++) {
        const Operations operations = *at;
        Two<float> reach[FOUR];
        EACH(j) reach[j] = reach_at(columns, operations[j]);
        EACH(j) BOTH(i) sum[i] += (Real)reach[j][i];
    }
    return sum;
}

// Running sums over a unit, with what they pay wherever a group or a pair needs it: all + W · weaker + E · equal.
__device__ __forceinline__ void running_sums(const Tile& tile, const Lane& lane, int unit, Two<Real> sum,
                                             const Two<Real>& met, Real* to) {
    const Operations* const end = first_of(tile, unit + 1);
    Two<Real> all, paid = {0, 0};
    BOTH(i) all[i] = met[i] * lane.all[i];
    const auto emit = [&] {
        two_at(to) = {paid[0] + sum[0] * lane.equal[0], paid[1] + sum[1] * lane.equal[1]};
        to += tile.stride;
    };
#pragma unroll 1
    for (const Operations* at = first_of(tile, unit); at < end; at++) {
        const Operations operations = *at;
        Two<float> reach[FOUR];
        EACH(j) reach[j] = reach_at(lane.reach, operations[j]);
        EACH(j) {
            if (operations[j] & (MARK | PASS)) {
                BOTH(i) paid[i] = all[i] + sum[i] * lane.weaker[i];
                if (operations[j] & PASS) emit();
                asm volatile("");  // or compilers compute this always and then choose: two instructions instead of one
            }
            BOTH(i) sum[i] += (Real)reach[j][i];
            if (operations[j] & EMIT) emit();
        }
    }
}

__device__ __forceinline__ void segment_sums(const Tile& tile, const Lane& lane, int segment) {
    two_at(tile.partial + segment * tile.stride + lane.column) = sum_rows(tile, lane.reach, segment);
    if (lane.mixes) two_at(tile.mixed + segment * tile.mixed_stride + lane.column) = sum_rows(tile, lane.met, segment);
}

__device__ __forceinline__ void card_parts(const Tile& tile, const Lane& lane, int unit, int fold_first) {
    const Two<Real> met = sum_rows(tile, lane.met, unit);
    if (lane.folds) {
        Two<Real>& part = two_at(tile.folds + tile.units[unit].fold_row * tile.fold_stride + lane.column - fold_first);
        BOTH(i) part[i] = met[i] * lane.fold[i];
    }
    running_sums(tile, lane, unit, {0, 0}, met, tile.parts + tile.units[unit].row + lane.column);
}

__device__ __forceinline__ void base_segment(const Tile& tile, const Lane& lane, int segment, Real* fold_base) {
    Two<Real> sum = {0, 0}, all = {0, 0};
#pragma unroll
    for (int k = 0; k < SEGMENTS; k++) {
        const Two<Real> partial = two_at(tile.partial + k * tile.stride + lane.column);
        BOTH(i) sum[i] = k == segment ? all[i] : sum[i];
        BOTH(i) all[i] += partial[i];
    }
    if (segment == 0) BOTH(i) fold_base[lane.column + i] = all[i] * lane.fold[i];
    if (lane.mixes) {
        all = {0, 0};
#pragma unroll
        for (int k = 0; k < SEGMENTS; k++) {
            const Two<Real> partial = two_at(tile.mixed + k * tile.mixed_stride + lane.column);
            BOTH(i) all[i] += partial[i];
        }
    }
    running_sums(tile, lane, segment, sum, all, tile.base + tile.units[segment].row + lane.column);
}

// What step 4 needs of an own hand.
struct Own {
    OwnHand sums, cards;
    bool lives;
};

__device__ __forceinline__ Own own_hand(const LoadedPiece& loaded, int hand) {
    const Job& job = loaded.job;
    const int n = own_hands_of(loaded.job, loaded.street), symmetry = job.runouts[loaded.number].symmetry;
    if (hand >= n) return {};
#if PLACES
    const long long at = (long long)loaded.final * n + hand;
    const int place = load_table(job.own_places + at);
    return {record_at(job.own_list + at), record_at(job.fold_list + symmetry * job.own_hands + max(place, 0)), place >= 0};
#else
    return {record_at(job.own_list + (long long)loaded.final * n + hand), record_at(job.fold_list + symmetry * n + hand),
            load_table(job.own_alive + (long long)loaded.number * n + hand) != 0};
#endif
}

// Step 4; `own` is the thread's first hand, loaded ahead.
__device__ __forceinline__ void store_values(const LoadedPiece& loaded, const Tile& tile, const Columns& columns, Own own) {
    const Piece& piece = loaded.piece;
    const int n = own_hands_of(loaded.job, loaded.street), paired = loaded.paired();
    const long long first = loaded.street.value_begin + (long long)loaded.slot * loaded.street.value_rows * n;
    for (int hand = threadIdx.x; hand < n; own = own_hand(loaded, hand += blockDim.x)) {
        float* const values = loaded.job.value_rows + first + hand;
        const Real* const all = tile.base + own.sums.group * tile.stride;
        const Real* const lower = tile.parts + own.sums.lower * tile.stride;
        const Real* const higher = tile.parts + own.sums.higher * tile.stride;
        const float* const same = tile.reach + own.sums.same * tile.reach_stride;
        const auto value_of = [&](int column) {
            const Two<Real> met = two_at(all + column), low = two_at(lower + column), high = two_at(higher + column);
            const Two<Real> pay = two_at(columns.same + column);
            const Two<float> same_reach = two_at(same + column);
            Two<Real> result;
            BOTH(i) result[i] = met[i] - low[i] - high[i] + same_reach[i] * pay[i];
            return result;
        };
        const auto store = [&](int row, Real value) { values[row * n] = own.lives ? (float)value : 0.0f; };
        int column = 0;
#pragma unroll 2
        for (; column < piece.mixed; column += 2) {
            Two<Real> value = value_of(column);
            const Two<float> same_reach = two_at(same + paired + column);
            const Two<Real> pay = two_at(columns.mixed + column);
            BOTH(i) value[i] += same_reach[i] * pay[i];
            BOTH(i) store(columns.value_row[column + i], value[i]);
        }
#pragma unroll 2
        for (; column < piece.columns; column += 2) {
            const Two<Real> value = value_of(column);
            BOTH(i) store(columns.value_row[column + i], value[i]);
        }
        const Real* const lower_card = tile.folds + own.cards.lower * tile.fold_stride - piece.fold_first;
        const Real* const higher_card = tile.folds + own.cards.higher * tile.fold_stride - piece.fold_first;
#pragma unroll 2
        for (column = piece.fold_first; column < piece.fold_last; column += 2) {
            const Two<Real> met = two_at(columns.fold_base + column), pay = two_at(columns.fold + column);
            const Two<Real> low = two_at(lower_card + column), high = two_at(higher_card + column);
            const Two<float> same_reach = two_at(same + column);
            BOTH(i) {
                const int row = columns.fold_row[column + i];
                if (row >= 0) store(row, met[i] - low[i] - high[i] + same_reach[i] * pay[i]);
            }
        }
    }
}

// The number of a thread, counted from another one on: what different threads load does not wait for each other.
__device__ __forceinline__ int thread_from(int first) {
    return (int)(threadIdx.x + blockDim.x - first % blockDim.x) % (int)blockDim.x;
}

// Steps 2 and 3 for the two columns of a lane; a barrier comes between them. A team takes one unit after another.
struct Sums {
    const Tile& tile;
    const Piece& piece;
    Lane lane;
    int team, teams;
    bool works;

    __device__ __forceinline__ Sums(const Tile& tile, const Piece& piece, const Columns& columns)
        : tile(tile), piece(piece), team(threadIdx.x / TEAM), teams(blockDim.x / TEAM) {
        const int column = threadIdx.x % TEAM * 2;
        works = column < piece.columns;
        if (!works) return;
        const float* const reach = tile.reach + column;
        const float* const met = column < piece.mixed ? reach + piece.columns + piece.columns % 2 : reach;
        lane = {column,
                column < piece.mixed,
                column >= piece.fold_first && column < piece.fold_last,
                REACH_SHARED ? pin_shared(reach) : reach,
                REACH_SHARED ? pin_shared(met) : met,
                two_at(columns.weaker + column),
                two_at(columns.equal + column),
                two_at(columns.all + column),
                two_at(columns.fold + column)};
    }

    // Segments, and a card for every team that has none.
    __device__ __forceinline__ int first_units() const { return min(max(teams, SEGMENTS), tile.units_count); }
    __device__ __forceinline__ void first_step() const {
        if (!works) return;
        for (int unit = team; unit < first_units(); unit += teams) {
            if (unit < SEGMENTS) segment_sums(tile, lane, unit);
            else card_parts(tile, lane, unit, piece.fold_first);
        }
    }

    // Segments again, and all other cards.
    __device__ __forceinline__ void second_step(Real* fold_base) const {
        if (!works) return;
        const int first = first_units(), rest = tile.units_count - first;
        for (int task = team; task < SEGMENTS + rest; task += teams) {
            if (task < SEGMENTS) base_segment(tile, lane, task, fold_base);
            else card_parts(tile, lane, first + task - SEGMENTS, piece.fold_first);
        }
    }
};

// A block takes up to `together` pieces on a runout, for which it loads lists once. `space`: device memory for tiles that do
// not fit in shared memory, some for each block.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
terminals(const Job* jobs, const Item* items, const Rooms* rooms, char* space, int together) {
    __align__(16) __shared__ Columns columns_of[2];  // of this piece and the next, by turns
    const Item item = items[gridDim.x - 1 - blockIdx.x];  // those whose rows were written last are first
    const Job job = jobs[item.job];
    const Rooms room = rooms[item.job % 2];  // of the player
    const Tile tile = tile_of(room, job.deck, space + (long long)blockIdx.x * room.block_bytes);
    const int units = SEGMENTS + job.deck, last = min(item.piece + together, job.piece_count);
    const auto fill = [&](const LoadedPiece& loaded, Columns& columns) {
        for (int i = thread_from(THREADS - WARP); i < loaded.paired(); i += blockDim.x) fill_column(loaded, columns, i);
    };
    LoadedPiece loaded(job, item, room.width);
    fill(loaded, columns_of[item.piece % 2]);
    const Unit* const unit_list = job.units + (long long)item.runout * (units + 1);
    for (int i = thread_from(THREADS - 4 * WARP); i <= units; i += blockDim.x) {
        Unit unit = record_at(unit_list + i);
        unit.row *= tile.stride;
        tile.units[i] = unit;
    }
    const Operations* const operations = (const Operations*)(job.operations + (long long)item.runout * job.max_operations);
    for (int i = threadIdx.x; i < job.max_operations / FOUR; i += blockDim.x) {
        Operations result = record_at(operations + i);
        EACH(j) result[j] = (result[j] & FLAGS) | (result[j] & ~FLAGS) * (tile.reach_stride / 2);
        ((Operations*)tile.operations)[i] = result;
    }
    for (int i = threadIdx.x; i < tile.stride; i += blockDim.x) tile.parts[i] = 0;
    for (int i = threadIdx.x; i < tile.fold_stride; i += blockDim.x) tile.folds[i] = 0;

    for (int piece = item.piece;; piece++) {
        Columns& columns = columns_of[piece % 2];
        SYNC_BLOCK();
        gather(loaded, columns, tile.reach, tile.reach_stride);
        wait_for_copies();
        SYNC_BLOCK();
        const Sums sums(tile, loaded.piece, columns);
        sums.first_step();
        SYNC_BLOCK();
        const Own own = own_hand(loaded, threadIdx.x);
        const bool more = piece + 1 < last;
        LoadedPiece next = loaded;
        if (more) {
            next.turn_to(piece + 1);
            fill(next, columns_of[(piece + 1) % 2]);
        }
        sums.second_step(columns.fold_base);
        SYNC_BLOCK();
        store_values(loaded, tile, columns, own);
        if (!more) return;
        loaded.turn_to(next);
    }
}
