// Which hands to sum at showdowns, found once for every final runout, by counting.
//
// Own hands that beat and tie the same hands of the opponent form a *group*. Own hands with a common card that beat and tie
// the same of the opponent's hands with this card form a *pair*. With P[g] the reach of the opponent's hands that are
// weaker than group g (or weaker and equal, or all), and E[c, g] that of those which hold card c, an own hand with cards c
// and d meets
//
//     P[g] − E[c, g] − E[d, g] + the same hand
//
// Lists of the opponent's hands from weakest to strongest, all of them and by card, make every sum a running sum, once per
// group and once per pair. Each list becomes a stream of operations, which a short loop can follow: add a row,
// and before that MARK the sum of the weaker hands, or after it EMIT what a group or a pair is worth. A group or pair that
// no hand equals is emitted by the PASS over it, before the next row is added.
//
// Equivalent cards on the runout share the sums of the first of them, and an own hand subtracts its lower card first, so
// equivalent hands get bit-identical values.

__device__ __forceinline__ bool before(int one, int at_one, int two, int at_two) {
    return one < two || (one == two && at_one < at_two);
}

__device__ __forceinline__ bool holds(const unsigned char* cards, int hand, int card) {
    return cards[2 * hand] == card || cards[2 * hand + 1] == card;
}

// For folds: rows of the sums of a hand's cards. Blocks with the same set of equivalent cards write the same.
__device__ void make_fold_list(const Job& job, int symmetry) {
    const int n = job.own_hands, deck = job.deck;
    const unsigned char* alike = job.alike_cards + symmetry * (deck + 1);
    for (int h = threadIdx.x; h < n; h += blockDim.x) {
        const int c = alike[job.own_cards[2 * h]], d = alike[job.own_cards[2 * h + 1]];
        const int lower = (min(c, d) + 1) % (deck + 1), higher = (max(c, d) + 1) % (deck + 1);  // 0: no card
        job.fold_list[symmetry * n + h] = {lower, higher, 0, 0};
    }
}

// How many of the opponent's hands, or of those with a card, an own hand beats, and beats or ties.
struct Extent {
    unsigned short weaker, equal;
    __device__ __forceinline__ bool operator==(const Extent& other) const {
        return weaker == other.weaker && equal == other.equal;
    }
    __device__ __forceinline__ bool operator<(const Extent& other) const {
        return before(weaker, equal, other.weaker, other.equal);
    }
    __device__ __forceinline__ bool ties() const { return weaker < equal; }
};

// What own hands meet with each of their cards, and with all: `card` is the first of the equivalent ones, or the deck if
// there is none.
struct Meeting { Extent all, by_card[2]; unsigned char card[2]; };

// What a unit adds up, as lists.
struct Source {
    const unsigned short* hands;
    int at, end;
    const Extent* extent;
    const Extent* last;

    // What is emitted after the last hand has an operation too, which adds nothing.
    __device__ int operations() const {
        const bool more = extent < last && !last[-1].ties() && last[-1].weaker == end;
        return (end - at + more + FOUR - 1) / FOUR * FOUR;
    }

    __device__ void write(unsigned* to, const unsigned* to_end, unsigned zeros) const {
        int hand = at;
        unsigned passed = 0;
        const auto add = [&](unsigned row) {
            *to++ = row | passed;
            passed = 0;
        };
        for (const Extent* i = extent; i < last; i++) {
            for (; hand < i->weaker; hand++) add(hands[hand]);
            if (!i->ties()) passed = PASS;
            for (; hand < i->equal; hand++)
                add(hands[hand] | (hand == i->weaker ? MARK : 0) | (hand == i->equal - 1 ? EMIT : 0));
        }
        for (; hand < end; hand++) add(hands[hand]);
        while (to < to_end) add(zeros);
    }
};

// One block per final runout of a job; `finals` [blocks][2] are both numbers.
extern "C" __global__ void make_lists(const Job* jobs, const int* finals) {
    const Job& job = jobs[finals[2 * blockIdx.x]];
    const Street& street = job.streets[job.last_street];
    const int n = own_hands_of(job, street), m = other_hands_of(job, street), deck = job.deck, final = finals[2 * blockIdx.x + 1];
    // The hand at each place of the runout, if only those that it leaves have one; called only for hands with a strength.
    const auto own_hand_at = [&](int h) { return PLACES ? (int)job.own_places[(long long)final * n + h] : h; };
    const auto other_hand_at = [&](int k) { return PLACES ? (int)job.other_places[(long long)final * m + k] : k; };
    const short* own = job.own_strength + (long long)final * n;
    const short* other = job.other_strength + (long long)final * m;
    const Runout& runout = job.runouts[job.streets[job.last_street].first_runout + final];
    const unsigned char* alike = job.alike_cards + runout.symmetry * (deck + 1);
    unsigned* operations = job.operations + (long long)final * job.max_operations;
    const int units = SEGMENTS + deck;
    Unit* unit_list = job.units + (long long)final * (units + 1);
    make_fold_list(job, runout.symmetry);
    int* card_first = (int*)shared_space;                        // [deck + 1] into `card_hands`
    int* pair_first = card_first + deck + 1;                     // [deck + 1] into `pairs`
    int* lengths = pair_first + deck + 1;                        // [units] operations of each
    Extent* groups = (Extent*)(lengths + units);                 // [n]
    Extent* pairs = groups + n;                                  // [2 n]
    Meeting* meetings = (Meeting*)(pairs + 2 * n);               // [n]
    unsigned short* order = (unsigned short*)(meetings + n);     // [m] the opponent's hands from weakest to strongest,
    unsigned short* card_hands = order + m;                      // [2 m] and by card
    unsigned char* leads = (unsigned char*)(card_hands + 2 * m); // [n] 1: first of its group, 2, 4: of a pair, by side

    for (int h = threadIdx.x; h < n; h += blockDim.x) {
        if (own[h] < 0) continue;
        const int c = alike[job.own_cards[2 * own_hand_at(h)]], d = alike[job.own_cards[2 * own_hand_at(h) + 1]];
        const int strength = own[h];
        Meeting meeting = {{0, 0}, {{0, 0}, {0, 0}}, {(unsigned char)min(c, d), (unsigned char)max(c, d)}};
        for (int k = 0; k < m; k++) {
            if (other[k] < 0) continue;
            const bool beaten = other[k] < strength, met = other[k] <= strength;
            meeting.all.weaker += beaten, meeting.all.equal += met;
            for (int side = 0; side < 2; side++) {
                const bool shared = holds(job.other_cards, other_hand_at(k), meeting.card[side]);
                meeting.by_card[side].weaker += shared && beaten, meeting.by_card[side].equal += shared && met;
            }
        }
        meetings[h] = meeting;
    }
    SYNC_BLOCK();
    for (int h = threadIdx.x; h < n; h += blockDim.x) {
        unsigned char roles = 0;
        if (own[h] >= 0) {
            const Meeting mine = meetings[h];
            roles = 1 | (mine.card[0] < deck ? 2 : 0) | (mine.card[1] < deck && mine.card[1] != mine.card[0] ? 4 : 0);
            for (int i = 0; i < h && roles; i++) {
                if (own[i] < 0) continue;
                const Meeting earlier = meetings[i];
                if (earlier.all == mine.all) roles &= ~1;
                for (int side = 0; side < 4; side++)
                    if (earlier.card[side % 2] == mine.card[side / 2] &&
                        earlier.by_card[side % 2] == mine.by_card[side / 2])
                        roles &= ~(2 << side / 2);
            }
        }
        leads[h] = roles;
    }
    SYNC_BLOCK();
    // Calls body(extent) for every pair of a card.
    const auto each_pair = [&](int card, auto body) {
        for (int h = 0; h < n; h++)
            for (int side = 0; side < 2; side++)
                if (leads[h] & 2 << side && meetings[h].card[side] == card) body(meetings[h].by_card[side]);
    };
    for (int card = threadIdx.x; card < deck; card += blockDim.x) {
        int hands = 0, count = 0;
        for (int k = 0; k < m; k++) hands += other[k] >= 0 && alike[card] == card && holds(job.other_cards, other_hand_at(k), card);
        each_pair(card, [&](const Extent&) { count++; });
        card_first[card + 1] = hands;
        pair_first[card + 1] = count;
    }
    SYNC_BLOCK();
    int live_hands = 0, group_count = 0;
    for (int k = 0; k < m; k++) live_hands += other[k] >= 0;
    for (int h = 0; h < n; h++) group_count += leads[h] & 1;
    if (group_count == 0) live_hands = 0;  // nothing needs their sum
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
        const int cards[2] = {job.other_cards[2 * other_hand_at(k)], job.other_cards[2 * other_hand_at(k) + 1]};
        for (int i = 0; i < m; i++) {
            if (other[i] < 0 || !before(other[i], i, other[k], k)) continue;
            rank++;
            for (int side = 0; side < 2; side++) by_card[side] += holds(job.other_cards, other_hand_at(i), cards[side]);
        }
        order[rank] = k;
        for (int side = 0; side < 2; side++)
            if (cards[side] < deck && alike[cards[side]] == cards[side])
                card_hands[card_first[cards[side]] + by_card[side]] = k;
    }
    for (int h = threadIdx.x; h < n; h += blockDim.x) {
        int same = -1;
        if (!PLACES) same = job.same[h];
        else if (own[h] >= 0) {
            same = job.same[own_hand_at(h)];
            if (same >= 0) same = job.other_positions[(long long)final * job.other_hands + same];
        }
        OwnHand record = {0, 0, 0, same < 0 ? m : same};
        if (own[h] >= 0) {
            const Meeting mine = meetings[h];
            for (int i = 0; i < n; i++) record.group += (leads[i] & 1) && meetings[i].all < mine.all;
            if (leads[h] & 1) groups[record.group] = mine.all;
            for (int side = 0; side < 2; side++) {
                const int card = mine.card[side];
                if (card >= deck) continue;
                int pair = pair_first[card];
                each_pair(card, [&](const Extent& extent) { pair += extent < mine.by_card[side]; });
                if (leads[h] & 2 << side) pairs[pair] = mine.by_card[side];
                (side == 0 ? record.lower : record.higher) = 1 + pair;  // row 0 is all zeros
            }
        }
        job.own_list[(long long)final * n + h] = record;
    }
    SYNC_BLOCK();
    // The first group of a segment: segments have about the same number of the opponent's hands.
    const auto first_of_segment = [&](int segment) {
        int group = 0;
        while (group < group_count && groups[group].weaker * SEGMENTS < live_hands * segment) group++;
        return group;
    };
    const auto source = [&](int unit) -> Source {
        if (unit >= SEGMENTS) {
            const int card = unit - SEGMENTS, hands = card_first[card];
            const int pair = pair_first[card], last = pair_first[card + 1];
            return {card_hands + hands, 0, pair < last ? card_first[card + 1] - hands : 0, pairs + pair, pairs + last};
        }
        const int group = first_of_segment(unit), last = unit + 1 < SEGMENTS ? first_of_segment(unit + 1) : group_count;
        const int at = unit == 0 ? 0 : group < group_count ? groups[group].weaker : live_hands;
        const int end = last < group_count ? groups[last].weaker : live_hands;
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
        int first = 0, position = 0;
        for (int i = 0; i < units; i++) {
            if (unit < units && !ahead(i, unit)) continue;
            first += lengths[i];
            position++;
        }
        const int card = unit - SEGMENTS;
        const int row = unit == units ? 0 : unit < SEGMENTS ? first_of_segment(unit) : 1 + pair_first[card];
        unit_list[position] = {first, row, 1 + card, 0};
        if (unit < units) source(unit).write(operations + first, operations + first + lengths[unit], m);
    }
}
