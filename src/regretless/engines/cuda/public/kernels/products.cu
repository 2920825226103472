// Terminals of the last street as matrix products on tensor cores: in 16-bit storage, while the own player learns.
// (`terminals.cu` has those of evaluations, of 32-bit storage, and of ranges so wide that products would take longer.)
//
// With R [terminals, opponent's hands] the rows of reach, and the matrices
//
//     S [opponent's hands, own hands]    1 where the own hand wins, −1 where it loses, 0 where they tie or share a card
//     N [opponent's hands, own hands]    1 unless they share a card
//
// R · S gives the values of showdowns and R · N those of folds, up to a factor. For this, a tie must be worth 0, so what it is
// worth, which must be the same everywhere, is subtracted from all payoffs; that changes no regret. The opponent's fold
// beside a showdown has the same value row: its reach is stored with the factor that makes their values add up. The way down
// stores R in half precision; sums are in 32 bits.
//
// 1. `make_codes`  once: S and N, two bits for each entry. Rows of equivalent own hands are those of the first of them, so
//                  that they get bit-identical values.
// 2. `products`    a block takes some terminals on one runout: their rows of reach go into shared memory; then a warp
//                  multiplies some of them with strips of own hands.

// A product has `TILE` rows and steps. A warp takes the own hands of a `STRIP` together.
const int OCTET = 8;         // own hands of a product
const int OCTETS = STRIP / OCTET;
const int MAX_TILES = 3;     // of rows that a warp takes together
const int EIGHT = 8;         // halves that are read at once

// Two bits of a code are the highest of a half: 2, −2, −0 and 0.
const unsigned BLOCKED = 0, WINS = 1, TIES = 2, LOSES = 3;
const unsigned SIGNS = 0xC000C000u, ONES = 0x40004000u;
const float CODED = 0.5f;  // what makes 2 a 1

__device__ __forceinline__ int steps_of(const Job& job) { return job.other_hands / TILE; }
__device__ __forceinline__ int strips_of(const Job& job) { return (job.own_hands + STRIP - 1) / STRIP; }

// Words of codes of a final runout, [strips][steps in fours][lanes][four steps]. A word has what a lane needs of a step: of
// each octet, four of the opponent's hands, two adjacent ones in the halves of the word. Octets alternate two by two among
// own hands, so that sums of four adjacent hands are in one lane.
static_assert(2 * STRIP * TILE == 32 * WARP, "two bits for each pair of hands, in a word of each lane");
__device__ __forceinline__ int fours_of_steps(const Job& job) { return (steps_of(job) + FOUR - 1) / FOUR; }
__device__ __forceinline__ long long codes_of(const Job& job) {
    return (long long)strips_of(job) * fours_of_steps(job) * WARP * FOUR;
}

// One block per final runout of a job; `finals` [blocks][2] are both numbers.
extern "C" __global__ void make_codes(const Job* jobs, const int* finals) {
    const Job job = jobs[finals[2 * blockIdx.x]];
    const int n = job.own_hands, m = job.other_hands, final = finals[2 * blockIdx.x + 1];
    const short* const own = job.own_strength + (long long)final * n;
    const short* const other = job.other_strength + (long long)final * m;
    const int symmetry = job.runouts[job.streets[job.last_street].first_runout + final].symmetry;
    const short* const alike = job.alike_hands + symmetry * n;
    unsigned* const codes = job.codes + final * codes_of(job);
    const auto code = [&](int h, int k) {
        if (h >= n || k >= m || own[h] < 0 || other[k] < 0) return BLOCKED;
        const int first = alike[h], a = job.own_cards[2 * first], b = job.own_cards[2 * first + 1], deck = job.deck;
        if ((a < deck && holds(job.other_cards, k, a)) || (b < deck && holds(job.other_cards, k, b))) return BLOCKED;
        return own[first] > other[k] ? WINS : own[first] < other[k] ? LOSES : TIES;
    };
    for (int i = threadIdx.x; i < codes_of(job); i += blockDim.x) {
        const int lane = i / FOUR % WARP, fours = i / (FOUR * WARP);
        const int strip = fours / fours_of_steps(job), step = fours % fours_of_steps(job) * FOUR + i % FOUR;
        unsigned word = 0;
        for (int field = 0; field < 2 * OCTETS; field++) {
            const int octet = field / 2, column = lane / 4;
            const int h = strip * STRIP + octet / 2 * 2 * OCTET + column / 2 * FOUR + octet % 2 * 2 + column % 2;
            const int k = step * TILE + field % 2 * 8 + lane % 4 * 2;
            word |= (code(h, k) | code(h, k + 1) << 16) << (14 - 2 * field);
        }
        codes[i] = word;
    }
}

// A panel on one runout: where its terminals are in shared memory. Showdowns come first, in this order: those whose decision
// also has a fold of the opponent, those that are lines of their own, others, and those whose decision also has an own fold.
// Then come folds without such a showdown.
struct LoadedPanel {
    Panel panel;
    Stake* stakes;          // [rows]  with factors that include all units, and rows of values as offsets
    unsigned short* reach;  // [rows + mixed + 1][stride]  halves: of all terminals, of the opponent's folds, and zeros
    int stride;             // numbers from one row to the next: an odd number of 16 bytes, or rows would collide

    __device__ __forceinline__ LoadedPanel(const Job& job, const Item& item)
        : panel(record_at(job.panels + item.piece)), stakes((Stake*)shared_space),
          reach((unsigned short*)(stakes + panel.rows)), stride(job.other_hands + EIGHT) {}

    // All but reach.
    __device__ __forceinline__ void fill_rest(const Job& job) const {
        const float unit = CODED / job.reach_scale;
        for (int i = threadIdx.x; i < panel.rows; i += blockDim.x) {
            Stake stake = record_at(job.stakes + panel.first + i);
            stake.value_row *= job.own_hands, stake.fold_value *= job.own_hands, stake.line *= job.own_hands;
            stake.stake *= unit, stake.fold_pay *= unit;
            stakes[i] = stake;
        }
        for (int i = threadIdx.x; i < stride; i += blockDim.x) reach[(panel.rows + panel.mixed) * stride + i] = 0;
    }

    // A thread copies the same hands of every few rows; all are complete after `wait_for_copies` and a barrier.
    __device__ __forceinline__ void fill_reach(const Job& job, const Item& item) const {
        const Street street = job.streets[job.last_street], before = job.streets[max(job.last_street - 1, 0)];
        const int m = job.other_hands, parent = job.runouts[street.first_runout + item.runout].parent;
        const int each = m / EIGHT, at_once = max(blockDim.x / each, 1);  // threads of a row, and rows at once
        const int first = threadIdx.x / each, step = blockDim.x < each ? blockDim.x * EIGHT : m;
        if (first >= at_once) return;
        const unsigned short* const rows = (const unsigned short*)(job.opponent_rows + street.opponent_begin) +
                                           (long long)item.slot * street.opponent_rows * m;
        // A line that is a showdown alone has the reach of the chance node above.
        const float* const above =
            job.opponent_rows + before.opponent_begin + (long long)max(parent, 0) * before.opponent_rows * m;
        for (int hand = (threadIdx.x - first * each) * EIGHT; hand < m; hand += step) {
            const int direct = panel.direct_last - panel.direct_first;
            for (int i = first; i < panel.rows + panel.mixed - direct; i += at_once) {
                const int number = i < panel.direct_first ? i : i + direct;
                const int row = number < panel.rows ? stakes[number].opponent_row : stakes[number - panel.rows].fold_row;
                copy_later((int4*)(reach + number * stride + hand), (const int4*)(rows + row * m + hand));
            }
            for (int row_number = panel.direct_first + first; row_number < panel.direct_last; row_number += at_once) {
                const Four<float>* const from = (const Four<float>*)(above + ~stakes[row_number].opponent_row * m + hand);
                const Four<float> one = from[0], two = from[1];
                const float scale = job.reach_scale;
                Four<unsigned> result;
                BOTH(j) {
                    result[j] = to_halves(one[2 * j] * scale, one[2 * j + 1] * scale);
                    result[2 + j] = to_halves(two[2 * j] * scale, two[2 * j + 1] * scale);
                }
                *(Four<unsigned>*)(reach + row_number * stride + hand) = result;
            }
        }
    }
};

// Some rows of a panel; rows after the last read as zeros.
struct RowRange {
    int first, last;
    __device__ __forceinline__ int tiles() const { return (last - first + TILE - 1) / TILE; }
    // The row of a tile that a lane loads.
    __device__ __forceinline__ const unsigned short* row_at(const LoadedPanel& loaded, int tile) const {
        const int lane = threadIdx.x % WARP, wanted = first + tile * TILE + lane % TILE;
        const int row = wanted < last ? wanted : loaded.panel.rows + loaded.panel.mixed;
        return loaded.reach + row * loaded.stride + lane / TILE * EIGHT;
    }
};

// A warp's codes, strip by strip, four steps at a time, loaded ahead.
struct Codes {
    const Four<unsigned>* all;
    const Four<unsigned>* at;
    int steps, size, following;  // steps and size of a strip, and which is next
    Four<unsigned> ahead;
    __device__ __forceinline__ Codes(const Four<unsigned>* all, int steps, int fours, int strip)
        : all(all + threadIdx.x % WARP), steps(steps), size(fours * WARP), following(0) {
        at = this->all + strip * size;
        ahead = record_at(at);
    }
    __device__ __forceinline__ void turn_to(int strip) { following = strip; }
    __device__ __forceinline__ Four<unsigned> next(bool last) {
        const Four<unsigned> result = ahead;
        at = last ? all + following * size : at + WARP;
        ahead = record_at(at);
        return result;
    }
};

// A warp's sums: [tiles][octets], as the instruction has them: of rows `lane / 4` and that + 8, two own hands each.
template <int TILES> struct Product {
    float of[TILES][OCTETS][4];

    // Adds a step of products with S or with N, a few steps after `at`, where a lane's rows of reach are.
    template <bool SIGNED, int STEP>
    __device__ __forceinline__ void step(const unsigned short* const (&at)[TILES], unsigned word) {
        if (!SIGNED) word |= word >> 1;
        unsigned matrix[OCTETS][2];
#pragma unroll
        for (int field = 0; field < 2 * OCTETS; field++)
            matrix[field / 2][field % 2] = word << 2 * field & (SIGNED ? SIGNS : ONES);
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            unsigned rows[4];
            load_tile<STEP * TILE>(rows, at[t]);
#pragma unroll
            for (int j = 0; j < OCTETS; j++) multiply_add(of[t][j], rows, matrix[j]);
        }
    }

    // Adds rows · S (SHOWS) and rows · N (FOLDS).
    template <bool SHOWS, bool FOLDS>
    __device__ __forceinline__ void add(const LoadedPanel& loaded, const RowRange& shown, const RowRange& folded,
                                        Codes& codes) {
        const unsigned short* signed_at[TILES];
        const unsigned short* plain_at[TILES];
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            if (SHOWS) signed_at[t] = shown.row_at(loaded, t);
            if (FOLDS) plain_at[t] = folded.row_at(loaded, t);
        }
        const auto both = [&](auto number, unsigned word) {
            const int STEP = decltype(number)::MOST;
            if (SHOWS) step<true, STEP>(signed_at, word);
            if (FOLDS) step<false, STEP>(plain_at, word);
        };
        const int steps = codes.steps;
#pragma unroll 1
        for (int left = steps; left > 0; left -= FOUR) {
            const Four<unsigned> words = codes.next(left <= FOUR);
            both(Most<0>{}, words[0]);
            if (left > 1) both(Most<1>{}, words[1]);
            if (left > 2) both(Most<2>{}, words[2]);
            if (left > 3) both(Most<3>{}, words[3]);
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                if (SHOWS) signed_at[t] += FOUR * TILE;
                if (FOLDS) plain_at[t] += FOUR * TILE;
            }
        }
    }

    // Writes rows of a strip, of which only the first half may be there: factor(stake) times the sums, to target(stake).
    template <typename Factor, typename Target>
    __device__ __forceinline__ void store(const LoadedPanel& loaded, const RowRange& rows, bool whole, Factor factor,
                                          Target target) const {
        const int lane = threadIdx.x % WARP;
#pragma unroll
        for (int t = 0; t < TILES; t++)
            BOTH(half) {
                const int row = rows.first + t * TILE + half * EIGHT + lane / 4;
                if (row >= rows.last) continue;
                const Stake& stake = loaded.stakes[row];
                const float by = factor(stake);
                float* const to = target(stake) + lane % 4 * FOUR;
#pragma unroll
                for (int j = 0; j < OCTETS; j += 2) {
                    if (j > 0 && !whole) continue;
                    const float* const one = of[t][j] + 2 * half;
                    const float* const two = of[t][j + 1] + 2 * half;
                    *(Four<float>*)(to + j * OCTET) = {one[0] * by, one[1] * by, two[0] * by, two[1] * by};
                }
            }
    }
};

// Rows from `first` to `last` in groups of tiles that are about equally many.
struct Groups {
    int first, last, count, tiles;
    __device__ __forceinline__ Groups(int first, int last) : first(first), last(last) {
        const int all = (last - first + TILE - 1) / TILE;
        count = (all + MAX_TILES - 1) / MAX_TILES;
        tiles = count == 0 ? 0 : (all + count - 1) / count;
    }
    __device__ __forceinline__ RowRange operator[](int group) const {
        const int begin = first + group * tiles * TILE;
        return {begin, min(begin + tiles * TILE, last)};
    }
};

// What a warp does: a strip of own hands, and some showdowns or some folds.
struct Task {
    const LoadedPanel& loaded;
    RowRange rows;
    float* values;  // of the street's nodes,
    float* lines;   // and of its lines
    bool whole;

    template <int TILES> __device__ __forceinline__ void showdowns(Codes& codes) const {
        Product<TILES> sum = {};
        const int folds = loaded.panel.rows, mixed = loaded.panel.mixed;
        if (rows.first < mixed) sum.template add<true, true>(loaded, rows, {folds + rows.first, folds + mixed}, codes);
        else sum.template add<true, false>(loaded, rows, rows, codes);
        sum.store(
            loaded, rows, whole, [](const Stake& stake) { return stake.stake; },
            [&](const Stake& stake) { return stake.line < 0 ? values + stake.value_row : lines + stake.line; });
    }
    template <int TILES> __device__ __forceinline__ void folds(Codes& codes) const {
        Product<TILES> sum = {};
        sum.template add<false, true>(loaded, rows, rows, codes);
        sum.store(
            loaded, rows, whole, [](const Stake& stake) { return stake.fold_pay; },
            [&](const Stake& stake) { return values + stake.fold_value; });
    }
};

extern "C" __global__ void __launch_bounds__(PANEL_THREADS, PANEL_BLOCKS) products(const Job* jobs, const Item* items) {
    const Item item = items[gridDim.x - 1 - blockIdx.x];  // those whose rows were written last are first
    const Job job = jobs[item.job];
    const LoadedPanel loaded(job, item);
    const int n = job.own_hands, strips = strips_of(job), warps = blockDim.x / WARP;
    const Four<unsigned>* const words = (const Four<unsigned>*)(job.codes + item.runout * codes_of(job));
    loaded.fill_rest(job);
    SYNC_BLOCK();
    loaded.fill_reach(job, item);
    const Street street = job.streets[job.last_street];
    float* const values = values_of(job, street, true, item.slot);
    float* const lines = job.line_values + street.line_begin + (long long)item.slot * street.lines * n;
    const Groups shown(0, loaded.panel.showdowns), folded(loaded.panel.plain, loaded.panel.rows);
    const int tasks = (shown.count + folded.count) * strips;  // showdowns come first, since some take longer
    int number = threadIdx.x / WARP, group = number / strips, strip = number - group * strips;
    Codes codes(words, steps_of(job), fours_of_steps(job), strip);
    wait_for_copies();
    SYNC_BLOCK();
    while (number < tasks) {
        const bool shows = group < shown.count;
        const RowRange rows = shows ? shown[group] : folded[group - shown.count];
        const Task task = {loaded, rows, values + strip * STRIP, lines + strip * STRIP, (strip + 1) * STRIP <= n};
        number += warps, group = number / strips, strip = number - group * strips;
        codes.turn_to(strip);
        switch (rows.tiles() + (shows ? MAX_TILES : 0)) {
            case 1: task.folds<1>(codes); break;
            case 2: task.folds<2>(codes); break;
            case 3: task.folds<3>(codes); break;
            case MAX_TILES + 1: task.showdowns<1>(codes); break;
            case MAX_TILES + 2: task.showdowns<2>(codes); break;
            case MAX_TILES + 3: task.showdowns<3>(codes); break;
        }
    }
}
