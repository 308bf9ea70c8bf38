/* SHA-256 after FIPS 180-4, sections 4 to 6. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t v, int by) {
  return v >> by | v << (32 - by);
}

static void mix(uint32_t state[8], const uint8_t *block) {
  uint32_t w[64], v[8];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
           (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
  }
  memcpy(v, state, sizeof v);
  for (int i = 0; i < 64; i++) {
    uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    uint32_t most = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    uint32_t t = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + choice + k[i] + w[i];
    uint32_t u = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) + most;
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t;
    v[0] = t + u;
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

void nd_sha256(uint8_t out[32], nd_str bytes) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  size_t whole = bytes.n / 64 * 64, rest = bytes.n - whole;
  for (size_t at = 0; at < whole; at += 64) mix(state, (const uint8_t *)bytes.p + at);
  uint8_t tail[128] = {0};
  if (rest) memcpy(tail, bytes.p + whole, rest);
  tail[rest] = 0x80;
  size_t end = rest < 56 ? 64 : 128;
  for (int i = 0; i < 8; i++) tail[end - 1 - (size_t)i] = (uint8_t)((uint64_t)bytes.n * 8 >> 8 * i);
  for (size_t at = 0; at < end; at += 64) mix(state, tail + at);
  for (int i = 0; i < 32; i++) out[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void nd_sha256_base64(char out[45], nd_str bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint8_t d[33] = {0};
  nd_sha256(d, bytes);
  for (int i = 0; i < 11; i++) {
    uint32_t three = (uint32_t)d[3 * i] << 16 | (uint32_t)d[3 * i + 1] << 8 | d[3 * i + 2];
    for (int j = 0; j < 4; j++) out[4 * i + j] = digits[three >> (18 - 6 * j) & 63];
  }
  out[43] = '='; /* 32 bytes leave one character of the last four unused */
  out[44] = '\0';
}
