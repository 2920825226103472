// The betting tree in buckets: strategies, reach and regrets of a line, where a thread has one bucket; and what passes
// between streets, where a thread has one line of a (runout, hand).
//
// Rows of nodes, [node][bucket], have the buckets of a line next to each other, as the tables do. Rows of leaves,
// [bucket or (runout, hand)][leaf], have leaves next to each other, because a thread evaluates one of them.

// What a decision plays with regrets or predictions `sums` [actions][count]: action a with probability
// max(sums[a], 0) / divisor + rest. Multiplying by 1 / total will not do: it may be infinite. The quotient is rounded
// correctly, unlike that of `/` as compiled here: an action that is always played has probability 1 exactly, and
// therefore no regret at all.
struct Matching { float divisor, rest; };

__device__ __forceinline__ Matching match(const float* sums, int actions, int count) {
    float total = 0.0f;
    for (int action = 0; action < actions; action++) total += fmaxf(sums[(long long)action * count], 0.0f);
    if (total > 0.0f) return {total, 0.0f};
    return {1.0f, 1.0f / actions};
}

__device__ __forceinline__ float played(const Matching& matching, float sum) {
    return __fdiv_rn(fmaxf(sum, 0.0f), matching.divisor) + matching.rest;
}

// The probability that a player plays to each node from where its line begins, given their bucket.
extern "C" __global__ void reach_lines(
    const Node* nodes, const Line* lines, const float* matched, int player, float* reach, float* leaf_reach) {
    const Line line = lines[blockIdx.x];
    for (int bucket = blockIdx.y * blockDim.x + threadIdx.x; bucket < line.buckets; bucket += gridDim.y * blockDim.x) {
        float* rows = reach + line.rows + bucket;
        float* leaves = leaf_reach + line.leaf_rows + (long long)bucket * line.leaves;
        rows[0] = 1.0f;
        for (int number = 0; number < line.nodes; number++) {
            const Node node = nodes[line.first + number];
            const float arriving = rows[(long long)number * line.buckets];
            if (node.player < 0) {
                leaves[node.leaf] = arriving;
                continue;
            }
            float* below = rows + (long long)node.child * line.buckets;
            if (node.player != player) {
                for (int action = 0; action < node.actions; action++) below[(long long)action * line.buckets] = arriving;
                continue;
            }
            const float* sums = matched + node.table + bucket;
            const Matching matching = match(sums, node.actions, line.buckets);
            for (int action = 0; action < node.actions; action++) {
                const long long at = (long long)action * line.buckets;
                below[at] = arriving * played(matching, sums[at]);
            }
        }
    }
}

// The reach of a player's hands where lines begin: [runout][hand][line], from the same on the street before.
extern "C" __global__ void enter_street(
    const float* before, const float* leaf_reach, const int* bucket_before, const int* bucket, const float* weight,
    const int* line_above, int hands, int one_before, int lines_before, int leaves_before, int first_exit, int lines,
    float* entering) {
    const int row = blockIdx.x, row_before = one_before ? row % hands : row;
    float* target = entering + (long long)row * lines;
    if (bucket[row] < 0) {
        for (int line = threadIdx.x; line < lines; line += blockDim.x) target[line] = 0.0f;
        return;
    }
    const float factor = weight[row / hands];
    before += (long long)row_before * lines_before;
    leaf_reach += (long long)bucket_before[row_before] * leaves_before + first_exit;
    for (int line = threadIdx.x; line < lines; line += blockDim.x)
        target[line] = before[line_above[line]] * leaf_reach[line] * factor;
}

// Values of a player's hands where lines begin, from those at their leaves: [runout][hand][leaf]. `first` is [3][lines
// + 1]: showdowns, folds and exits of each line. They are written to the exits of the street before.
extern "C" __global__ void leave_street(
    const float* values, const float* leaf_reach, const int* bucket, const int* first, int lines, int leaves,
    int leaves_before, int first_exit, float* before) {
    const int row = blockIdx.x;
    float* target = before + (long long)row * leaves_before + first_exit;
    const bool live = bucket[row] >= 0;
    values += (long long)row * leaves;
    leaf_reach += (long long)(live ? bucket[row] : 0) * leaves;
    for (int line = threadIdx.x; line < lines; line += blockDim.x) {
        float sum = 0.0f;
        if (live)
            for (int kind = 0; kind < 3; kind++) {
                const int* range = first + kind * (lines + 1) + line;
                for (int leaf = range[0]; leaf < range[1]; leaf++) sum += values[leaf] * leaf_reach[leaf];
            }
        target[line] = sum;
    }
}

// Sums over runouts of values [runout][hand][line], written to the exits of the first street.
extern "C" __global__ void sum_runouts(
    const float* values, int runouts, int hands, int lines, int leaves_before, int first_exit, float* before) {
    const int hand = blockIdx.x;
    for (int line = threadIdx.x; line < lines; line += blockDim.x) {
        float sum = 0.0f;
        for (int runout = 0; runout < runouts; runout++)
            sum += values[((long long)runout * hands + hand) * lines + line];
        before[(long long)hand * leaves_before + first_exit + line] = sum;
    }
}

// Sums over the hands of each bucket, in the order of `members`: [column][bucket], from rows [runout][hand][column].
extern "C" __global__ void sum_buckets(
    const float* rows, const float* weight, const int* members, const int* first, int hands, int columns, float* sums) {
    const int bucket = blockIdx.x, buckets = gridDim.x, begin = first[bucket], end = first[bucket + 1];
    for (int column = blockIdx.y * blockDim.x + threadIdx.x; column < columns; column += gridDim.y * blockDim.x) {
        float sum = 0.0f;
#pragma unroll 4
        for (int at = begin; at < end; at++) {
            const int row = members[at];
            sum += weight[row % hands] * rows[(long long)row * columns + column];
        }
        sums[(long long)column * buckets + bucket] = sum;
    }
}

// Values of buckets up a line, and the update of `update.cu`. `leaf_sums` are the values at leaves, `entering_sums` the own
// reach where the line begins, both summed over the hands of a bucket. `matched` is the same memory as `regret` unless the
// variant predicts.
extern "C" __global__ void learn_lines(
    const Node* nodes, const Line* lines, int player, const float* reach, const float* leaf_sums,
    const float* entering_sums, float* values, float* matched, float* regret, float* average, const Weights* schedule,
    int iteration) {
    const Line line = lines[blockIdx.x];
    const Weights weights = schedule[iteration];
    const int count = line.buckets;
    for (int bucket = blockIdx.y * blockDim.x + threadIdx.x; bucket < count; bucket += gridDim.y * blockDim.x) {
        float* rows = values + line.rows + bucket;
        const float entered = weights.average_weight * entering_sums[line.line_rows + bucket];
        for (int number = line.nodes - 1; number >= 0; number--) {
            const Node node = nodes[line.first + number];
            const long long row = (long long)number * count;
            if (node.player < 0) {
                rows[row] = leaf_sums[line.leaf_rows + (long long)node.leaf * count + bucket];
                continue;
            }
            const float* below = rows + (long long)node.child * count;
            float value = 0.0f;
            if (node.player != player) {
                for (int action = 0; action < node.actions; action++) value += below[(long long)action * count];
                rows[row] = value;
                continue;
            }
            const long long table = node.table + bucket;
            const Matching matching = match(matched + table, node.actions, count);
            for (int action = 0; action < node.actions; action++) {
                const long long at = (long long)action * count;
                value += played(matching, matched[table + at]) * below[at];
            }
            rows[row] = value;
            const float arriving = entered * reach[line.rows + row + bucket];
            for (int action = 0; action < node.actions; action++) {
                const long long at = (long long)action * count, entry = table + at;
                const float strategy = played(matching, matched[entry]);
                const float instant = below[at] - value, updated = new_regret(regret[entry], instant, weights);
                average[entry] = new_average(average[entry], arriving * strategy, weights);
                matched[entry] = predicted_regret(updated, instant, weights);
                regret[entry] = updated;
            }
        }
    }
}
