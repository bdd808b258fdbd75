/* SPDX-License-Identifier: Apache-2.0 */
/* The compression function of SHA-256 and SHA-512 (FIPS 180-4 6.2.2 and 6.4.2), which differ in the word, in constants and
 * in the number of rounds.
 *
 * The file that includes this one says before it:
 *     word                        the type of a word
 *     ROUNDS, K                   the number of rounds, and their constants
 *     BIG_SIGMA0(x), BIG_SIGMA1(x), SMALL_SIGMA0(x), SMALL_SIGMA1(x)     4.1.2 or 4.1.3, by rotate_right
 *     load_little, load_big, store_little                                a word from bytes and to bytes
 *     BLOCKS                      the name of the function that is defined here
 *
 * The schedule lives in a ring of 16 words; round t of sixteen uses word t and replaces it, sixteen rounds before it is
 * needed again. The eight working variables are renamed from round to round instead of moved.
 *
 * To review: in SCHEDULE, W[t - 16], W[t - 15], W[t - 7] and W[t - 2] are ring places t, t + 1, t + 9, t + 14 modulo 16.
 * All sums are modulo 2^32 or 2^64. Nothing branches on or indexes by state or data.
 */
#ifndef SHARED_SHA2_H
#define SHARED_SHA2_H

enum { WORDS = 8, RING = 16, WORD = sizeof(word), BLOCK = RING * WORD };

/* 0 < count < bits of a word. */
static word rotate_right(word x, unsigned count)
{
    return x >> count | x << (8 * WORD - count);
}

/* 4.1.2, 4.1.3. Ch takes f where e has ones, else g; Maj takes b unless both a and c differ from it. */
static word ch(word e, word f, word g)
{
    return g ^ (e & (f ^ g));
}

static word maj(word a, word b, word c)
{
    return b ^ ((a ^ b) & (b ^ c));
}

static word big_sigma0(word a)
{
    return BIG_SIGMA0(a);
}

static word big_sigma1(word e)
{
    return BIG_SIGMA1(e);
}

static word small_sigma0(word w)
{
    return SMALL_SIGMA0(w);
}

static word small_sigma1(word w)
{
    return SMALL_SIGMA1(w);
}

/* Step 3, without the moves: the new a is in h, the new e in d. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                       \
    do {                                                                       \
        h += big_sigma1(e) + ch(e, f, g) + k[t] + w[t];                        \
        d += h;                                                                \
        h += big_sigma0(a) + maj(a, b, c);                                     \
    } while (0)

/* Step 1 for the round sixteen later. */
#define SCHEDULE(t)                                                            \
    (w[t] += small_sigma0(w[((t) + 1) % RING]) + w[((t) + 9) % RING] + small_sigma1(w[((t) + 14) % RING]))

/* Eight rounds bring every variable back to its name. */
#define EIGHT_ROUNDS(t)                                                        \
    do {                                                                       \
        ROUND(a, b, c, d, e, f, g, h, (t) + 0);                                \
        ROUND(h, a, b, c, d, e, f, g, (t) + 1);                                \
        ROUND(g, h, a, b, c, d, e, f, (t) + 2);                                \
        ROUND(f, g, h, a, b, c, d, e, (t) + 3);                                \
        ROUND(e, f, g, h, a, b, c, d, (t) + 4);                                \
        ROUND(d, e, f, g, h, a, b, c, (t) + 5);                                \
        ROUND(c, d, e, f, g, h, a, b, (t) + 6);                                \
        ROUND(b, c, d, e, f, g, h, a, (t) + 7);                                \
    } while (0)

#define FOUR_WORDS(t)                                                          \
    do {                                                                       \
        SCHEDULE(t);                                                           \
        SCHEDULE((t) + 1);                                                     \
        SCHEDULE((t) + 2);                                                     \
        SCHEDULE((t) + 3);                                                     \
    } while (0)

static void compress(word state[WORDS], const uint8_t *block)
{
    word w[RING];
    word a = state[0], b = state[1], c = state[2], d = state[3];
    word e = state[4], f = state[5], g = state[6], h = state[7];
    const word *k = K;
    unsigned i;

    for (i = 0; i < RING; i++)
        w[i] = load_big(block + WORD * i);

    for (;;) {
        EIGHT_ROUNDS(0);
        EIGHT_ROUNDS(8);
        k += RING;
        if (k == K + ROUNDS)
            break;
        FOUR_WORDS(0);
        FOUR_WORDS(4);
        FOUR_WORDS(8);
        FOUR_WORDS(12);
    }

    /* Step 4 */
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

/* h is words, little-endian; len is a multiple of BLOCK. */
void BLOCKS(uint8_t *h, const uint8_t *data, size_t len)
{
    word state[WORDS];
    size_t done;
    unsigned i;

    for (i = 0; i < WORDS; i++)
        state[i] = load_little(h + WORD * i);
    for (done = 0; done < len; done += BLOCK)
        compress(state, data + done);
    for (i = 0; i < WORDS; i++)
        store_little(h + WORD * i, state[i]);
}

#endif
