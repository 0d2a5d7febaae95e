import { type ScriptType, scriptType } from '#kernel/bitcoin/script-type.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import {
  type FileTerms,
  type MintTerms,
  type OrderRefusal,
  type OrderTerms,
  orderBounds,
  refused,
} from './order-terms.ts';
import { anchorDust, anchorScript, largest, p2trDust } from './plan-amounts.ts';
import { idField, pushBytesMax, uncurseFault } from './reveal-script.ts';

/** The first fault that makes an order impossible, whatever its transactions weigh; null if there is no fault. */
export function checkTerms(terms: OrderTerms): OrderRefusal | null {
  const [first = null] = termFaults(terms);
  return first;
}

/**
 * All faults that make an order impossible, at most one for each subject. The generator is lazy, because an order can
 * have 10,000 files.
 */
export function* termFaults(terms: OrderTerms): Generator<OrderRefusal> {
  yield* filesFaults(terms);
  yield* some(receiversFault(terms));
  yield* amountFaults(terms);
  yield* parentFaults(terms);
  if (terms.inventory !== null) yield* inventoryFaults(terms);
  if (terms.uncurse) yield* some(uncurseImpossible(terms));
  if (terms.etching !== null) yield* some(etchingFault(terms));
  if (terms.mint !== null) yield* mintFaults(terms, terms.mint);
}

const some = (fault: OrderRefusal | null): readonly OrderRefusal[] => (fault === null ? [] : [fault]);

function* filesFaults({ files, etching, mint }: OrderTerms): Generator<OrderRefusal> {
  if (files.length === 0 && etching === null && mint === null)
    yield refused('no-files', 'An order needs files or delegates.');
  if (files.length > orderBounds.files) {
    yield refused(
      'too-many-files',
      `An order has at most ${orderBounds.files} files and delegates, but this order has ${files.length}.`,
    );
  }
  for (const [file, terms] of files.entries()) yield* some(pushFault(terms, file));
}

/** Fault of a content type or metaprotocol that does not fit into one push; null if both fit. */
function pushFault({ contentType, metaprotocol }: FileTerms, file: number): OrderRefusal | null {
  if (Buffer.byteLength(contentType ?? '') > pushBytesMax) {
    const reason = `The content type of file ${file + 1} has more than ${pushBytesMax} bytes.`;
    return refused('content-type-long', reason, { file });
  }
  if (Buffer.byteLength(metaprotocol ?? '') > pushBytesMax) {
    const reason = `The metaprotocol of file ${file + 1} has more than ${pushBytesMax} bytes.`;
    return refused('metaprotocol-long', reason, { file });
  }
  return null;
}

function receiversFault(terms: OrderTerms): OrderRefusal | null {
  const { burn, receivers, files, batchMode } = terms;
  if (burn) return burnFault(terms);
  if (receivers.length !== 1 && receivers.length !== files.length) {
    const wanted = files.length <= 1 ? 'one' : `one, or one for each of the ${files.length} files`;
    const reason = `receiveAddress has ${receivers.length} addresses, but must have ${wanted}.`;
    return refused('receivers-count', reason);
  }
  if (batchMode === 'shared-output' && receivers.length > 1) {
    const reason =
      'batchMode shared-output puts all inscriptions into one output, so receiveAddress must be one address.';
    return refused('receivers-differ', reason);
  }
  return null;
}

/**
 * Fault of a burn with too many sats in one anchor. Null if there is no such fault. Anyone may spend an anchor, so an
 * anchor gets at most the largest allowed postage.
 */
function burnFault({ batchMode, files, postage }: OrderTerms): OrderRefusal | null {
  const shared = (postage === 'least' ? anchorDust : postage) * BigInt(files.length);
  if (batchMode === 'separate-outputs' || shared <= orderBounds.postageMax) return null;
  const reason = `burnAfterInscribe can put at most ${orderBounds.postageMax} sats into one output, but this order needs ${shared}. Use batchMode separate-outputs, or less postage.`;
  return refused('burn-shared', reason);
}

function* amountFaults(terms: OrderTerms): Generator<OrderRefusal> {
  const { feeRate, additionalFee } = terms;
  const { feeRateMin, feeRateMax, additionalFeeMax } = orderBounds;
  if (feeRate < feeRateMin || feeRate > feeRateMax) {
    const reason = `fee must be from ${perVb(feeRateMin)} to ${perVb(feeRateMax)} sats per virtual byte.`;
    yield refused('fee-rate-bounds', reason);
  }
  if (additionalFee < 0n || additionalFee > additionalFeeMax) {
    yield refused('additional-fee-bounds', `additionalFee must be from 0 to ${additionalFeeMax} sats.`);
  }
  yield* some(postageFault(terms));
}

function postageFault(terms: OrderTerms): OrderRefusal | null {
  const { postage } = terms;
  const { postageMin, postageMax } = orderBounds;
  if (postage === 'least') return null;
  if (postage < postageMin || postage > postageMax) {
    return refused('postage-bounds', `postage must be from ${postageMin} to ${postageMax} sats.`);
  }
  const scripts = terms.burn ? [anchorScript] : terms.receivers;
  const small = scripts.find((script) => postage < BigInt(dustOf(script)));
  if (small === undefined) return null;
  const reason = `postage of ${postage} sats is dust, because nodes relay at least ${dustOf(small)} sats to ${addressWords(small)}.`;
  return refused('postage-dust', reason);
}

const perVb = (feeRate: bigint): string => String(Number(feeRate) / 1000);

const words: Readonly<Partial<Record<ScriptType, string>>> = {
  p2pkh: 'a P2PKH address',
  p2sh: 'a P2SH address',
  p2wpkh: 'a P2WPKH address',
  p2wsh: 'a P2WSH address',
  p2tr: 'a P2TR address',
};
const addressWords = (script: Uint8Array): string => words[scriptType(script)] ?? 'such an address';

export const tooManyParents = (parents: number): string =>
  `An order has at most ${orderBounds.parents} parents, but this order has ${parents}.`;

function* parentFaults({ parents }: OrderTerms): Generator<OrderRefusal> {
  if (parents.length > orderBounds.parents) {
    yield refused('too-many-parents', tooManyParents(parents.length));
  }
  const seen = new Set<string>();
  for (const { id, value, returnScript } of parents) {
    const name = formatInscriptionId(id.txid, id.index);
    const key = Buffer.from(idField(id)).toString('hex');
    if (seen.has(key)) yield refused('parent-repeated', `Parent ${name} is named twice.`);
    seen.add(key);
    const least = largest(BigInt(dustOf(returnScript)), p2trDust);
    if (value < least) {
      const reason = `The value of parent ${name} is ${value} sats, but nodes relay at least ${least} sats to its deposit and to ${addressWords(returnScript)}. Move the parent to a larger output first.`;
      yield refused('parent-dust', reason);
    }
  }
}

/** Faults of an order of inventory sats. Each sat needs its own reveal, with the first input, and its own output. */
export function* inventoryFaults({
  files,
  parents,
  burn,
  uncurse,
  batchMode,
}: Pick<OrderTerms, 'files' | 'parents' | 'burn' | 'uncurse' | 'batchMode'>): Generator<OrderRefusal> {
  const alone = (why: string): OrderRefusal => refused('inventory-alone', `rareSats ${why}`);
  if (files.length > orderBounds.reveals) {
    const reason = `An order with rareSats has at most ${orderBounds.reveals} files and delegates, because each of them needs its own reveal. This order has ${files.length}.`;
    yield refused('inventory-files', reason);
  }
  if (batchMode === 'shared-output' && files.length > 1)
    yield alone(
      'is not possible with batchMode shared-output, because each special sat is in an output of its own.',
    );
  if (parents.length > 0) yield alone('is not possible with parents.');
  if (uncurse) yield alone('is not possible with uncurseIt, because a pointer to a sat is a curse.');
  if (burn) yield alone('is not possible with burnAfterInscribe, because the special sat would be burned.');
}

/**
 * Fault of an etching. Null if there is no such fault. An etching is a managed order, and cannot be combined with
 * anything that needs another transaction or moves sats.
 */
function etchingFault({
  type,
  receivers,
  parents,
  burn,
  uncurse,
  inventory,
}: OrderTerms): OrderRefusal | null {
  const alone = (why: string): OrderRefusal => refused('etching-alone', `An etching ${why}`);
  if (type !== 'bulk') return alone('is a managed order.');
  if (parents.length > 0) return alone('is not possible with parents.');
  if (burn) return alone('is not possible with burnAfterInscribe.');
  if (receivers.length !== 1) return alone('has one receiveAddress.');
  if (uncurse) return alone('is not possible with uncurseIt.');
  return inventory === null ? null : alone('is not possible with rareSats.');
}

/** Faults of an order of mints. Such an order is managed, and has no inscriptions. */
function* mintFaults(terms: OrderTerms, { count }: MintTerms): Generator<OrderRefusal> {
  const { type, files, parents, burn, inventory, etching } = terms;
  const alone = (why: string): OrderRefusal => refused('mint-alone', `An order of mints ${why}`);
  if (count < 1 || count > orderBounds.mints)
    yield refused('mint-count', `numberOfMints must be from 1 to ${orderBounds.mints}.`);
  if (type !== 'bulk' || etching !== null) yield alone('is a managed order by itself.');
  if (files.length > 0) yield alone('has no files or delegates.');
  if (parents.length > 0) yield alone('has no parents.');
  if (burn) yield alone('is not possible with burnAfterInscribe.');
  if (inventory !== null) yield alone('is not possible with rareSats.');
}

function uncurseImpossible({ files, parents, batchMode }: OrderTerms): OrderRefusal | null {
  const impossible = (why: string, more: { file?: number } = {}): OrderRefusal =>
    refused('uncurse-impossible', `uncurseIt is not possible ${why}`, more);
  if (batchMode === 'shared-output' && files.length > 1) {
    return impossible('with batchMode shared-output, because a pointer to a sat is a curse.');
  }
  for (const [file, { metadata }] of files.entries()) {
    const fault = uncurseFault({
      pointer: null,
      metadata: typeof metadata === 'number' ? metadata : (metadata?.length ?? null),
      parents: parents.map(({ id }) => idField(id).length),
    });
    if (fault === 'parents')
      return impossible('with more than one parent, because a repeated field is a curse.');
    if (fault === 'metadata') {
      const why = `with more than ${pushBytesMax} bytes of metadata (file ${file + 1}), because a repeated field is a curse.`;
      return impossible(why, { file });
    }
  }
  return null;
}
