import assert from 'node:assert/strict';
import { emptyBlock, hashBlock, initialState, type Words } from './sha256-block.ts';

/** Smallest lock time that is a time. Smaller lock times are heights (BIP 65). */
export const lockTimeFirst = 500_000_000;
/**
 * End of the searched lock times. It is the time of the first block of Bitcoin. Each network's median time past is
 * later, so a transaction with an earlier lock time can be mined at once, whatever clock a node has.
 */
export const lockTimeEnd = 1_231_006_505;

const blockBytes = 64;
const lockTimeBytes = 4;
/** Minimum number of padding bytes. They are the first byte of the padding, and the length at the end. */
const paddingMin = 9;
const digestBytes = 32;
const prefixBitsMax = 16;

/**
 * Finds the first lock time from 500,000,000 on with which the displayed txid begins with a prefix of 1 to 4 hex
 * characters. `unsigned` is the transaction without its witness, because the txid does not cover the witness. The last
 * four bytes of `unsigned` are the lock time; their value is ignored. Pure, so the same transaction always gets the
 * same lock time.
 */
export function findLockTime(unsigned: Uint8Array, prefix: string): number {
  const at = unsigned.length - lockTimeBytes;
  assert(at >= 0 && /^[0-9a-f]{1,4}$/u.test(prefix), 'a transaction and a prefix');
  const wanted = Number.parseInt(prefix, 16);
  const shift = prefixBitsMax - 4 * prefix.length;
  // the hash of the blocks before the lock time is the same for all lock times, so compute it once
  const { state, tail } = beginning(unsigned, at);
  const lockTimeAt = at % blockBytes;
  const blocks = new DataView(tail.buffer);
  const [first, block] = [initialState(), emptyBlock()];
  const [once, twice] = [initialState(), initialState()];
  for (let lockTime = lockTimeFirst; lockTime < lockTimeEnd; lockTime++) {
    blocks.setUint32(lockTimeAt, lockTime, true);
    once.bytes.set(state.bytes);
    for (let from = 0; from < tail.length; from += blockBytes) {
      readBlock(blocks, from, block);
      hashBlock(once, block);
    }
    block.bytes.set(once.bytes);
    block.bytes.fill(0, digestBytes, blockBytes);
    block.view.setUint32(digestBytes, 0x8000_0000, true);
    block.view.setUint32(blockBytes - 4, 8 * digestBytes, true);
    twice.bytes.set(first.bytes);
    hashBlock(twice, block);
    // a displayed txid begins with the last byte of the hash
    const last = twice.view.getInt32(digestBytes - 4, true);
    const shown = ((last & 0xff) << 8) | ((last >>> 8) & 0xff);
    if (shown >> shift === wanted) return lockTime;
  }
  // practically impossible, because at least one lock time in 65,536 matches on average, and there are 731 million
  throw new Error(`no lock time gives a txid that begins with ${prefix}`);
}

/** The state of the hash before the block that contains the byte at `at`, and the padded bytes from that block on. */
function beginning(
  message: Uint8Array,
  at: number,
): { readonly state: Words; readonly tail: Uint8Array<ArrayBuffer> } {
  const from = at - (at % blockBytes);
  const [state, block] = [initialState(), emptyBlock()];
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  for (let next = 0; next < from; next += blockBytes) {
    readBlock(view, next, block);
    hashBlock(state, block);
  }
  const rest = message.length - from;
  const tail = new Uint8Array(Math.ceil((rest + paddingMin) / blockBytes) * blockBytes);
  tail.set(message.subarray(from));
  tail[rest] = 0x80;
  new DataView(tail.buffer).setBigUint64(tail.length - 8, BigInt(message.length) * 8n);
  return { state, tail };
}

/** Reads the words of a block of a message. The words of a message are big-endian. */
function readBlock(message: DataView, from: number, { view }: Words): void {
  for (let at = 0; at < blockBytes; at += 4) view.setInt32(at, message.getInt32(from + at), true);
}
