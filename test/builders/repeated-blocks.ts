import { mineHeader, witnessCommitment } from './block.ts';
import type { BlockFolder } from './block-folder.ts';
import { doubleHash, merkleRoot } from './merkle.ts';
import { outlineBlock, strippedTransaction, type TransactionOutline } from './outline.ts';

export interface SourceFile {
  readonly height: number;
  readonly bytes: Uint8Array;
  readonly spent: Uint8Array | null;
}

/** An input that spends an output of the same folder. */
interface Link {
  readonly outpoint: number;
  readonly block: number;
  readonly transaction: number;
}

interface Template extends SourceFile {
  readonly outlines: readonly TransactionOutline[];
  readonly links: readonly (readonly Link[])[];
  /** Offset of the 32 bytes of the witness commitment. Null if there is no commitment. */
  readonly commitmentAt: number | null;
  /** Whether the block follows the previous block, in the same island. */
  readonly linked: boolean;
}

const commitmentHead = Buffer.from('6a24aa21a9ed', 'hex');
const islandGap = 3; // number of heights between two islands
const key = (txid: Uint8Array): string => Buffer.from(txid).toString('latin1');

/** Offset of the witness commitment. It is in the last output whose script has this prefix (BIP 141). */
function commitmentOffset(block: Uint8Array, coinbase: TransactionOutline): number | null {
  const found = coinbase.scripts.findLast(
    ([at, length]) => length >= 38 && commitmentHead.equals(block.subarray(at, at + 6)),
  );
  return found === undefined ? null : found[0] + 6;
}

function templates(files: readonly SourceFile[]): Template[] {
  const known = new Map<string, { block: number; transaction: number }>();
  return files.map((file, block) => {
    const outlines = outlineBlock(file.bytes);
    const links = outlines.map((outline, transaction) => {
      const found = outline.outpoints.flatMap((outpoint) => {
        const made = known.get(key(file.bytes.subarray(outpoint, outpoint + 32)));
        return made === undefined ? [] : [{ outpoint, ...made }];
      });
      known.set(key(doubleHash(strippedTransaction(file.bytes, outline))), { block, transaction });
      return found;
    });
    return {
      ...file,
      outlines,
      links,
      commitmentAt: commitmentOffset(file.bytes, outlines[0] as TransactionOutline),
      linked: block > 0 && files[block - 1]?.height === file.height - 1,
    };
  });
}

/** One repetition of one block. Returns the block's bytes with a new header, and the new txids one after another. */
function repeatBlock(
  template: Template,
  salt: number,
  previous: Uint8Array,
  txidsOf: readonly Uint8Array[],
): { bytes: Uint8Array<ArrayBuffer>; hash: Uint8Array; txids: Uint8Array } {
  const bytes = Buffer.from(template.bytes);
  const { outlines } = template;
  const txids = Buffer.alloc(outlines.length * 32);
  const wtxids = Buffer.alloc(outlines.length * 32);
  const finishTxid = (index: number): Uint8Array => {
    const txid = doubleHash(strippedTransaction(bytes, outlines[index] as TransactionOutline));
    txids.set(txid, index * 32);
    return txid;
  };
  for (const [index, outline] of outlines.entries()) {
    const locktime = outline.end - 4;
    bytes.writeUInt32LE((bytes.readUInt32LE(locktime) ^ salt) >>> 0, locktime);
    if (index === 0) continue;
    for (const link of template.links[index] as readonly Link[]) {
      const made = txidsOf[link.block] ?? txids; // an earlier block of this repetition, or this one
      bytes.set(made.subarray(link.transaction * 32, link.transaction * 32 + 32), link.outpoint);
    }
    const txid = finishTxid(index);
    wtxids.set(outline.segwit ? doubleHash(bytes.subarray(outline.start, outline.end)) : txid, index * 32);
  }
  const coinbase = outlines[0] as TransactionOutline;
  if (template.commitmentAt !== null) {
    const reserved = bytes.subarray(coinbase.end - 36, coinbase.end - 4); // the coinbase's only witness item
    bytes.set(witnessCommitment(wtxids, reserved), template.commitmentAt);
  }
  finishTxid(0);
  const time = bytes.readUInt32LE(68);
  const { header, hash } = mineHeader(previous, merkleRoot(txids), time);
  bytes.set(header, 0);
  return { bytes, hash, txids };
}

/**
 * Repeats real blocks until their size is `leastBytes`. No transaction is repeated, because every locktime changes.
 * Inputs that spend transactions of the folder are adapted, and merkle roots and witness commitments are computed
 * again. Mainnet's proof of work cannot be valid, so the chain claims to be regtest, with mined headers of regtest's
 * difficulty. Consecutive blocks stay consecutive. There is a gap between all other blocks. Contents are the same in
 * every repetition.
 */
export function generateRepeatedBlocks(
  folder: BlockFolder,
  files: readonly SourceFile[],
  leastBytes: number,
): void {
  const made = templates(files);
  let height = 1;
  let bytes = 0;
  let transactions = 0;
  let repetitions = 0;
  while (bytes < leastBytes) {
    repetitions++;
    const txidsOf: Uint8Array[] = [];
    let previous: Uint8Array = new Uint8Array(32);
    for (const template of made) {
      height += template.linked ? 1 : islandGap;
      if (!template.linked) previous = doubleHash(Buffer.from(`unknown ${height}`));
      const block = repeatBlock(template, repetitions, previous, txidsOf);
      folder.add(height, block, template.spent);
      txidsOf.push(block.txids);
      previous = block.hash;
      bytes += block.bytes.length;
      transactions += template.outlines.length;
    }
  }
  folder.finish(true, { repetitions, blocks: repetitions * made.length, bytes, transactions });
}
