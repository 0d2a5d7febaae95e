import assert from 'node:assert/strict';
import type pg from 'pg';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import { type EtchedBy, etchedBy, etchedIn } from '#chain/runes/etched-by.queries.ts';
import { nameStanding } from '#chain/runes/name-standing.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { Order } from '#orders/order/order.store.ts';
import { readEtchings, type StoredEtching } from './etchings.store.ts';
import { earliestReveal, nameFault } from './name-fault.ts';
import { releasedAboveCommit } from './released-at.ts';

/** How far the etching of an order is. */
export interface EtchingStanding {
  /** Its reveal is stored, and waits for the depth of its commit. */
  readonly isHeld: boolean;
  /** Block of its reveal, in the index or in payments; null: none has it. */
  readonly minedHeight: Height | null;
  /** The index has the block of the reveal, and no rune of it: another transaction was faster. */
  readonly isNameLost: boolean;
  /** Its reveal was given up, and no block has it: it is not to be sent. */
  readonly isGivenUp: boolean;
  /** Why its name cannot be etched, for the customer; null: it can, or a block has the reveal. */
  readonly fault: string | null;
}

/** Last blocks of the index and of payments; null: nothing is indexed. */
interface Tips {
  readonly index: Height | null;
  readonly payments: Height | null;
}

interface StandingParts {
  readonly paymentsTip: Height | null;
  readonly network: NetworkParameters;
}

/**
 * Reads how far the etching of an order is; null: it etches nothing.
 *
 * @param reveal that may be mined; null: none is stored
 */
export async function readEtchingStanding(
  tx: pg.ClientBase,
  order: Order,
  reveal: Txid | null,
  { paymentsTip, network }: StandingParts,
): Promise<EtchingStanding | null> {
  const { etching } = order.terms;
  if (etching === undefined) return null;
  if (etching.rune === null) return unnamedStanding(reveal === null ? null : await etchedIn(tx, reveal));
  const rune = asRune(BigInt(etching.rune));
  const tips: Tips = { index: await indexedTip(tx), payments: paymentsTip };
  const etched = await etchedBy(tx, rune);
  const all = await readEtchings(tx, order.id);
  if (reveal === null) {
    const height = order.state === 'prep' ? earliestReveal(tips.index) : null;
    return unsignedStanding(
      all,
      await faultAt(tx, network, { rune, spacers: etching.spacers }, height, null),
    );
  }
  const stored = all.find((each) => isSame(each.reveal, reveal));
  assert(stored !== undefined, `the reveal of order ${order.id} is stored as an etching`);
  const facts = {
    stored,
    tips,
    ownHeight: etched !== null && isSame(etched.txid, reveal) ? etched.height : null,
  };
  const height = isJudged(facts, etched) ? (tips.index ?? -1) + 1 : null;
  const fault = await faultAt(tx, network, { rune, spacers: etching.spacers }, height, reveal);
  return signedStanding(facts, fault);
}

/** A name that ord gives waits for nothing, and no one can take it. */
const unnamedStanding = (etched: EtchedBy | null): EtchingStanding => ({
  isHeld: false,
  minedHeight: etched?.height ?? null,
  isNameLost: false,
  isGivenUp: false,
  fault: null,
});

/** The standing while no stored reveal may be mined. */
const unsignedStanding = (all: readonly StoredEtching[], fault: string | null): EtchingStanding => ({
  isHeld: false,
  minedHeight: null,
  isNameLost: false,
  isGivenUp: false,
  fault: all[0]?.fault ?? fault,
});

interface SignedFacts {
  readonly stored: StoredEtching;
  readonly tips: Tips;
  /** Block in which the reveal etched the name; null: none has it. */
  readonly ownHeight: Height | null;
}

const minedHeightOf = ({ ownHeight, stored }: SignedFacts): Height | null => ownHeight ?? stored.revealHeight;

/** The standing of a stored reveal. Pure. */
function signedStanding(facts: SignedFacts, fault: string | null): EtchingStanding {
  const { stored, tips, ownHeight } = facts;
  const minedHeight = minedHeightOf(facts);
  const isMined = minedHeight !== null;
  return {
    isHeld: !stored.isReleased && !isRipe(facts),
    minedHeight,
    isNameLost: isMined && ownHeight === null && tips.index !== null && tips.index >= minedHeight,
    isGivenUp: !isMined && stored.fault !== null,
    fault: isMined ? null : (stored.fault ?? fault),
  };
}

/** Whether the name is looked at: once the reveal may be sent, and where a block has the name. */
function isJudged(facts: SignedFacts, etched: EtchedBy | null): boolean {
  const { stored } = facts;
  if (minedHeightOf(facts) !== null || stored.fault !== null) return false;
  return etched !== null || (!stored.isReleased && isRipe(facts));
}

/** Whether the next block may have the reveal, as the index and payments have all blocks before it. */
function isRipe({ stored: { commitHeight }, tips: { index, payments } }: SignedFacts): boolean {
  if (commitHeight === null || index === null || payments === null) return false;
  return Math.min(index, payments) >= commitHeight + releasedAboveCommit;
}

/** Why a block at a height could not etch the name; null: it could, or the height is null. */
async function faultAt(
  tx: pg.ClientBase,
  network: NetworkParameters,
  { rune, spacers }: { readonly rune: Rune; readonly spacers: number | null },
  height: number | null,
  own: Txid | null,
): Promise<string | null> {
  if (height === null) return null;
  const name = formatSpacedRune({ rune, spacers: spacers ?? 0 });
  return nameFault(name, await nameStanding(tx, network, rune), height, own);
}

const isSame = (a: Txid, b: Txid): boolean => Buffer.compare(a, b) === 0;
