// Terminals of the last street: a block takes some of them on one runout, a column each.
//
// 1. `gather`   a thread per hand: their rows of the opponent's reach, transposed into a tile [opponent hands][columns].
// 2. `cards`    a lane per two columns: E for every pair (`lists.cu`), and partial sums of reach in order of strength.
// 3. `base`     a lane per two columns: P for every group.
// 4. `values`   a thread per hand: P − E − E.
//
// With W, E and V the reach of the opponent's hands that are weaker, weaker or equal, and all, a showdown is worth
// (win − tie) · W + (tie − lose) · E + lose · V. Of a fold, only V remains: one sum over all hands and one per card, which
// a showdown beside it needs too. So a column includes
//
// - the opponent's fold, if calling instead leads to the showdown: nothing needs their values apart. The tile has a
//   *mixture* for it, lose · reach + pay · reach of the fold, whose V takes the place of lose · V;
// - the own fold, if calling instead leads to the showdown: both have the same reach. Its value has a row of its own.
//
// Where lanes are columns, half a warp follows the same list and little diverges. Two columns at a time share what it
// takes to find a row. A row of a tile has an odd number of such pairs, so that threads that transpose do not collide in
// shared memory.

const int WARP = 32;
const int TEAM = 16;  // lanes that sum a unit together, two columns each
const int MOST_COLUMNS = 34;  // of a row of sums

template <typename Number> __device__ __forceinline__ Two<Number>& two_at(Number* at) { return *(Two<Number>*)at; }
template <typename Number> __device__ __forceinline__ const Two<Number>& two_at(const Number* at) {
    return *(const Two<Number>*)at;
}

// Some columns on one runout: first those with a mixture, then those with an own fold. Of an odd number the last is taken
// twice: both columns of a pair then write the same.
struct Sheet {
    const Job& job;
    Street street;
    Piece piece;
    const float* above;        // the opponent's rows of the street above
    const Terminal* terminal;  // [columns]
    const double* pays;        // [PAYS][width]
    int width, final, number, slot;
    __device__ __forceinline__ int paired() const { return piece.columns + piece.columns % 2; }
    __device__ __forceinline__ int column(int i) const { return min(i, piece.columns - 1); }
    __device__ __forceinline__ double pay(int which, int i) const { return pays[which * width + column(i)]; }
    __device__ __forceinline__ Two<Real> two_pays(int which, int i) const {
        return {(Real)pay(which, i), (Real)pay(which, i + 1)};
    }
};

__device__ __forceinline__ Sheet sheet_of(const Job& job, const Item& item, int width) {
    const Street street = job.streets[job.last_street], before = job.streets[max(job.last_street - 1, 0)];
    const int number = street.first_runout + item.runout;
    const long long row = (long long)max(job.runouts[number].parent, 0) * before.opponent_rows;
    const Piece piece = record_at(job.pieces + item.piece);
    return {job, street, piece, job.opponent_rows + before.opponent_at + row * job.other_hands,
            job.terminals + piece.first, job.pays + (long long)item.piece * PAYS * width,
            width, item.runout, number, item.slot};
}

// Step 1; a row of zeros follows the last hand. The tile is complete after `wait_for_copies` and a barrier.
__device__ __forceinline__ void gather(const Sheet& sheet, float* reach, int stride) {
    const int m = sheet.job.other_hands, warps = blockDim.x / WARP, lane = threadIdx.x % WARP, paired = sheet.paired();
    const float* const rows = sheet.job.opponent_rows + sheet.street.opponent_at +
                              (long long)sheet.slot * sheet.street.opponent_rows * m;
    for (int i = threadIdx.x / WARP; i < paired + sheet.piece.mixed; i += warps) {
        const int column = i < paired ? i : i - paired;
        const Terminal terminal = record_at(sheet.terminal + sheet.column(column));
        const int number = terminal.opponent_row;
        const float* const row = number < 0 ? sheet.above + ~number * m : rows + number * m;
        float* const to = reach + i;
        if (i < paired && REACH_SHARED) {
            for (int hand = lane; hand < m; hand += WARP) copy_later(to + hand * stride, row + hand);
        } else if (i < paired || terminal.fold_reach < 0) {
            for (int hand = lane; hand < m; hand += WARP) to[hand * stride] = row[hand];
        } else {
            const float* const folded = rows + terminal.fold_reach * m;
            const float share = (float)sheet.pay(MIX_SHOWDOWN, column), fold_share = (float)sheet.pay(MIX_FOLD, column);
            for (int hand = lane; hand < m; hand += WARP) to[hand * stride] = share * row[hand] + fold_share * folded[hand];
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
    int reach_stride, stride, mixed_stride, fold_stride;  // numbers from one row to the next
};

__device__ __forceinline__ Tile tile_of(const Rooms& room, char* outside) {
    return {(float*)(REACH_SHARED ? (char*)shared_space + room.reach : outside + room.reach),
            (Real*)(PARTS_SHARED ? (char*)shared_space + room.parts : outside + room.parts),
            (Real*)(shared_space + room.base),
            (Real*)(shared_space + room.partial),
            (Real*)(shared_space + room.mixed),
            (Real*)(shared_space + room.folds),
            (unsigned*)(shared_space + room.operations),
            (Unit*)(shared_space + room.units),
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
    for (int k = 0; k < SEGMENTS; k++) {
        if (k == segment) sum = all;
        const Two<Real> partial = two_at(tile.partial + k * tile.stride + lane.column);
        BOTH(i) all[i] += partial[i];
    }
    if (segment == 0) BOTH(i) fold_base[lane.column + i] = all[i] * lane.fold[i];
    if (lane.mixes) {
        all = {0, 0};
        for (int k = 0; k < SEGMENTS; k++) {
            const Two<Real> partial = two_at(tile.mixed + k * tile.mixed_stride + lane.column);
            BOTH(i) all[i] += partial[i];
        }
    }
    running_sums(tile, lane, segment, sum, all, tile.base + tile.units[segment].row + lane.column);
}

// What the last step needs of every column.
struct Columns {
    Real same_pay[MOST_COLUMNS];   // what the opponent's same hand, which both cards subtract, is worth,
    Real mixed_pay[MOST_COLUMNS];  // and the same hand of the mixture
    Real fold_pay[MOST_COLUMNS];
    Real fold_base[MOST_COLUMNS];
    int value_row[MOST_COLUMNS];
    int fold_row[MOST_COLUMNS];
};

// Step 4.
__device__ __forceinline__ void store_values(const Sheet& sheet, const Tile& tile, const Columns& columns) {
    const Job& job = sheet.job;
    const Piece& piece = sheet.piece;
    const int n = job.own_hands, paired = sheet.paired();
    const unsigned char* const alive = job.own_alive + (long long)sheet.number * n;
    const OwnHand* const own_list = job.own_list + (long long)sheet.final * n;
    const OwnHand* const fold_list = job.fold_list + job.runouts[sheet.number].symmetry * n;
    float* const values = job.value_rows + sheet.street.value_at + (long long)sheet.slot * sheet.street.value_rows * n;
    for (int hand = threadIdx.x; hand < n; hand += blockDim.x) {
        const OwnHand own = record_at(own_list + hand);
        const Real* const all = tile.base + own.group * tile.stride;
        const Real* const lower = tile.parts + own.lower * tile.stride;
        const Real* const higher = tile.parts + own.higher * tile.stride;
        const float* const same = tile.reach + own.same * tile.reach_stride;
        const bool lives = alive[hand];
        const auto value_of = [&](int column) {
            const Two<Real> met = two_at(all + column), low = two_at(lower + column), high = two_at(higher + column);
            const Two<Real> pay = two_at(columns.same_pay + column);
            const Two<float> held = two_at(same + column);
            Two<Real> found;
            BOTH(i) found[i] = met[i] - low[i] - high[i] + held[i] * pay[i];
            return found;
        };
        const auto store = [&](int row, Real value) { values[row * n + hand] = lives ? (float)value : 0.0f; };
        int column = 0;
        for (; column < piece.mixed; column += 2) {
            Two<Real> value = value_of(column);
            const Two<float> held = two_at(same + paired + column);
            const Two<Real> pay = two_at(columns.mixed_pay + column);
            BOTH(i) value[i] += held[i] * pay[i];
            BOTH(i) store(columns.value_row[column + i], value[i]);
        }
#pragma unroll 2
        for (; column < piece.columns; column += 2) {
            const Two<Real> value = value_of(column);
            BOTH(i) store(columns.value_row[column + i], value[i]);
        }
        const OwnHand cards = record_at(fold_list + hand);
        const Real* const lower_card = tile.folds + cards.lower * tile.fold_stride - piece.fold_first;
        const Real* const higher_card = tile.folds + cards.higher * tile.fold_stride - piece.fold_first;
        for (column = piece.fold_first; column < piece.fold_last; column += 2) {
            const Two<Real> met = two_at(columns.fold_base + column), pay = two_at(columns.fold_pay + column);
            const Two<Real> low = two_at(lower_card + column), high = two_at(higher_card + column);
            const Two<float> held = two_at(same + column);
            BOTH(i) {
                const int row = columns.fold_row[column + i];
                if (row >= 0) store(row, met[i] - low[i] - high[i] + held[i] * pay[i]);
            }
        }
    }
}

// `space`: device memory for tiles that do not fit in shared memory, some for each block.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
terminals(const Job* jobs, const Item* items, const Rooms* rooms, char* space) {
    __align__(16) __shared__ Columns columns;
    const Item item = items[blockIdx.x];
    const Job job = jobs[item.job];
    const Rooms room = rooms[item.job % 2];  // of the player
    const Sheet sheet = sheet_of(job, item, room.width);
    const Piece piece = sheet.piece;
    const Tile tile = tile_of(room, space + (long long)blockIdx.x * room.block_bytes);
    const int units = SEGMENTS + job.deck;

    // 1. Reach and lists.
    const Unit* const unit_list = job.units + (long long)sheet.final * (units + 1);
    const int count = unit_list[units].first / FOUR;
    const Operations* const operations = (const Operations*)(job.operations + (long long)sheet.final * job.most_operations);
    gather(sheet, tile.reach, tile.reach_stride);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        Operations found = operations[i];
        EACH(j) found[j] = (found[j] & FLAGS) | (found[j] & ~FLAGS) * (tile.reach_stride / 2);
        ((Operations*)tile.operations)[i] = found;
    }
    for (int i = threadIdx.x; i <= units; i += blockDim.x) {
        Unit unit = record_at(unit_list + i);
        unit.row *= tile.stride;
        tile.units[i] = unit;
    }
    for (int i = threadIdx.x; i < tile.stride; i += blockDim.x) tile.parts[i] = 0;
    for (int i = threadIdx.x; i < tile.fold_stride; i += blockDim.x) tile.folds[i] = 0;
    for (int i = threadIdx.x; i < sheet.paired(); i += blockDim.x) {
        const Terminal terminal = record_at(sheet.terminal + sheet.column(i));
        const double equal = sheet.pay(EQUAL, i), all = sheet.pay(ALL, i);
        columns.same_pay[i] = (Real)(i < piece.mixed ? equal : equal + all);
        columns.mixed_pay[i] = (Real)all;
        columns.fold_pay[i] = (Real)sheet.pay(OWN_FOLD, i);
        columns.value_row[i] = terminal.value_row;
        columns.fold_row[i] = terminal.fold_value;
    }
    wait_for_copies();
    SYNC_BLOCK();

    const int column = threadIdx.x % TEAM * 2, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;
    const bool works = column < piece.columns;
    Lane lane = {};
    if (works) {
        const float* const reach = tile.reach + column;
        const float* const met = column < piece.mixed ? reach + sheet.paired() : reach;
        lane = {column,
                column < piece.mixed,
                column >= piece.fold_first && column < piece.fold_last,
                REACH_SHARED ? settled(reach) : reach,
                REACH_SHARED ? settled(met) : met,
                sheet.two_pays(WEAKER, column),
                sheet.two_pays(EQUAL, column),
                sheet.two_pays(ALL, column),
                sheet.two_pays(OWN_FOLD, column)};
        for (int unit = team; unit < units; unit += teams) {  // 2.
            if (unit < SEGMENTS) segment_sums(tile, lane, unit);
            else card_parts(tile, lane, unit, piece.fold_first);
        }
    }
    SYNC_BLOCK();
    if (works)  // 3.
        for (int segment = team; segment < SEGMENTS; segment += teams)
            base_segment(tile, lane, segment, columns.fold_base);
    SYNC_BLOCK();
    store_values(sheet, tile, columns);
}
