/**
 * Words of 32 bits in memory, little-endian, as bytes and as a view. Reads through the view are checked, and are just
 * as fast.
 */
export interface Words {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView;
}

const wordBytes = 4;

function wordsOf(values: readonly number[]): Words {
  const bytes = new Uint8Array(values.length * wordBytes);
  const view = new DataView(bytes.buffer);
  for (const [place, value] of values.entries()) view.setUint32(place * wordBytes, value, true);
  return { bytes, view };
}

/** Words of the hash state before the first block (FIPS 180-4, 5.3.3). */
const initialWords = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];
export const initialState = (): Words => wordsOf(initialWords);

const rounds = 64;
const constants = wordsOf(roundConstants()).view;
const scheduleEnd = rounds * wordBytes;

/** Creates memory for a block of 64 bytes and its schedule. */
export const emptyBlock = (): Words => wordsOf(Array.from({ length: rounds }, () => 0));

/** The first 32 bits of the fractions of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
function roundConstants(): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < rounds; candidate++) {
    if (isPrime(candidate)) found.push(Number(cubeRoot(BigInt(candidate) << 96n) & 0xffff_ffffn));
  }
  return found;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++)
    if (candidate % divisor === 0) return false;
  return true;
}

/** Cube root of a number below 2^123, rounded down. */
function cubeRoot(value: bigint): bigint {
  let root = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((root + bit) ** 3n <= value) root += bit;
  return root;
}

/**
 * Hashes one block with SHA-256, and changes the state of 8 words. The second parameter begins with the block's 16
 * words; the schedule is written after them. A call of the native hash would cost several times as much as one block
 * here.
 */
export function hashBlock({ view: state }: Words, { view: words }: Words): void {
  for (let at = 64; at < scheduleEnd; at += 4) {
    const far = words.getInt32(at - 60, true);
    const near = words.getInt32(at - 8, true);
    const sigma0 = ((far >>> 7) | (far << 25)) ^ ((far >>> 18) | (far << 14)) ^ (far >>> 3);
    const sigma1 = ((near >>> 17) | (near << 15)) ^ ((near >>> 19) | (near << 13)) ^ (near >>> 10);
    const before = words.getInt32(at - 64, true) + words.getInt32(at - 28, true);
    words.setInt32(at, (before + sigma0 + sigma1) | 0, true);
  }
  let a = state.getInt32(0, true);
  let b = state.getInt32(4, true);
  let c = state.getInt32(8, true);
  let d = state.getInt32(12, true);
  let e = state.getInt32(16, true);
  let f = state.getInt32(20, true);
  let g = state.getInt32(24, true);
  let h = state.getInt32(28, true);
  for (let at = 0; at < scheduleEnd; at += 4) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const chosen = g ^ (e & (f ^ g));
    const major = (a & b) | (c & (a | b));
    const first = (h + sum1 + chosen + constants.getInt32(at, true) + words.getInt32(at, true)) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + sum0 + major) | 0;
  }
  add(state, 0, a);
  add(state, 4, b);
  add(state, 8, c);
  add(state, 12, d);
  add(state, 16, e);
  add(state, 20, f);
  add(state, 24, g);
  add(state, 28, h);
}

/** Adds to a word of the state, modulo 2^32. */
const add = (state: DataView, at: number, word: number): void =>
  state.setInt32(at, (state.getInt32(at, true) + word) | 0, true);
