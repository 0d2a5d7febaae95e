import { copyBytes } from '#kernel/copy-bytes.ts';
import {
  digestsAt,
  groupBytes,
  initialMemory,
  laneAt,
  laneBlocksMax,
  sha256Module,
} from './sha256-module.ts';

const lanes = 4;
const blockBytes = 64;
/** Minimum number of bytes of padding after a message: the bit that ends the message, and its length. */
const paddingMin = 9;

/**
 * Destination of the digests: 32 bytes per row, from the beginning of the buffer. The array may be another one at the
 * next call, because tables grow.
 */
export interface DigestRows {
  hash: Uint8Array<ArrayBuffer>;
}

interface Sha256Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly hash: (blocks: number, last: number, base: number) => void;
}

/** The part of the global `WebAssembly` that is used here. The language's own types do not include it. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: Sha256Exports };
}
const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

/** The compiled module. A thread gets it from the thread that started it. */
export type CompiledSha256 = object;

let compiled: CompiledSha256 | null = null;

/** Compiles the module, once per thread. */
export function compiledSha256(): CompiledSha256 {
  compiled ??= new webAssembly.Module(sha256Module());
  return compiled;
}

/**
 * Sets a module that another thread compiled. If each thread compiled its own module, the module would be freed when
 * the thread ends. After hundreds of threads, V8's accounting of code pages failed and aborted the process
 * ("jit_page").
 */
export function useCompiledSha256(module: CompiledSha256): void {
  compiled = module;
}

/**
 * Hashes many short messages, four at a time. Messages wait, grouped by their number of blocks, until there are four. A
 * call to the native hash costs about a microsecond before the first byte, which is as long as two or three short
 * messages take here.
 */
export class Sha256Lanes {
  readonly #rows: DigestRows;
  /** 1 if the digests are hashed a second time. */
  readonly #extra: number;
  readonly #run: Sha256Exports['hash'];
  /** Memory in which messages are written. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #words: Int32Array<ArrayBuffer>;
  /** Keyed by number of blocks: the number of waiting messages. `#waitingRows` has the rows of their digests. */
  readonly #waiting = new Uint8Array(laneBlocksMax + 1);
  readonly #waitingRows = new Int32Array((laneBlocksMax + 1) * lanes);
  #begun = 0;
  #view = new Int32Array(0);

  constructor(rows: DigestRows, isDouble: boolean) {
    this.#rows = rows;
    this.#extra = isDouble ? 1 : 0;
    const { exports } = new webAssembly.Instance(compiledSha256());
    this.#run = exports.hash;
    this.bytes = new Uint8Array(exports.memory.buffer);
    this.#words = new Int32Array(exports.memory.buffer);
    new Uint32Array(exports.memory.buffer).set(initialMemory());
  }

  /** Drops the waiting messages. */
  reset(): void {
    this.#waiting.fill(0);
  }

  /** Whether a message of this length is hashed here. `node:crypto` hashes longer messages. */
  static takes(length: number): boolean {
    return length + paddingMin <= laneBlocksMax * blockBytes;
  }

  /** Hashes the `length` bytes of `source` from `start` on. */
  add(source: Uint8Array, start: number, length: number, row: number): void {
    copyBytes(source, start, length, this.bytes, this.begin(length, row));
    this.commit();
  }

  /** Hashes `length` bytes that begin with word `first` of `source`. */
  addWords(source: Int32Array, first: number, length: number, row: number): void {
    const words = this.#words;
    const to = this.begin(length, row) >> 2;
    const whole = length >> 2;
    for (let word = 0; word < whole; word++) words[to + word] = source[first + word]!;
    const rest = (length & 3) * 8;
    if (rest > 0) words[to + whole] = (source[first + whole]! & ~(-1 << rest)) | (0x80 << rest);
    this.commit();
  }

  /** Begins a message of `length` bytes. Returns where in `bytes` to write them before `commit`. */
  begin(length: number, row: number): number {
    const blocks = (length + paddingMin + blockBytes - 1) >>> 6;
    const lane = this.#waiting[blocks]!;
    const at = groupBase(blocks) + laneAt(lane);
    const { bytes } = this;
    const words = this.#words;
    const end = at + blocks * blockBytes;
    // clear the word in which the message ends, and all words after it
    for (let pad = (at + length) >> 2; pad < end >> 2; pad++) words[pad] = 0;
    bytes[at + length] = 0x80;
    bytes[end - 2] = length >>> 5;
    bytes[end - 1] = (length << 3) & 0xff;
    this.#waitingRows[blocks * lanes + lane] = row;
    this.#waiting[blocks] = lane + 1;
    this.#begun = blocks;
    return at;
  }

  /** Ends the message. */
  commit(): void {
    if (this.#waiting[this.#begun] === lanes) this.#hashGroup(this.#begun);
  }

  /** Hashes the waiting messages. */
  flush(): void {
    for (let blocks = 1; blocks <= laneBlocksMax; blocks++) {
      if (this.#waiting[blocks] !== 0) this.#hashGroup(blocks);
    }
  }

  /** Hashes one group. Unused lanes hash old data, and their digests are ignored. */
  #hashGroup(blocks: number): void {
    this.#run(blocks, blocks + this.#extra, groupBase(blocks));
    const { hash: target } = this.#rows;
    if (this.#view.buffer !== target.buffer) this.#view = new Int32Array(target.buffer);
    const view = this.#view;
    const words = this.#words;
    const count = this.#waiting[blocks]!;
    for (let lane = 0; lane < count; lane++) {
      const to = this.#waitingRows[blocks * lanes + lane]! * 8;
      let from = (digestsAt >> 2) + lane;
      for (let word = to; word < to + 8; word++, from += 4) view[word] = words[from]!;
    }
    this.#waiting[blocks] = 0;
  }
}

const groupBase = (blocks: number): number => (blocks - 1) * groupBytes;
