/**
 * A WebAssembly module that hashes four messages at once with sha256 (FIPS 180-4), one in each 32-bit lane of its
 * vectors. It is assembled here, from the text of the standard, instead of being a binary in the repository.
 *
 * Memory: the round constants and the initial state, each four times, then digests, then the messages. Exported:
 * `hash(blocks, last, base)`: the messages have `blocks` padded blocks each, and lane n's begins at `base +
 * laneAt(n)`; with `last` = blocks + 1 the digests are hashed a second time (a txid). Digests are stored by words:
 * word w of lane n is at `digestsAt + w * 16 + n * 4`.
 */

/**
 * Maximum number of blocks of a message. Longer messages are cheaper one by one, with the processor's own instructions.
 */
export const laneBlocksMax = 16;
const laneBytes = laneBlocksMax * 64;
/** Number of bytes between the bases of two groups of four messages. */
export const groupBytes = 4 * laneBytes;
/** Number of memory pages: for a group of each number of blocks (64 KB), and for all other data. */
const memoryPages = 2;
const constantsAt = 0;
const initialAt = constantsAt + 64 * 16;
export const digestsAt = initialAt + 8 * 16;
const messagesAt = digestsAt + 8 * 16;
/** Offset of the message of a lane. */
export const laneAt = (lane: number): number => messagesAt + lane * laneBytes;

/** The first 32 bits of the fractional parts of roots of the first primes (FIPS 180-4, 4.2.2 and 5.3.3). */
function fractions(count: number, root: (prime: number) => number): number[] {
  const words: number[] = [];
  for (let candidate = 2; words.length < count; candidate++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) isPrime &&= candidate % divisor !== 0;
    if (isPrime) words.push(Math.floor((root(candidate) % 1) * 2 ** 32));
  }
  return words;
}

/** The contents of the memory before the first hash. */
export function initialMemory(): Uint32Array {
  const words = [...fractions(64, Math.cbrt), ...fractions(8, Math.sqrt)];
  return Uint32Array.from(words.flatMap((word) => [word, word, word, word]));
}

const leb = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
};
/** A signed LEB128 constant. Constants here are not negative, so the bit above their digits must be clear. */
const signedLeb = (value: number): number[] => {
  const bytes = leb(value);
  const last = bytes.length - 1;
  if ((bytes[last]! & 0x40) !== 0) {
    bytes[last] = bytes[last]! | 0x80;
    bytes.push(0);
  }
  return bytes;
};

// opcodes (WebAssembly specification, 5.4)
const simd = (opcode: number): number[] => [0xfd, ...leb(opcode)];
const end = [0x0b];
const get = (local: number): number[] => [0x20, ...leb(local)];
const set = (local: number): number[] => [0x21, ...leb(local)];
const tee = (local: number): number[] => [0x22, ...leb(local)];
const i32 = (value: number): number[] => [0x41, ...signedLeb(value)];
const add32 = [0x6a];
const lessThan = [0x49];
const vectorLoad = (offset: number): number[] => [...simd(0), 4, ...leb(offset)];
const vectorStore = (offset: number): number[] => [...simd(11), 4, ...leb(offset)];
const wordLoad = (offset: number): number[] => [...simd(0x5c), 2, ...leb(offset)];
const laneLoad = (offset: number, lane: number): number[] => [...simd(0x56), 2, ...leb(offset), lane];
const and = simd(0x4e);
const or = simd(0x50);
const xor = simd(0x51);
const shl = simd(0xab);
const shr = simd(0xad);
const add = simd(0xae);
const splat = simd(0x11);
const swapBytes = [...simd(0x0d), 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12];

// locals: parameters, counters, then vectors
const blocks = 0;
const last = 1;
const pointer = 2;
const block = 3;
const round = 4;
const stateAt = 5;
const workAt = 13;
const scheduleAt = 21;
const scratch = 37;
/** a xor b of the previous round, which is b xor c of this round. */
const previousXor = 38;
const vectorLocals = 34;

const state = (index: number): number => stateAt + index;
const schedule = (index: number): number => scheduleAt + (index & 15);
/** The working variable a (0) to h (7) of a round. The names rotate instead of the values. */
const work = (index: number, roundIndex: number): number => workAt + ((index - roundIndex) & 7);

const rotated = (local: number, bits: number): number[] => [
  ...get(local),
  ...i32(bits),
  ...shr,
  ...get(local),
  ...i32(32 - bits),
  ...shl,
  ...or,
];
const bigSigma = (local: number, first: number, second: number, third: number): number[] => [
  ...rotated(local, first),
  ...rotated(local, second),
  ...xor,
  ...rotated(local, third),
  ...xor,
];
const smallSigma = (local: number, first: number, second: number, shift: number): number[] => [
  ...rotated(local, first),
  ...rotated(local, second),
  ...xor,
  ...get(local),
  ...i32(shift),
  ...shr,
  ...xor,
];

/** One round: FIPS 180-4, 6.2.2, step 3; the constant is at `round` plus an offset. */
function roundCode(index: number): number[] {
  const [a, b, , d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map((name) => work(name, index)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return [
    // add t1 into h
    ...get(h),
    ...get(round),
    ...vectorLoad(constantsAt + index * 16),
    ...add,
    ...get(schedule(index)),
    ...add,
    ...bigSigma(e, 6, 11, 25),
    ...add,
    ...get(f),
    ...get(g),
    ...xor,
    ...get(e),
    ...and,
    ...get(g),
    ...xor,
    ...add,
    ...set(h),
    ...get(d),
    ...get(h),
    ...add,
    ...set(d),
    // t1 + t2; the majority of a, b, c is ((a xor b) and (b xor c)) xor b
    ...get(h),
    ...bigSigma(a, 2, 13, 22),
    ...add,
    ...get(a),
    ...get(b),
    ...xor,
    ...tee(scratch),
    ...get(previousXor),
    ...and,
    ...get(b),
    ...xor,
    ...add,
    ...set(h),
    ...get(scratch),
    ...set(previousXor),
  ];
}

/** Computes the next word of the message schedule, which replaces the word of sixteen rounds before. */
const scheduleCode = (index: number): number[] => [
  ...get(schedule(index)),
  ...smallSigma(schedule(index + 1), 7, 18, 3),
  ...add,
  ...get(schedule(index + 9)),
  ...add,
  ...smallSigma(schedule(index + 14), 17, 19, 10),
  ...add,
  ...set(schedule(index)),
];

const sixteen = Array.from({ length: 16 }, (_, index) => index);
const eight = sixteen.slice(0, 8);

const loadInitial = eight.flatMap((index) => [
  ...i32(0),
  ...vectorLoad(initialAt + index * 16),
  ...set(state(index)),
]);

/** Loads the messages word by word: each step loads the same word of all four messages. */
const loadMessages = sixteen.flatMap((index) => [
  ...get(pointer),
  ...get(pointer),
  ...get(pointer),
  ...get(pointer),
  ...wordLoad(laneAt(0) + index * 4),
  ...laneLoad(laneAt(1) + index * 4, 1),
  ...laneLoad(laneAt(2) + index * 4, 2),
  ...laneLoad(laneAt(3) + index * 4, 3),
  ...tee(schedule(index)),
  ...get(schedule(index)),
  ...swapBytes,
  ...set(schedule(index)),
]);

/** Loads digests as messages of 32 bytes, padded. */
const loadDigests = sixteen.flatMap((index) => {
  if (index < 8) return [...get(state(index)), ...set(schedule(index))];
  const words: Record<number, number[]> = { 8: [0x41, 0x80, 0x80, 0x80, 0x80, 0x78], 15: i32(256) };
  return [...(words[index] ?? i32(0)), ...splat, ...set(schedule(index))];
});

// type of a structured instruction that has no value
const empty = 0x40;
const loop = [0x03, empty];
const ifThen = [0x04, empty];
const otherwise = [0x05];
/** Repeats the enclosing loop while the value before it is not zero. */
const repeatIf = [0x0d, 0];

const body = [
  loadInitial,
  // one iteration per block, and one for the digests
  loop,
  [get(block), get(blocks), lessThan, ifThen].flat(),
  loadMessages,
  otherwise,
  loadDigests,
  loadInitial,
  end,
  eight.flatMap((index) => [...get(state(index)), ...set(workAt + index)]),
  [get(state(1)), get(state(2)), xor, set(previousXor)].flat(),
  [i32(0), set(round)].flat(),
  sixteen.flatMap(roundCode),
  // three iterations of sixteen rounds
  loop,
  [get(round), i32(16 * 16), add32, set(round)].flat(),
  sixteen.flatMap((index) => [...scheduleCode(index), ...roundCode(index)]),
  [get(round), i32(48 * 16), lessThan, repeatIf].flat(),
  end,
  eight.flatMap((index) => [...get(state(index)), ...get(workAt + index), ...add, ...set(state(index))]),
  [get(pointer), i32(64), add32, set(pointer)].flat(),
  [get(block), i32(1), add32, tee(block), get(last), lessThan, repeatIf].flat(),
  end,
  eight.flatMap((index) => [
    ...i32(0),
    ...get(state(index)),
    ...get(state(index)),
    ...swapBytes,
    ...vectorStore(digestsAt + index * 16),
  ]),
  end,
].flat();

const i32Type = 0x7f;
const vectorType = 0x7b;
const section = (id: number, bytes: number[]): number[] => [id, ...leb(bytes.length), ...bytes];
const name = (text: string): number[] => [text.length, ...Buffer.from(text)];

/** The bytes of the module. */
export function sha256Module(): Uint8Array<ArrayBuffer> {
  const code = [2, ...leb(2), i32Type, ...leb(vectorLocals), vectorType, ...body];
  const magicAndVersion = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  return Uint8Array.from([
    ...magicAndVersion,
    ...section(1, [1, 0x60, 3, i32Type, i32Type, i32Type, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, memoryPages]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('hash'), 0, 0]),
    ...section(10, [1, ...leb(code.length), ...code]),
  ]);
}
