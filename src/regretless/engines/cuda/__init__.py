"""CFR on NVIDIA GPUs, by kernels of our own in CUDA, compiled when a game is first solved.

What runs where. The host (this Python) lays a game out as tables, copies them to the device once, and decides what to
launch. The device (the `.cu` files) has regrets and averages and does all arithmetic of iterations and evaluations. A
*launch* runs one kernel in a grid of blocks of threads; launches follow each other in order, and the results of one are
visible to the next. Launching costs microseconds, which is as long as an iteration of a small game takes, so launches
are recorded once and replayed as a whole, or one launch runs a whole schedule. Threads of a block share a few hundred
kilobytes of fast memory and can wait for each other; blocks cannot, except in `sequence/`.

Rounding is the same in every launch and every order, and no sum uses atomic additions: a solve always gives the same
bits. Tests run the same kernels on a CPU, where every thread is a fiber (`tests/engines/cuda_host_device.py`).

    device.py          what engines ask of a device: memory, kernels, recorded launches; many tables in one upload
    cupy_device.py     that device through CuPy
    update.cu          a variant's update of one action, which the kernels of `sequence` and `buckets` share

`sequence/`: general games of two players. Read `kernels/player.cu`, which has the steps of an iteration, first.

    game.py            the game as arrays
    kernels/           `steps.cu` the arithmetic; `together.cu` a whole schedule in one launch, or `levels.cu` in many
    launch.py          chooses between the two, and how many blocks and threads share a game
    engine.py          uploads and launches; one game as the solving loop uses it

`buckets/`: hold'em with buckets, on sampled runouts: the simplest of the three, and the one to read first.

    plan.py            the betting tree as arrays
    runouts.py         the runouts of an iteration, prepared on the host while the device works on the one before
    kernels/           `streets.cu` reach, sums and the update; `terminals.cu` folds and showdowns
    engine.py          the launches of an iteration, step by step

`public/`: hold'em with every runout. Fast because everything that the threads of a warp read is adjacent.

    records.py         the records that host and kernels share, and tables of them in one block of bytes
    plan.py            the betting tree as records: rows of reach and values, decisions, terminals
    terminals.py       folds and showdowns of the last street, cut into pieces for blocks
    hands.py           hands and runouts as tables
    live.py            only the hands that a river leaves: where stored numbers and rows of the last street are
    spot.py            one spot on the device: its tables, its working rows, and the job that says where they are
    work.py            which runouts and lines a launch walks, for one spot or many
    walks.py           the launches of iterations and evaluations
    source.py          the kernels' source, what is compiled into them, and what lies in shared memory
    kernels/           `numbers.cu` stored numbers; `decisions.cu` one decision; `lines.cu`, `levels.cu`, `streets.cu`
                       walks over decisions; `lists.cu`, `terminals.cu` showdowns as sums, `products.cu` as products
    engine.py          one spot as the solving loop uses it
    parts.py           a trunk or a shard: what they exchange
    batch.py           many spots, advanced together
    bucket_evaluator.py   strategies per bucket, evaluated on every runout
    sizes.py           memory, estimated before anything is allocated
"""
