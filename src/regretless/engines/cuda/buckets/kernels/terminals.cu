// Values of folds and showdowns. A thread has one terminal on one runout and takes the hands one by one.
//
// A hand of the opponent that reaches the terminal with probability r adds f · r to a total and to the sums of its two
// cards, where f is what the own player gets from it. So an own hand with cards c and d is worth
//
//     total − sum[c] − sum[d] + f · r of the hand with the same two cards, which was subtracted twice.
//
// At a fold, f is the payoff. At a showdown, all hands of the opponent are first added as winners, f = lose. Then, from
// the weakest own hands to the strongest, f becomes tie for the opponent's hands of the same strength, and win
// once they have been passed. All terminals of a runout take the same steps, so the block reads them once for all its threads.
//
// Thousands of numbers go into the total, and a value is often far smaller than it, so the total is a compensated sum:
// what rounding added to it is subtracted from the next number (Kahan). Far fewer go into the sum of a card.

#ifndef ON_HOST
#define SYNC_BLOCK() __syncthreads()
extern __shared__ __align__(16) unsigned char shared_space[];  // sized by the launch
// Rows of reach do not change while this kernel runs, so the compiler may read them early.
__device__ __forceinline__ float load_table(const float* at) { return __ldg(at); }
#endif

const int OWN = 1 << 3;  // in the code of a step, beside the factor
const int FACTORS = 6, SAME = 4, NONE = 5;
const int AHEAD = 8;  // steps whose reach is read at once
// Share of all that was added: anything smaller is rounding error, so a hand that meets nobody is worth exactly 0.
const Real NOTHING = sizeof(Real) == 8 ? 0x1p-50 : 0x1p-22;

struct __align__(16) Step {
    int code;         // factor, OWN, cards
    int hand;         // row of an own hand
    unsigned other;   // offset of the opponent's hand in `entering`
    unsigned bucket;  // offset of its bucket in `leaf_reach`
};

// The cards and buckets of a player's hands; `deck` stands for no card.
struct Side { const int* cards; const int* bucket; };

__device__ __forceinline__ Step of_other(int factor, int hand, const Side& side, int deck, int lines, int leaves) {
    if (side.bucket[hand] < 0) return {NONE | (deck + 1) << 8 | (deck + 1) << 16, 0, 0, 0};
    const int first = side.cards[2 * hand], second = side.cards[2 * hand + 1];
    // Nobody reads the sum of deck + 1: a hand of one card adds to it in place of the second.
    return {factor | first << 8 | (second == deck ? deck + 1 : second) << 16, 0, (unsigned)hand * lines,
            (unsigned)side.bucket[hand] * leaves};
}

__device__ __forceinline__ Step of_own(
    int hand, int same, const Side& own, const Side& other, int deck, int lines, int leaves) {
    if (own.bucket[hand] < 0) return {NONE | (deck + 1) << 8 | (deck + 1) << 16, 0, 0, 0};
    const int cards = OWN | own.cards[2 * hand] << 8 | own.cards[2 * hand + 1] << 16;
    if (same < 0 || other.bucket[same] < 0) return {NONE | cards, hand, 0, 0};
    return {SAME | cards, hand, (unsigned)same * lines, (unsigned)other.bucket[same] * leaves};
}

// `steps` [runout][max_steps] are those of showdowns: 13 bits of hand and above them a factor, SAME for an own hand.
// Folds have none: their order does not matter. `pays` is [FACTORS][leaves].
extern "C" __global__ void terminal_values(
    const unsigned short* steps, const int* step_count, int max_steps, const int* own_bucket, const int* other_bucket,
    const int* own_cards, const int* other_cards, const int* own_same, const float* entering, const float* leaf_reach,
    const int* line_of_leaf, const double* pays, int deck, int own_hands, int other_hands, int lines, int leaves,
    int first_leaf, int terminals, int folds, float* values) {
    const int runout = blockIdx.y, lane = threadIdx.x, lanes = blockDim.x;
    const int terminal = blockIdx.x * lanes + lane;
    const int leaf = first_leaf + min(terminal, terminals - 1);
    const Side own = {own_cards, own_bucket + (long long)runout * own_hands};
    const Side other = {other_cards, other_bucket + (long long)runout * other_hands};
    entering += (long long)runout * other_hands * lines + line_of_leaf[leaf];
    leaf_reach += leaf;
    values += (long long)runout * own_hands * leaves + leaf;
    steps += (long long)runout * max_steps;
    const int count = folds ? other_hands + own_hands : step_count[runout];

    Step* tile = (Step*)shared_space;  // [lanes]
    Real* factor = (Real*)(tile + lanes) + lane;  // [FACTORS][lanes]
    Real* sum = factor + FACTORS * lanes;  // [deck + 2][lanes]
    for (int kind = 0; kind < FACTORS; kind++) factor[kind * lanes] = (Real)pays[(long long)kind * leaves + leaf];
    for (int card = 0; card < deck + 2; card++) sum[card * lanes] = 0;
    Real total = 0, excess = 0, magnitude = 0;  // the total is too large by the excess; magnitude: of all that was added
    for (int begin = 0; begin < count; begin += lanes) {
        SYNC_BLOCK();
        const int at = begin + lane;
        if (at >= count) tile[lane] = {NONE | (deck + 1) << 8 | (deck + 1) << 16, 0, 0, 0};
        else {
            const int step = folds ? (at < other_hands ? at : (at - other_hands) | SAME << 13) : steps[at];
            const int hand = step & 8191, kind = step >> 13;
            tile[lane] = kind == SAME ? of_own(hand, own_same[hand], own, other, deck, lines, leaves)
                                      : of_other(kind, hand, other, deck, lines, leaves);
        }
        SYNC_BLOCK();
        const int steps_here = min(lanes, (count - begin + AHEAD - 1) / AHEAD * AHEAD);
        for (int first = 0; first < steps_here; first += AHEAD) {
            float reach[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++)
                reach[k] = load_table(entering + tile[first + k].other) * load_table(leaf_reach + tile[first + k].bucket);
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                const int code = tile[first + k].code;
                const Real part = factor[(code & 7) * lanes] * reach[k];
                Real* one = sum + (code >> 8 & 255) * lanes;
                Real* two = sum + (code >> 16) * lanes;
                if (code & OWN) {
                    const Real value = total - *one - *two + part - excess;
                    const float rounded = fabs(value) > NOTHING * magnitude ? (float)value : 0.0f;
                    if (terminal < terminals) values[(long long)tile[first + k].hand * leaves] = rounded;
                } else {
                    const Real added = part - excess, before = total;
                    total += added;
                    excess = (total - before) - added;
                    magnitude += fabs(part);
                    *one += part;
                    *two += part;
                }
            }
        }
    }
}
