// CFR on the sequence form of a two-player game on one GPU: the game as the kernels see it.
//
// One iteration updates each player in turn (or both at once). For the updating player:
//
//   rows   product(s) = sum of value * plan of the other player, over the entries of row s of the payoff matrix
//   up     deepest level first, in each information set:
//              q(s)  = product(s) + sum of v over the sets below s
//              v = sum of strategy(s) * q(s)                   in `set_value`
//              regret, average and next strategy by the seven weights of the iteration
//   down   root first: plan(s) = plan(parent sequence) * strategy(s)
//
// These files are joined and compiled as one, with `weights_source` of game.py after the first:
//
//   player.cu     this one
//   update.cu     (in `cuda/`) the update of a variant, for one action
//   groups.cu     threads that work together: sums over lanes, barrier between blocks
//   steps.cu      rows, up and down, for any group of threads that shares them
//   together.cu   `solve`: all iterations of a schedule in one launch, by blocks that own subtrees; or
//   levels.cu     one launch per step and level, recorded as a graph
//
// No sum uses atomics, so results are reproducible.
//
// Compile-time choices: REAL, and for each player LANES_i (threads that share an information set) and ROW_LANES_i
// (threads that share a row); PACKED means that an entry packs column and value into 32 bits.

#ifndef REAL
#define REAL float
#endif
#ifndef LANES_0
#define LANES_0 4
#endif
#ifndef LANES_1
#define LANES_1 4
#endif
#ifndef ROW_LANES_0
#define ROW_LANES_0 4
#endif
#ifndef ROW_LANES_1
#define ROW_LANES_1 4
#endif
#ifndef PACKED
#define PACKED 1
#endif
#ifndef THREADS
#define THREADS 1024
#endif
#ifndef MAX_LEVELS
#define MAX_LEVELS 64
#endif

typedef REAL real;

// The smallest normal number: a sum of regrets or averages below it counts as 0, as in every engine.
#define SMALLEST (sizeof(real) == 8 ? (real)2.2250738585072014e-308 : (real)1.17549435e-38f)

// One player. Every member takes 8 bytes: the host fills the struct as one array of integers.
// S sequences, I information sets, T sequences and U sets of the top, B blocks.
struct Player {
    const int* first;        // [I+1]      sequences of set i are first[i] : first[i+1]
    const int* parent;       // [S]        parent sequence
    const int2* children;    // [S]        sets below: a slice of sets, or for the top a slice of top_child
    const int* top_child;    // [...]
    const int* level;        // [B+1, levels+1]  slices of sets, by part and level
    const int* part_levels;  // [B+1]      number of levels of a part
    const int* row_bounds;   // [B, 3]     rows of block b: long ones [0] : [1], short ones [1] : [2]
    const int2* row;         // [rows+1]   first entry, and the sequence whose row it is
    const unsigned* entry;   // [entries]  column; with PACKED, the index of its value in the high bits
    const real* value;       // [entries]  or, with PACKED, [values]
    real* regret;            // [S + (B-1) T]  the canonical array, then the copies of blocks 1, 2, ...
    real* average;           //            likewise
    real* strategy;          //            likewise
    real* plan;              //            likewise
    real* q;                 //            likewise
    real* product;           // [S]        stays 0 where a row has no entries
    real* set_value;         // [I + (B-1) U]
    real* other_strategy;    // used by `evaluate` instead of strategy and plan
    real* other_plan;
    long long sequences;       // S
    long long sets;            // I
    long long top_sequences;   // T, at least 1: the empty sequence
    long long top_sets;        // U
    long long levels;
    long long values;          // number of values per game
    long long sequence_stride; // from one game of a batch to the next, in arrays over sequences
    long long product_stride;
    long long set_stride;
    long long column_bits;     // bits of an entry for the column
};
