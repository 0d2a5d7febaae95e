/** The state before the first block (FIPS 180-4, 5.3.3). */
export const initialState: Readonly<Int32Array> = Int32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);

const rounds = 64;
const constants = roundConstants();

/** The first 32 bits of the fractions of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
function roundConstants(): Int32Array {
  const found = new Int32Array(rounds);
  for (let candidate = 2, place = 0; place < rounds; candidate++) {
    if (isPrime(candidate)) found[place++] = Number(cubeRoot(BigInt(candidate) << 96n) & 0xffff_ffffn);
  }
  return found;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++)
    if (candidate % divisor === 0) return false;
  return true;
}

/** Rounded down. */
function cubeRoot(value: bigint): bigint {
  let root = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((root + bit) ** 3n <= value) root += bit;
  return root;
}

/**
 * One block of SHA-256. `words` begins with the 16 words of the block and has room for 64: the schedule is written
 * behind them. The state is changed. A call of the native hash costs several times as much as a block.
 */
export function hashBlock(state: Int32Array, words: Int32Array): void {
  for (let place = 16; place < rounds; place++) {
    const far = words[place - 15]!;
    const near = words[place - 2]!;
    const sigma0 = ((far >>> 7) | (far << 25)) ^ ((far >>> 18) | (far << 14)) ^ (far >>> 3);
    const sigma1 = ((near >>> 17) | (near << 15)) ^ ((near >>> 19) | (near << 13)) ^ (near >>> 10);
    words[place] = (words[place - 16]! + sigma0 + words[place - 7]! + sigma1) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let place = 0; place < rounds; place++) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const chosen = g ^ (e & (f ^ g));
    const major = (a & b) | (c & (a | b));
    const first = (h + sum1 + chosen + constants[place]! + words[place]!) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + sum0 + major) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}
