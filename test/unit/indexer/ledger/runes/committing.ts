import { commitsTo } from '#indexer/ledger/runes/commitment.ts';
import { parseRune, runeCommitment } from '#kernel/runes/rune.ts';
import { transaction } from '#test/unit/indexer/parse/synthetic-block.ts';

const none = Buffer.alloc(0);
/** An output whose key is all zeros. */
const taproot = Buffer.concat([Buffer.from([0x51, 0x20]), Buffer.alloc(32)]);
const outputsEndFromEnd = (witness: readonly Uint8Array[]): number =>
  4 +
  1 +
  witness.reduce(
    (sum, item) => sum + (item.length < 0xfd ? 1 : item.length <= 0xffff ? 3 : 5) + item.length,
    0,
  );

interface Spend {
  /** Script of the output that the input spends. */
  readonly spent?: Uint8Array;
  readonly isRecent?: boolean;
}

/** Whether a transaction with one input and this leaf script commits to a name. */
export function commits(
  name: string,
  leaf: Uint8Array,
  { spent = taproot, isRecent = false }: Spend = {},
): boolean {
  const witness = [leaf, none];
  const bytes = transaction([{ witness }]);
  const spentScripts = {
    bytes: spent,
    scriptStart: Uint32Array.of(0),
    scriptLength: Uint32Array.of(spent.length),
    value: Float64Array.of(0),
  };
  const outputsEnd = bytes.length - outputsEndFromEnd(witness);
  const commitment = runeCommitment(parseRune(name)!);
  const tx = { bytes, start: 0, outputsEnd, firstInput: 0, spentScripts };
  return commitsTo(commitment, tx, { has: () => isRecent });
}
