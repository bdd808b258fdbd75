/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitsliced AES in portable C for words of any width: what aes_nohw32.c and aes_nohw64.c have in common.
 *
 * The file that includes this one defines
 *     plane           the unsigned word type
 *     ROW_BITS        a quarter of its bits: 8 or 16
 *     BLOCKS          blocks side by side: ROW_BITS / 4
 *     load_block(q, slot, bytes), store_block(q, slot, bytes), to_planes(q), from_planes(q)
 *
 * A batch of BLOCKS blocks is eight planes; plane k holds bit k of every byte. Within a plane, row r of all states is
 * the ROW_BITS bits from r * ROW_BITS on, and within a row column c of block b is bit
 *     (c & 1) * ROW_BITS / 2 + 2 * b + (c >> 1).
 * MixColumns thus turns planes by whole rows, and ShiftRows is two exchanges: of the even and the odd columns, and of
 * neighbouring bits.
 *
 * SubBytes leaves out its constant 0x63: all round keys but the first have it added instead. ShiftRows, MixColumns
 * and their inverses map a state of equal bytes to itself, so that this is right in both directions.
 *
 * To review: the circuit against the paper (with a key of zeros the first SubBytes sees the block itself, so that
 * blocks which hold every byte try all 256 values); the masks of shift_rows against FIPS 197 5.1.2. No index and no
 * branch depends on key or data.
 *
 * Sources: FIPS 197; E. Kasper, P. Schwabe, "Faster and Timing-Attack Resistant AES-GCM" (2009); J. Boyar, R. Peralta,
 * "A small depth-16 circuit for the AES S-box" (2011).
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 16, PLANES = 8, MOST_ROUNDS = 14, HALF = ROW_BITS / 2 };

struct schedule {
    plane keys[MOST_ROUNDS + 1][PLANES]; /* every block slot holds the same round key */
    plane rounds;                        /* 10, 12 or 14 */
};

#define ONES ((plane)~(plane)0)
#define LOW_HALF ((plane)(((plane)1 << HALF) - 1))
#define PAIRS (LOW_HALF / 3) /* 0x5 or 0x55: the lower bit of each pair of a half */
#define IN_ROW(bits, row) ((plane)((plane)(bits) << ((row) * ROW_BITS)))

/* Exchange the bits of *a under mask << shift with those of *b under mask. */
static inline void exchange(plane *a, plane *b, unsigned shift, plane mask)
{
    plane different = ((*a >> shift) ^ *b) & mask;
    *a ^= different << shift;
    *b ^= different;
}

/* Exchange the bits of word under mask << shift with those under mask. */
static inline plane exchanged(plane word, unsigned shift, plane mask)
{
    plane different = ((word >> shift) ^ word) & mask;
    return word ^ different ^ different << shift;
}

/* In each byte position: bit j of word k becomes bit k of word j. Its own inverse. */
static inline void transpose(plane q[PLANES])
{
    for (int k = 0; k < PLANES; k += 2)
        exchange(&q[k], &q[k + 1], 1, ONES / 3);
    for (int k = 0; k < PLANES; k += (k & 1) ? 3 : 1)
        exchange(&q[k], &q[k + 2], 2, ONES / 5);
    for (int k = 0; k < PLANES / 2; k++)
        exchange(&q[k], &q[k + 4], 4, ONES / 17);
}

/* FIPS 197 5.1.1 without the constant 0x63: the circuit of Boyar and Peralta, whose x0 and s0 are bit 7. */
static inline void sub_bytes(plane q[PLANES])
{
    plane x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];

    /* Top linear layer. */
    plane y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, t0 = x1 ^ x2;
    plane y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6;
    plane y3 = y5 ^ y8, t1 = x4 ^ y12, y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7;
    plane y10 = y15 ^ t0, y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8;
    plane y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;

    /* Inversion in GF(2^8), by way of GF(2^4). */
    plane t2 = y12 & y15, t3 = (y3 & y6) ^ t2, t5 = (y4 & x7) ^ t2, t7 = y13 & y16;
    plane t8 = (y5 & y1) ^ t7, t10 = (y2 & y7) ^ t7, t12 = y9 & y11;
    plane t13 = (y14 & y17) ^ t12, t15 = (y8 & y10) ^ t12;
    plane t21 = t3 ^ t13 ^ y20, t22 = t5 ^ t15 ^ y19, t23 = t8 ^ t13 ^ y21, t24 = t10 ^ t15 ^ y18;
    plane t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22;
    plane t30 = t23 ^ t24, t31 = t22 ^ t26, t33 = (t31 & t30) ^ t24, t34 = t23 ^ t33;
    plane t35 = t27 ^ t33, t36 = t24 & t35, t37 = t36 ^ t34, t38 = t27 ^ t36;
    plane t40 = t25 ^ (t29 & t38);
    plane t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37, t45 = t42 ^ t41;
    plane z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7;
    plane z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4;
    plane z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;

    /* Bottom linear layer, the affine map of FIPS 197 included. */
    plane u46 = z15 ^ z16, u47 = z10 ^ z11, u48 = z5 ^ z13, u49 = z9 ^ z10, u50 = z2 ^ z12, u51 = z2 ^ z5;
    plane u52 = z7 ^ z8, u53 = z0 ^ z3, u54 = z6 ^ z7, u55 = z16 ^ z17, u56 = z12 ^ u48, u57 = u50 ^ u53;
    plane u58 = z4 ^ u46, u59 = z3 ^ u54, u60 = u46 ^ u57, u61 = z14 ^ u57, u62 = u52 ^ u58;
    plane u63 = u49 ^ u58, u64 = z4 ^ u59, u65 = u61 ^ u62, u66 = z1 ^ u63, u67 = u64 ^ u65;
    plane s3 = u53 ^ u66;
    q[7] = u59 ^ u63;
    q[6] = u64 ^ s3;
    q[5] = u55 ^ u67;
    q[4] = s3;
    q[3] = u51 ^ u66;
    q[2] = u47 ^ u65;
    q[1] = u56 ^ u62;
    q[0] = u48 ^ u60;
}

/* The inverse of the linear part of SubBytes: bit k is the sum of bits k+2, k+5 and k+7 (FIPS 197 5.3.2, modulo 8). */
static inline void inverse_affine(plane q[PLANES])
{
    plane x[PLANES];
    for (int k = 0; k < PLANES; k++)
        x[k] = q[k];
    for (int k = 0; k < PLANES; k++)
        q[k] = x[(k + 2) % PLANES] ^ x[(k + 5) % PLANES] ^ x[(k + 7) % PLANES];
}

/* FIPS 197 5.3.2 of bytes to which 0x63 has been added: L^-1 S' L^-1, since S' is L after the inversion. */
static inline void inverse_sub_bytes(plane q[PLANES])
{
    inverse_affine(q);
    sub_bytes(q);
    inverse_affine(q);
}

/* FIPS 197 5.1.2: row r takes column c from column c + r. Odd r change even with odd columns; then, where the index
 * has passed 3, neighbouring bits change: in row 1 those of odd columns, in row 2 all, in row 3 those of even ones. */
#define ODD_ROWS (IN_ROW(LOW_HALF, 1) | IN_ROW(LOW_HALF, 3))
#define PASSED (IN_ROW(PAIRS << HALF, 1) | IN_ROW(PAIRS | PAIRS << HALF, 2) | IN_ROW(PAIRS, 3))

static inline void shift_rows(plane q[PLANES])
{
    for (int k = 0; k < PLANES; k++)
        q[k] = exchanged(exchanged(q[k], HALF, ODD_ROWS), 1, PASSED);
}

/* FIPS 197 5.3.1. */
static inline void inverse_shift_rows(plane q[PLANES])
{
    for (int k = 0; k < PLANES; k++)
        q[k] = exchanged(exchanged(q[k], 1, PASSED), HALF, ODD_ROWS);
}

/* Row r takes what row r + by had; by = 1 or 2. */
static inline plane rows_on(plane word, unsigned by)
{
    return word >> by * ROW_BITS | word << (4 - by) * ROW_BITS;
}

/* FIPS 197 5.1.3: with a, b, c, d the rows from r on, the new row is 2 (a + b) + b + (c + d). */
static inline void mix_columns(plane q[PLANES])
{
    plane next[PLANES], sum[PLANES];
    for (int k = 0; k < PLANES; k++) {
        next[k] = rows_on(q[k], 1);
        sum[k] = q[k] ^ next[k];
    }
    /* The byte doubled: bit 7 returns to bits 0, 1, 3, 4 (m(x) = 0x11b). */
    q[0] = sum[7] ^ next[0] ^ rows_on(sum[0], 2);
    q[1] = sum[0] ^ sum[7] ^ next[1] ^ rows_on(sum[1], 2);
    q[2] = sum[1] ^ next[2] ^ rows_on(sum[2], 2);
    q[3] = sum[2] ^ sum[7] ^ next[3] ^ rows_on(sum[3], 2);
    q[4] = sum[3] ^ sum[7] ^ next[4] ^ rows_on(sum[4], 2);
    q[5] = sum[4] ^ next[5] ^ rows_on(sum[5], 2);
    q[6] = sum[5] ^ next[6] ^ rows_on(sum[6], 2);
    q[7] = sum[6] ^ next[7] ^ rows_on(sum[7], 2);
}

/* FIPS 197 5.3.3: (14, 11, 13, 9) is (2, 3, 1, 1) times (5, 0, 4, 0); the second is a + 4 (a + c). */
static inline void inverse_mix_columns(plane q[PLANES])
{
    plane sum[PLANES];
    for (int k = 0; k < PLANES; k++)
        sum[k] = q[k] ^ rows_on(q[k], 2);
    plane both = sum[6] ^ sum[7];
    q[0] ^= sum[6];
    q[1] ^= both;
    q[2] ^= sum[0] ^ sum[7];
    q[3] ^= sum[1] ^ sum[6];
    q[4] ^= sum[2] ^ both;
    q[5] ^= sum[3] ^ sum[7];
    q[6] ^= sum[4];
    q[7] ^= sum[5];
    mix_columns(q);
}

static inline void add_round_key(plane q[PLANES], const plane key[PLANES])
{
    for (int k = 0; k < PLANES; k++)
        q[k] ^= key[k];
}

/* FIPS 197 5.1 on BLOCKS blocks. */
static void encrypt_planes(plane q[PLANES], const struct schedule *schedule)
{
    add_round_key(q, schedule->keys[0]);
    for (plane round = 1; round < schedule->rounds; round++) {
        sub_bytes(q);
        shift_rows(q);
        mix_columns(q);
        add_round_key(q, schedule->keys[round]);
    }
    sub_bytes(q);
    shift_rows(q);
    add_round_key(q, schedule->keys[schedule->rounds]);
}

/* FIPS 197 5.3 on BLOCKS blocks, with the round keys of encryption. */
static void decrypt_planes(plane q[PLANES], const struct schedule *schedule)
{
    add_round_key(q, schedule->keys[schedule->rounds]);
    for (plane round = schedule->rounds - 1; round > 0; round--) {
        inverse_shift_rows(q);
        inverse_sub_bytes(q);
        add_round_key(q, schedule->keys[round]);
        inverse_mix_columns(q);
    }
    inverse_shift_rows(q);
    inverse_sub_bytes(q);
    add_round_key(q, schedule->keys[0]);
}

static uint32_t load_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void store_word(uint8_t *bytes, uint32_t word)
{
    bytes[0] = (uint8_t)word;
    bytes[1] = (uint8_t)(word >> 8);
    bytes[2] = (uint8_t)(word >> 16);
    bytes[3] = (uint8_t)(word >> 24);
}

static uint32_t load_big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[3] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[0] << 24;
}

static void store_big_endian(uint8_t *bytes, uint32_t word)
{
    bytes[0] = (uint8_t)(word >> 24);
    bytes[1] = (uint8_t)(word >> 16);
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = (uint8_t)word;
}

/* SubWord of FIPS 197 5.2. */
static uint32_t sub_word(uint32_t word)
{
    plane q[PLANES] = { word };
    transpose(q);
    sub_bytes(q);
    transpose(q);
    return (uint32_t)q[0] ^ 0x63636363;
}

/* FIPS 197 5.2; key_len is 16, 24 or 32. Words are little-endian, so that RotWord turns right. */
static void expand_key(struct schedule *schedule, const uint8_t *key, size_t key_len)
{
    uint32_t words[4 * (MOST_ROUNDS + 1)];
    size_t length = key_len / 4, rounds = length + 6;
    uint32_t constant = 1;
    for (size_t i = 0; i < length; i++)
        words[i] = load_word(key + 4 * i);
    for (size_t i = length, step = 0; i < 4 * (rounds + 1); i++) {
        uint32_t word = words[i - 1];
        if (step == 0) {
            word = sub_word(word >> 8 | word << 24) ^ constant;
            constant = (constant << 1) ^ (0x11b & (uint32_t) - (constant >> 7));
        } else if (length == 8 && step == 4) {
            word = sub_word(word);
        }
        words[i] = words[i - length] ^ word;
        step = step + 1 == length ? 0 : step + 1;
    }
    schedule->rounds = (plane)rounds;
    for (size_t round = 0; round <= rounds; round++) {
        uint8_t bytes[BLOCK];
        for (size_t c = 0; c < 4; c++)
            store_word(bytes + 4 * c, words[4 * round + c] ^ (round ? 0x63636363 : 0));
        for (unsigned slot = 0; slot < BLOCKS; slot++)
            load_block(schedule->keys[round], slot, bytes);
        to_planes(schedule->keys[round]);
    }
}

static void encrypt_block(uint8_t *out, const uint8_t *block, const struct schedule *schedule)
{
    plane q[PLANES] = { 0 };
    load_block(q, 0, block);
    to_planes(q);
    encrypt_planes(q, schedule);
    from_planes(q);
    store_block(q, 0, out);
}

static void decrypt_block(uint8_t *out, const uint8_t *block, const struct schedule *schedule)
{
    plane q[PLANES] = { 0 };
    load_block(q, 0, block);
    to_planes(q);
    decrypt_planes(q, schedule);
    from_planes(q);
    store_block(q, 0, out);
}

/* SP 800-38A 6.2. A block depends on the one before, so each takes a batch of its own. */
static void encrypt_chain(uint8_t *out, const uint8_t *data, size_t len, const struct schedule *schedule, uint8_t *iv)
{
    uint8_t chain[BLOCK];
    memcpy(chain, iv, BLOCK);
    for (; len >= BLOCK; len -= BLOCK, data += BLOCK, out += BLOCK) {
        for (int i = 0; i < BLOCK; i++)
            chain[i] ^= data[i];
        encrypt_block(chain, chain, schedule);
        memcpy(out, chain, BLOCK);
    }
    memcpy(iv, chain, BLOCK);
}

/* SP 800-38A 6.2, up to BLOCKS blocks at a time. All ciphertext of a batch is kept before a byte of it is written. */
static void decrypt_chain(uint8_t *out, const uint8_t *data, size_t len, const struct schedule *schedule, uint8_t *iv)
{
    uint8_t kept[(BLOCKS + 1) * BLOCK]; /* the block before the batch, then the batch */
    memcpy(kept, iv, BLOCK);
    while (len >= BLOCK) {
        size_t blocks = len / BLOCK < BLOCKS ? len / BLOCK : BLOCKS;
        plane q[PLANES] = { 0 };
        memcpy(kept + BLOCK, data, blocks * BLOCK);
        for (unsigned slot = 0; slot < blocks; slot++)
            load_block(q, slot, kept + (slot + 1) * BLOCK);
        to_planes(q);
        decrypt_planes(q, schedule);
        from_planes(q);
        for (unsigned slot = 0; slot < blocks; slot++) {
            uint8_t plain[BLOCK];
            store_block(q, slot, plain);
            for (int i = 0; i < BLOCK; i++)
                out[slot * BLOCK + i] = plain[i] ^ kept[slot * BLOCK + i];
        }
        memmove(kept, kept + blocks * BLOCK, BLOCK);
        data += blocks * BLOCK;
        out += blocks * BLOCK;
        len -= blocks * BLOCK;
    }
    memcpy(iv, kept, BLOCK);
}

/* SP 800-38A 6.5. The counter is a uint32_t: it wraps, and bytes 0 to 11 of iv never change. */
static void count_blocks(uint8_t *out, const uint8_t *data, size_t len, const struct schedule *schedule, uint8_t *iv)
{
    uint8_t block[BLOCK], stream[BLOCKS * BLOCK];
    uint32_t counter = load_big_endian(iv + 12);
    memcpy(block, iv, BLOCK);
    while (len) {
        size_t taken = len < sizeof stream ? len : sizeof stream;
        plane q[PLANES];
        for (unsigned slot = 0; slot < BLOCKS; slot++) {
            store_big_endian(block + 12, counter + slot);
            load_block(q, slot, block);
        }
        to_planes(q);
        encrypt_planes(q, schedule);
        from_planes(q);
        for (unsigned slot = 0; slot < BLOCKS; slot++)
            store_block(q, slot, stream + slot * BLOCK);
        for (size_t i = 0; i < taken; i++)
            out[i] = data[i] ^ stream[i];
        counter += (uint32_t)((taken + BLOCK - 1) / BLOCK);
        data += taken;
        out += taken;
        len -= taken;
    }
    store_big_endian(iv + 12, counter);
}
