import type { SpentScripts } from '#indexer/facts/spent-scripts.ts';
import { annexPrefix } from '#indexer/transaction/block-layout.ts';
import { InputWalk, WitnessWalk } from '#indexer/transaction/transaction-parts.ts';
import { opPushData4, pushAt } from '#kernel/bitcoin/script-push.ts';

/** Position of a transaction's witnesses, and the range of its inputs in the block. */
export interface CommittingTransaction {
  readonly bytes: Uint8Array;
  readonly start: number;
  /** Offset of the first witness. */
  readonly outputsEnd: number;
  readonly firstInput: number;
  readonly spentScripts: SpentScripts | null;
}

/**
 * The txids of the block and of the four blocks before it. A commitment in these transactions has too few
 * confirmations.
 */
export interface RecentTransactions {
  /** Whether the 32 bytes at `at` are one of these txids. */
  has(bytes: Uint8Array, at: number): boolean;
}

const taprootLength = 34;
const op1 = 0x51;
const push32 = 0x20;

/**
 * Whether a transaction commits to a name (ord rune_updater.rs `tx_commits_to_rune`): the script of an input pushes the
 * name as data, and the output that the input spends is P2TR and six blocks deep.
 */
export function commitsTo(
  commitment: Uint8Array,
  tx: CommittingTransaction,
  recent: RecentTransactions,
): boolean {
  const { bytes, start, outputsEnd, firstInput, spentScripts } = tx;
  if (spentScripts === null) return false;
  const inputs = new InputWalk(bytes);
  const witnesses = new WitnessWalk(bytes);
  witnesses.open(outputsEnd);
  const count = inputs.open(start);
  for (let input = 0; input < count; input++) {
    if (!isTaproot(spentScripts, firstInput + input) || !openLeaf(bytes, witnesses, input)) continue;
    const { itemStart, itemLength } = witnesses;
    if (!hasPush(bytes, itemStart, itemStart + itemLength, commitment)) continue;
    if (!recent.has(bytes, inputs.outpointOf(input))) return true;
  }
  return false;
}

function isTaproot({ bytes, scriptStart, scriptLength }: SpentScripts, input: number): boolean {
  const at = scriptStart[input]!;
  return scriptLength[input] === taprootLength && bytes[at] === op1 && bytes[at + 1] === push32;
}

/**
 * Moves a walk to the leaf script: the last item but one, an annex excluded. Returns false if there is no such item.
 */
function openLeaf(bytes: Uint8Array, walk: WitnessWalk, input: number): boolean {
  const items = walk.items(input);
  if (items < 2) return false;
  while (walk.next());
  const hasAnnex = walk.itemLength > 0 && bytes[walk.itemStart] === annexPrefix;
  const leaf = items - (hasAnnex ? 3 : 2);
  if (leaf < 0) return false;
  walk.items(input);
  for (let item = 0; item <= leaf; item++) walk.next();
  return true;
}

/** Whether a script pushes these bytes as data, before any broken part. */
function hasPush(bytes: Uint8Array, start: number, end: number, data: Uint8Array): boolean {
  for (let at = start; at < end; ) {
    if (bytes[at]! > opPushData4) {
      at++;
      continue;
    }
    const push = pushAt(bytes, at, end);
    if (push === null) return false;
    if (isEqual(bytes.subarray(push.start, push.end), data)) return true;
    at = push.end;
  }
  return false;
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => b[index] === byte);
}
