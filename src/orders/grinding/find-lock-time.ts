import assert from 'node:assert/strict';
import { hashBlock, initialState } from './sha256-block.ts';

/** Smaller lock times are heights (BIP 65). */
export const lockTimeFirst = 500_000_000;
/**
 * The time of the first block of all. Each network's median time past is above it, so a transaction with an earlier lock
 * time can be mined at once, whatever a node takes for now.
 */
export const lockTimeEnd = 1_231_006_505;

const blockBytes = 64;
const lockTimeBytes = 4;
/** The bit that ends a message, and its length. */
const paddingMin = 9;
const digestBits = 256;
const prefixBitsMax = 16;

/**
 * The first lock time from 500,000,000 on with which the displayed txid begins with a prefix of 1 to 4 hex characters.
 * `unsigned` is the transaction without its witness, which the txid does not cover: its last four bytes are the lock time,
 * whose value there is ignored. Pure: the same transaction gets the same lock time wherever and whenever it is looked for.
 */
export function findLockTime(unsigned: Uint8Array, prefix: string): number {
  const at = unsigned.length - lockTimeBytes;
  assert(at >= 0 && /^[0-9a-f]{1,4}$/u.test(prefix), 'a transaction and a prefix');
  const wanted = Number.parseInt(prefix, 16);
  const shift = prefixBitsMax - 4 * prefix.length;
  // nothing before the block with the lock time depends on it
  const { state, tail } = beginning(unsigned, at);
  const lockTimeAt = at % blockBytes;
  const blocks = wordsOf(tail);
  const firstWord = lockTimeAt >> 2;
  const lastWord = (lockTimeAt + lockTimeBytes - 1) >> 2;
  const view = new DataView(tail.buffer);
  const words = new Int32Array(blockBytes);
  const once = new Int32Array(8);
  const twice = new Int32Array(8);
  for (let lockTime = lockTimeFirst; lockTime < lockTimeEnd; lockTime++) {
    view.setUint32(lockTimeAt, lockTime, true);
    blocks[firstWord] = view.getInt32(firstWord << 2);
    blocks[lastWord] = view.getInt32(lastWord << 2);
    once.set(state);
    for (let from = 0; from < blocks.length; from += 16) {
      for (let word = 0; word < 16; word++) words[word] = blocks[from + word]!;
      hashBlock(once, words);
    }
    words.set(once);
    words.fill(0, 8, 16);
    words[8] = 0x8000_0000;
    words[15] = digestBits;
    twice.set(initialState);
    hashBlock(twice, words);
    // displayed txids begin with the last byte
    const last = twice[7]!;
    const shown = ((last & 0xff) << 8) | ((last >>> 8) & 0xff);
    if (shown >> shift === wanted) return lockTime;
  }
  // one try in 65,536 finds it, and there are 731 million
  throw new Error(`no lock time gives a txid that begins with ${prefix}`);
}

/** The state before the block in which a byte lies, and the bytes from that block on, padded. */
function beginning(
  message: Uint8Array,
  at: number,
): { readonly state: Int32Array; readonly tail: Uint8Array<ArrayBuffer> } {
  const from = at - (at % blockBytes);
  const state = Int32Array.from(initialState);
  const words = new Int32Array(blockBytes);
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  for (let block = 0; block < from; block += blockBytes) {
    for (let word = 0; word < 16; word++) words[word] = view.getInt32(block + 4 * word);
    hashBlock(state, words);
  }
  const rest = message.length - from;
  const tail = new Uint8Array(Math.ceil((rest + paddingMin) / blockBytes) * blockBytes);
  tail.set(message.subarray(from));
  tail[rest] = 0x80;
  new DataView(tail.buffer).setBigUint64(tail.length - 8, BigInt(message.length) * 8n);
  return { state, tail };
}

function wordsOf(bytes: Uint8Array<ArrayBuffer>): Int32Array {
  const view = new DataView(bytes.buffer);
  return Int32Array.from({ length: bytes.length / 4 }, (_, word) => view.getInt32(4 * word));
}
