// Terminals of the last street: a block takes some of them on one runout, a column each.
//
// 1. `gather`   a thread per hand: their rows of the opponent's reach, transposed into a tile [opponent hands][columns].
// 2. `cards`    a lane per two columns: E for every pair (`lists.cu`), and partial sums of reach in order of strength.
// 3. `base`     a lane per two columns: P for every group.
// 4. `values`   a thread per hand: P − E − E.
//
// With W, E and V the reach of the opponent's hands that are weaker, weaker or equal, and all, a showdown is worth
// (win − tie) · W + (tie − lose) · E + lose · V. Of a fold, only V remains: one sum over all hands and one per card. Where
// lanes are columns, half a warp follows the same list and little diverges. Two columns at a time share what it takes to
// find a row. A row of a tile has an odd number of such pairs, so that threads that transpose do not collide in shared
// memory.

const int WARP = 32;
const int TEAM = 16;  // lanes that sum a unit together, two columns each
const int MOST_COLUMNS = 34;  // of a row of a tile

struct Pay { Two<Real> weaker, equal, all; };

template <typename Number> __device__ __forceinline__ Two<Number>& two_at(Number* at) { return *(Two<Number>*)at; }
template <typename Number> __device__ __forceinline__ const Two<Number>& two_at(const Number* at) {
    return *(const Two<Number>*)at;
}

// What is common to folds and showdowns: some terminals on one runout. The last of an odd number is taken twice: both
// columns of a pair then write the same.
struct Piece {
    const Job& job;
    Street street;
    const float* above;        // the opponent's rows of the street above
    const Terminal* terminal;  // [columns]
    const double* pays;        // [3][width]
    int columns, final, number, slot;
    __device__ __forceinline__ int paired() const { return columns + columns % 2; }
    __device__ __forceinline__ int column(int i) const { return min(i, columns - 1); }
};

__device__ __forceinline__ Piece piece_of(const Job& job, const Item& item, int piece, const int* first, const Terminal* terminal,
                                          const double* pays, int width) {
    const Street street = job.streets[job.last_street], before = job.streets[max(job.last_street - 1, 0)];
    const int number = street.first_runout + item.runout;
    const long long row = (long long)max(job.runouts[number].parent, 0) * before.opponent_rows;
    return {job, street, job.opponent_rows + before.opponent_at + row * job.other_hands, terminal + first[piece],
            pays + (long long)piece * 3 * width, first[piece + 1] - first[piece], item.runout, number, item.slot};
}

// Step 1; a row of zeros follows the last hand. The tile is complete after `wait_for_copies` and a barrier.
template <bool SHARED = true> __device__ __forceinline__ void gather(const Piece& piece, float* reach, int stride) {
    const int m = piece.job.other_hands, warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
    const float* const rows = piece.job.opponent_rows + piece.street.opponent_at +
                              (long long)piece.slot * piece.street.opponent_rows * m;
    for (int column = threadIdx.x / WARP; column < piece.paired(); column += warps) {
        const int number = piece.terminal[piece.column(column)].opponent_row;
        const float* const row = number < 0 ? piece.above + ~number * m : rows + number * m;
        for (int hand = lane; hand < m; hand += WARP) {
            if (SHARED) copy_later(reach + hand * stride + column, row + hand);
            else reach[hand * stride + column] = row[hand];
        }
    }
    for (int i = threadIdx.x; i < stride; i += blockDim.x) reach[m * stride + i] = 0.0f;
}

// Step 4. `same_pay` [columns] is what the opponent's same hand, which both cards subtract, is worth.
__device__ __forceinline__ void store_values(const Piece& piece, const OwnHand* own_list, const Real* base,
                                             const Real* parts, const float* reach, int stride, const Real* same_pay,
                                             const int* value_row) {
    const int n = piece.job.own_hands, columns = piece.columns;
    const unsigned char* const alive = piece.job.own_alive + (long long)piece.number * n;
    float* const values = piece.job.value_rows + piece.street.value_at + (long long)piece.slot * piece.street.value_rows * n;
    for (int hand = threadIdx.x; hand < n; hand += blockDim.x) {
        const OwnHand own = own_list[hand];
        const Real* const all = base + own.group * stride;
        const Real* const lower = parts + own.lower * stride;
        const Real* const higher = parts + own.higher * stride;
        const float* const same = reach + own.same * stride;
        const bool lives = alive[hand];
#pragma unroll 2
        for (int column = 0; column < columns; column += 2) {
            const Two<Real> met = two_at(all + column), pay = two_at(same_pay + column);
            const Two<Real> low = two_at(lower + column), high = two_at(higher + column);
            const Two<float> held = two_at(same + column);
            const Two<int> row = two_at(value_row + column);
            BOTH(i) {
                const Real value = met[i] - low[i] - high[i] + held[i] * pay[i];
                values[row[i] * n + hand] = lives ? (float)value : 0.0f;
            }
        }
    }
}

struct Tile {
    float* reach;   // [opponent hands + 1][stride]; the last row is 0
    Real* parts;    // [1 + pairs][stride]  E; the first row is 0
    Real* base;     // [groups][stride]  P
    Real* partial;  // [SEGMENTS][stride]
    unsigned* operations;  // of all units
    Unit* units;           // [SEGMENTS + deck + 1]
    int stride;            // numbers from one row to the next
};

// An operation: where a row of reach begins, and two flags in the highest bits, which an address in bytes shifts out.
const unsigned MARK = 1u << 31, EMIT = 1u << 30;
typedef Four<unsigned> Operations;  // read at once; units are padded with rows of zeros

__device__ __forceinline__ Two<float> reach_at(const Tile& tile, unsigned operation) {
    return *(const Two<float>*)((const char*)tile.reach + (operation << 2));
}

__device__ __forceinline__ const Operations* first_of(const Tile& tile, int unit) {
    return (const Operations*)(tile.operations + tile.units[unit].first);
}

// The functions below work on the two columns where `tile` begins.
__device__ __forceinline__ Two<Real> sum_rows(const Tile& tile, int unit) {
    Two<Real> sum = {0, 0};
    const Operations* const end = first_of(tile, unit + 1);
#pragma unroll 1
    for (const Operations* at = first_of(tile, unit); at < end; at++) {
        const Operations operations = *at;
        Two<float> reach[FOUR];
        EACH(j) reach[j] = reach_at(tile, operations[j]);
        EACH(j) BOTH(i) sum[i] += (Real)reach[j][i];
    }
    return sum;
}

// Running sums over a unit, with what they pay wherever a group or a pair needs it: all + W · weaker + E · equal.
__device__ __forceinline__ void running_sums(const Tile& tile, int unit, Two<Real> sum, const Two<Real>& met,
                                             const Pay& pay, Real* to) {
    const Operations* const end = first_of(tile, unit + 1);
    Two<Real> all, paid = {0, 0};
    BOTH(i) all[i] = met[i] * pay.all[i];
#pragma unroll 1
    for (const Operations* at = first_of(tile, unit); at < end; at++) {
        const Operations operations = *at;
        Two<float> reach[FOUR];
        EACH(j) reach[j] = reach_at(tile, operations[j]);
        EACH(j) {
            if (operations[j] & MARK) {
                BOTH(i) paid[i] = all[i] + sum[i] * pay.weaker[i];
                asm volatile("");  // or compilers compute this always and then choose: two instructions instead of one
            }
            BOTH(i) sum[i] += (Real)reach[j][i];
            if (operations[j] & EMIT) {
                two_at(to) = {paid[0] + sum[0] * pay.equal[0], paid[1] + sum[1] * pay.equal[1]};
                to += tile.stride;
            }
        }
    }
}

__device__ __forceinline__ void base_segment(const Tile& tile, int segment, const Pay& pay) {
    Two<Real> sum = {0, 0}, all = {0, 0};
    for (int k = 0; k < SEGMENTS; k++) {
        if (k == segment) sum = all;
        const Two<Real> partial = two_at(tile.partial + k * tile.stride);
        BOTH(i) all[i] += partial[i];
    }
    running_sums(tile, segment, sum, all, pay, tile.base + tile.units[segment].row);
}

__device__ __forceinline__ void card_parts(const Tile& tile, int unit, const Pay& pay) {
    running_sums(tile, unit, {0, 0}, sum_rows(tile, unit), pay, tile.parts + tile.units[unit].row);
}

// Showdowns of one piece. `outside`: device memory of the block for tiles that do not fit in shared memory.
__device__ __forceinline__ void showdowns(const Job& job, const Item& item, const Rooms& room, char* outside) {
    __align__(16) __shared__ Real same_pay[MOST_COLUMNS];
    __align__(8) __shared__ int value_row[MOST_COLUMNS];
    const int width = room.width, stride = room.stride;
    const Piece piece = piece_of(job, item, item.piece, job.showdown_first, job.showdowns, job.showdown_pays, width);
    const int n = job.own_hands, deck = job.deck, final = piece.final;
    const int team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;
    Tile tile;
    tile.reach = (float*)(REACH_SHARED ? (char*)shared_space + room.reach : outside + room.reach);
    tile.parts = (Real*)(PARTS_SHARED ? (char*)shared_space + room.parts : outside + room.parts);
    tile.base = (Real*)(shared_space + room.base);
    tile.partial = (Real*)(shared_space + room.partial);
    tile.operations = (unsigned*)(shared_space + room.operations);
    tile.units = (Unit*)(shared_space + room.units);

    tile.stride = stride;

    // 1. Reach and lists.
    const int units = SEGMENTS + deck;
    const Unit* const unit_list = job.units + (long long)final * (units + 1);
    const int count = unit_list[units].first / FOUR;
    const Operations* const operations = (const Operations*)(job.operations + (long long)final * job.most_operations);
    gather<REACH_SHARED>(piece, tile.reach, stride);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        Operations found = operations[i];
        EACH(j) found[j] = (found[j] & (MARK | EMIT)) | (found[j] & ~(MARK | EMIT)) * stride;
        ((Operations*)tile.operations)[i] = found;
    }
    for (int i = threadIdx.x; i <= units; i += blockDim.x) tile.units[i] = {unit_list[i].first, unit_list[i].row * stride};
    for (int i = threadIdx.x; i < stride; i += blockDim.x) tile.parts[i] = 0;
    for (int i = threadIdx.x; i < piece.paired(); i += blockDim.x) {
        const double* const pays = piece.pays + piece.column(i);
        same_pay[i] = (Real)(pays[width] + pays[2 * width]);
        value_row[i] = piece.terminal[piece.column(i)].value_row;
    }
    wait_for_copies();
    SYNC_BLOCK();

    const Tile whole = tile;
    const bool working = threadIdx.x % TEAM * 2 < piece.columns;
    const int column = working ? threadIdx.x % TEAM * 2 : 0;
    Pay pay;
    BOTH(i) {
        const double* const pays = piece.pays + piece.column(column + i);
        pay.weaker[i] = (Real)pays[0];
        pay.equal[i] = (Real)pays[width];
        pay.all[i] = (Real)pays[2 * width];
    }
    tile.reach = REACH_SHARED ? settled(tile.reach + column) : tile.reach + column;
    tile.parts += column;
    tile.base += column;
    tile.partial += column;
    if (working)  // 2.
        for (int unit = team; unit < units; unit += teams) {
            if (unit < SEGMENTS) two_at(tile.partial + unit * stride) = sum_rows(tile, unit);
            else card_parts(tile, unit, pay);
        }
    SYNC_BLOCK();
    if (working)  // 3.
        for (int segment = team; segment < SEGMENTS; segment += teams) base_segment(tile, segment, pay);
    SYNC_BLOCK();
    store_values(piece, job.own_list + (long long)final * n, whole.base, whole.parts, whole.reach, stride, same_pay,
                 value_row);
}

// Folds of one piece.
__device__ __forceinline__ void folds(const Job& job, const Item& item, const Rooms& room) {
    __align__(16) __shared__ Real same_pay[MOST_COLUMNS], base[MOST_COLUMNS];
    __align__(8) __shared__ int value_row[MOST_COLUMNS];
    const int width = room.fold_width, stride = room.fold_stride;
    const Piece piece = piece_of(job, item, ~item.piece, job.fold_first, job.folds, job.fold_pays, width);
    const int m = job.other_hands, deck = job.deck;
    const int team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;
    float* const reach = (float*)shared_space;                                   // [opponent hands + 1][stride]
    Real* const parts = (Real*)(reach + (m + 1) * stride + (m + 1) % 2 * 2);     // [1 + deck][stride]
    Real* const partial = parts + (1 + deck) * stride;                           // [SEGMENTS][stride]
    int* const held = (int*)(partial + SEGMENTS * stride);                       // rows of the hands that hold each card
    const int holders = job.held_first[deck];
    gather(piece, reach, stride);
    for (int i = threadIdx.x; i < holders; i += blockDim.x) held[i] = job.held_hands[i] * stride;
    for (int i = threadIdx.x; i < stride; i += blockDim.x) parts[i] = 0;
    for (int i = threadIdx.x; i < piece.paired(); i += blockDim.x) {
        same_pay[i] = (Real)piece.pays[2 * width + piece.column(i)];
        value_row[i] = piece.terminal[piece.column(i)].value_row;
    }
    wait_for_copies();
    SYNC_BLOCK();
    const int column = threadIdx.x % TEAM * 2;
    if (column < piece.columns) {
        const float* const from = reach + column;
        const Two<Real> pay = two_at(same_pay + column);
        for (int unit = team; unit < SEGMENTS + deck; unit += teams) {
            Two<Real> sum = {0, 0};
            if (unit < SEGMENTS) {
                const int end = m * (unit + 1) / SEGMENTS;
#pragma unroll 4
                for (int hand = m * unit / SEGMENTS; hand < end; hand++) {
                    const Two<float> met = two_at(from + hand * stride);
                    BOTH(i) sum[i] += (Real)met[i];
                }
                two_at(partial + unit * stride + column) = sum;
            } else {
                const int card = unit - SEGMENTS, end = job.held_first[card + 1];
#pragma unroll 4
                for (int k = job.held_first[card]; k < end; k++) {
                    const Two<float> met = two_at(from + held[k]);
                    BOTH(i) sum[i] += (Real)met[i];
                }
                two_at(parts + (1 + card) * stride + column) = {sum[0] * pay[0], sum[1] * pay[1]};
            }
        }
    }
    SYNC_BLOCK();
    for (int i = threadIdx.x; i < piece.paired(); i += blockDim.x) {
        Real all = 0;
        for (int k = 0; k < SEGMENTS; k++) all += partial[k * stride + i];
        base[i] = all * same_pay[i];
    }
    SYNC_BLOCK();
    const OwnHand* const own_list = job.fold_list + job.runouts[piece.number].symmetry * job.own_hands;
    store_values(piece, own_list, base, parts, reach, stride, same_pay, value_row);
}

// Both in one launch; pieces of folds are numbered from -1 down.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
terminals(const Job* jobs, const Item* items, const Rooms* rooms, char* space) {
    const Item item = items[blockIdx.x];
    const Job job = jobs[item.job];
    const Rooms room = rooms[item.job % 2];  // of the player
    if (item.piece >= 0) showdowns(job, item, room, space + (long long)blockIdx.x * room.block_bytes);
    else folds(job, item, room);
}
