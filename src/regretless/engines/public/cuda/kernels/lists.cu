// Which hands to sum at showdowns, found once for every final runout, by counting.
//
// Own hands of equal strength form a *group*, own hands of a group that share a card a *pair*. With P[g] the reach of the
// opponent's hands that are weaker than group g (or weaker and equal, or all), and E[c, g] that of those which hold card c,
// an own hand with cards c and d meets
//
//     P[g] − E[c, g] − E[d, g] + the same hand
//
// Lists of the opponent's hands from weakest to strongest, all of them and by card, make every sum a running sum, once per
// group and once per pair. Each list becomes a stream of operations, which a loop without branches can follow: add a row,
// and before that MARK the sum of the weaker hands, or after it EMIT what a group or a pair is worth.
//
// Equivalent cards on the runout share the sums of the first of them, and an own hand subtracts its lower card first, so
// equivalent hands get bit-identical values.

__device__ __forceinline__ bool before(int one, int at_one, int two, int at_two) {
    return one < two || (one == two && at_one < at_two);
}

__device__ __forceinline__ bool holds(const unsigned char* cards, int hand, int card) {
    return cards[2 * hand] == card || cards[2 * hand + 1] == card;
}

// Whether a hand is the first of its pair with this card: `alike` gives the card whose sums a card uses.
__device__ __forceinline__ bool leads_pair(const Job& job, const short* own, const unsigned char* alike, int hand,
                                           int card) {
    for (int i = 0; i < hand; i++)
        if (own[i] == own[hand] && (alike[job.own_cards[2 * i]] == card || alike[job.own_cards[2 * i + 1]] == card))
            return false;
    return true;
}

// For folds: rows of the sums of a hand's cards. Blocks with the same set of equivalent cards write the same.
__device__ void make_fold_list(const Job& job, int symmetry) {
    const int n = job.own_hands, m = job.other_hands, deck = job.deck;
    const unsigned char* alike = job.alike_cards + symmetry * (deck + 1);
    for (int h = threadIdx.x; h < n; h += blockDim.x) {
        const int c = alike[job.own_cards[2 * h]], d = alike[job.own_cards[2 * h + 1]], same = job.same[h];
        const int lower = (min(c, d) + 1) % (deck + 1), higher = (max(c, d) + 1) % (deck + 1);  // 0: no card
        job.fold_list[symmetry * n + h] = {lower, higher, 0, same < 0 ? m : same};
    }
}

// How many of the opponent's hands are weaker than a group or pair, and how many no better.
struct Extent { unsigned short weaker, equal; };

// What a unit adds up, as lists.
struct Source {
    const unsigned short* hands;
    int at, end;
    const Extent* extent;
    const Extent* last;

    // A group or pair that no hand equals has an operation too, which adds nothing.
    __device__ int operations() const {
        int count = end - at;
        for (const Extent* i = extent; i < last; i++) count += i->weaker == i->equal;
        return (count + FOUR - 1) / FOUR * FOUR;
    }

    __device__ void write(unsigned* to, const unsigned* to_end, unsigned zeros) const {
        int hand = at;
        for (const Extent* i = extent; i < last; i++) {
            for (; hand < i->weaker; hand++) *to++ = hands[hand];
            if (i->weaker == i->equal) *to++ = zeros | MARK | EMIT;
            for (; hand < i->equal; hand++)
                *to++ = hands[hand] | (hand == i->weaker ? MARK : 0) | (hand == i->equal - 1 ? EMIT : 0);
        }
        for (; hand < end; hand++) *to++ = hands[hand];
        for (; to < to_end; to++) *to = zeros;
    }
};

// One block per final runout of a job; `finals` [blocks][2] are both numbers.
extern "C" __global__ void make_lists(const Job* jobs, const int* finals) {
    const Job& job = jobs[finals[2 * blockIdx.x]];
    const int n = job.own_hands, m = job.other_hands, deck = job.deck, final = finals[2 * blockIdx.x + 1];
    const short* own = job.own_strength + (long long)final * n;
    const short* other = job.other_strength + (long long)final * m;
    const Runout& runout = job.runouts[job.streets[job.last_street].first_runout + final];
    const unsigned char* alike = job.alike_cards + runout.symmetry * (deck + 1);
    unsigned* operations = job.operations + (long long)final * job.most_operations;
    const int units = SEGMENTS + deck;
    Unit* unit_list = job.units + (long long)final * (units + 1);
    make_fold_list(job, runout.symmetry);
    int* card_first = (int*)shared_space;                        // [deck + 1] into `card_hands`
    int* pair_first = card_first + deck + 1;                     // [deck + 1] into `pairs`
    int* lengths = pair_first + deck + 1;                        // [units] operations of each
    Extent* groups = (Extent*)(lengths + units);                 // [n]
    Extent* pairs = groups + n;                                  // [2 n]
    unsigned short* order = (unsigned short*)(pairs + 2 * n);    // [m] the opponent's hands from weakest to strongest,
    unsigned short* card_hands = order + m;                      // [2 m] and by card
    unsigned char* leads = (unsigned char*)(card_hands + 2 * m); // [n] 1: first of its group, 2, 4: of a pair, by side

    for (int h = threadIdx.x; h < n; h += blockDim.x) {
        unsigned char found = 0;
        if (own[h] >= 0) {
            const int c = alike[job.own_cards[2 * h]], d = alike[job.own_cards[2 * h + 1]];
            found = 1;
            for (int i = 0; i < h && found; i++) found = own[i] != own[h];
            if (c < deck && leads_pair(job, own, alike, h, c)) found |= 2;
            if (d < deck && d != c && leads_pair(job, own, alike, h, d)) found |= 4;
        }
        leads[h] = found;
    }
    SYNC_BLOCK();
    for (int card = threadIdx.x; card < deck; card += blockDim.x) {
        int hands = 0, count = 0;
        for (int k = 0; k < m; k++) hands += other[k] >= 0 && alike[card] == card && holds(job.other_cards, k, card);
        for (int h = 0; h < n; h++) {
            count += (leads[h] & 2) && alike[job.own_cards[2 * h]] == card;
            count += (leads[h] & 4) && alike[job.own_cards[2 * h + 1]] == card;
        }
        card_first[card + 1] = hands;
        pair_first[card + 1] = count;
    }
    SYNC_BLOCK();
    int living = 0, found = 0;
    for (int k = 0; k < m; k++) living += other[k] >= 0;
    for (int h = 0; h < n; h++) found += leads[h] & 1;
    if (found == 0) living = 0;  // nothing needs their sum
    if (threadIdx.x == 0) {
        card_first[0] = pair_first[0] = 0;
        for (int card = 0; card < deck; card++) {
            card_first[card + 1] += card_first[card];
            pair_first[card + 1] += pair_first[card];
        }
    }
    SYNC_BLOCK();
    for (int k = threadIdx.x; k < m; k += blockDim.x) {
        if (other[k] < 0) continue;
        int rank = 0, by_card[2] = {0, 0};
        const int cards[2] = {job.other_cards[2 * k], job.other_cards[2 * k + 1]};
        for (int i = 0; i < m; i++) {
            if (other[i] < 0 || !before(other[i], i, other[k], k)) continue;
            rank++;
            for (int side = 0; side < 2; side++) by_card[side] += holds(job.other_cards, i, cards[side]);
        }
        order[rank] = k;
        for (int side = 0; side < 2; side++)
            if (cards[side] < deck && alike[cards[side]] == cards[side])
                card_hands[card_first[cards[side]] + by_card[side]] = k;
    }
    for (int h = threadIdx.x; h < n; h += blockDim.x) {
        OwnHand record = {0, 0, 0, job.same[h] < 0 ? m : job.same[h]};
        if (own[h] >= 0) {
            const int strength = own[h], c = alike[job.own_cards[2 * h]], d = alike[job.own_cards[2 * h + 1]];
            int group = 0, weaker = 0, equal = 0;
            for (int i = 0; i < n; i++) group += (leads[i] & 1) && own[i] < strength;
            for (int k = 0; k < m; k++) {
                weaker += other[k] >= 0 && other[k] < strength;
                equal += other[k] >= 0 && other[k] <= strength;
            }
            record.group = group;
            if (leads[h] & 1) groups[group] = {(unsigned short)weaker, (unsigned short)equal};
            const int cards[2] = {min(c, d), max(c, d)};
            for (int side = 0; side < 2; side++) {
                const int card = cards[side];
                if (card >= deck) continue;
                int rank = 0, card_weaker = 0, card_equal = 0;
                for (int i = 0; i < n; i++) {
                    rank += (leads[i] & 2) && own[i] < strength && alike[job.own_cards[2 * i]] == card;
                    rank += (leads[i] & 4) && own[i] < strength && alike[job.own_cards[2 * i + 1]] == card;
                }
                for (int k = 0; k < m; k++) {
                    const bool meets = other[k] >= 0 && holds(job.other_cards, k, card);
                    card_weaker += meets && other[k] < strength;
                    card_equal += meets && other[k] <= strength;
                }
                const int pair = pair_first[card] + rank;
                pairs[pair] = {(unsigned short)card_weaker, (unsigned short)card_equal};
                (side == 0 ? record.lower : record.higher) = 1 + pair;  // row 0 is all zeros
            }
        }
        job.own_list[(long long)final * n + h] = record;
    }
    SYNC_BLOCK();
    const auto source = [&](int unit) -> Source {
        if (unit >= SEGMENTS) {
            const int card = unit - SEGMENTS, hands = card_first[card];
            const int pair = pair_first[card], last = pair_first[card + 1];
            return {card_hands + hands, 0, pair < last ? card_first[card + 1] - hands : 0, pairs + pair, pairs + last};
        }
        const int group = found * unit / SEGMENTS, last = found * (unit + 1) / SEGMENTS;
        const int at = unit == 0 ? 0 : group < found ? groups[group].weaker : living;
        const int end = unit + 1 < SEGMENTS && last < found ? groups[last].weaker : living;
        return {order, at, end, groups + group, groups + last};
    };
    for (int unit = threadIdx.x; unit < units; unit += blockDim.x) lengths[unit] = source(unit).operations();
    SYNC_BLOCK();
    // Cards with long lists come first, so that units that a warp sums together are of about the same length.
    const auto ahead = [&](int one, int two) {
        if (one < SEGMENTS || two < SEGMENTS) return one < two;
        return lengths[one] > lengths[two] || (lengths[one] == lengths[two] && one < two);
    };
    for (int unit = threadIdx.x; unit <= units; unit += blockDim.x) {
        int first = 0, place = 0;
        for (int i = 0; i < units; i++) {
            if (unit < units && !ahead(i, unit)) continue;
            first += lengths[i];
            place++;
        }
        const int row = unit == units ? 0 : unit < SEGMENTS ? found * unit / SEGMENTS : 1 + pair_first[unit - SEGMENTS];
        unit_list[place] = {first, row};
        if (unit < units) source(unit).write(operations + first, operations + first + lengths[unit], m);
    }
}
