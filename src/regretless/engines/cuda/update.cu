// The update of a variant from its seven numbers, for one action: the equations are in `variants/variant.py`. `Numbers` has
// them as fields; `instant` is the regret of this iteration alone.
//
// Kernels of the public form have the same update in `update_regret` and `averaged` (`public/kernels/decisions.cu`): of
// several hands at once, written out with fused operations, and rounded to 16 bits where numbers are stored in 16.

template <typename Float, typename Numbers>
__device__ __forceinline__ Float new_regret(Float regret, Float instant, const Numbers& numbers) {
    regret = regret * (regret > 0 ? numbers.positive_discount : numbers.negative_discount) + instant;
    return numbers.floor != 0 && regret < 0 ? (Float)0 : regret;
}

// What the next strategy is matched to: the new regret, or what it is predicted to be after the next iteration.
template <typename Float, typename Numbers>
__device__ __forceinline__ Float predicted_regret(Float regret, Float instant, const Numbers& numbers) {
    return regret * numbers.prediction_discount + numbers.prediction * instant;
}

// `added` is the strategy of this iteration, weighed with the player's own reach and `average_weight`.
template <typename Float, typename Numbers>
__device__ __forceinline__ Float new_average(Float average, Float added, const Numbers& numbers) {
    return average * numbers.average_decay + added;
}
