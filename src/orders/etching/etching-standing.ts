import assert from 'node:assert/strict';
import type pg from 'pg';
import { type EtchedBy, etchedBy, etchedIn } from '#chain/runes/etched-by.queries.ts';
import { nameRivals } from '#chain/runes/name-standing.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { asRune } from '#kernel/runes/rune.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { knownTip } from '#orders/order/known-tip.ts';
import type { Order } from '#orders/order/order.store.ts';
import { readEtchings, type StoredEtching } from './etchings.store.ts';
import { nameFaultOfReveal } from './name-fault.ts';
import { releasedAboveCommit } from './released-at.ts';
import { unsignedNameFault } from './unsigned-name-fault.ts';

/** Progress of an order's etching. */
export interface EtchingStanding {
  /**
   * Whether nothing can be decided about the name, because the index lacks the last block of the payments, or does not
   * know runes.
   */
  readonly isUnknown: boolean;
  /** Whether the order's reveal is stored, and waits until its commit is deep enough. */
  readonly isHeld: boolean;
  /** Height of the reveal's block, from the index or the payments. Null if no block has the reveal. */
  readonly minedHeight: Height | null;
  /** Whether the reveal is in a block, but another transaction etched the name. */
  readonly isNameLost: boolean;
  /** Whether the reveal was given up and is not in a block. Such a reveal is not sent. */
  readonly isGivenUp: boolean;
  /**
   * The reason for the customer why the name cannot be etched. Null if the name can be etched, or the reveal is in a
   * block.
   */
  readonly fault: string | null;
}

interface StandingParts {
  readonly network: NetworkParameters;
}

/** The name of an order's etching, and which transaction etched it. */
interface NameFacts extends SpacedRune {
  readonly orderId: string;
  /** Last common block of the index and the payments, if the index knows the runes of this block; else null. */
  readonly tip: Height | null;
  readonly etched: EtchedBy | null;
}

const unsigned: EtchingStanding = {
  isUnknown: false,
  isHeld: false,
  minedHeight: null,
  isNameLost: false,
  isGivenUp: false,
  fault: null,
};

/**
 * Reads the progress of an order's etching. Null if the order etches nothing.
 *
 * @param reveal the stored reveal that may be mined; null if no such reveal is stored
 */
export async function readEtchingStanding(
  tx: pg.ClientBase,
  order: Order,
  reveal: Txid | null,
  { network }: StandingParts,
): Promise<EtchingStanding | null> {
  const { etching } = order.terms;
  if (etching === undefined) return null;
  // if ord assigns the name, the reveal does not wait, and no one can take the name
  if (etching.rune === null)
    return {
      ...unsigned,
      minedHeight: reveal === null ? null : ((await etchedIn(tx, reveal))?.height ?? null),
    };
  const rune = asRune(BigInt(etching.rune));
  const tip = (await knownTip(tx))?.height ?? null;
  const etched = await etchedBy(tx, rune);
  const name: NameFacts = { orderId: order.id, rune, spacers: etching.spacers ?? 0, tip, etched };
  const all = await readEtchings(tx, order.id);
  if (reveal === null) return unsignedStanding(tx, network, order, name, all);
  const stored = all.find((each) => isSame(each.reveal, reveal));
  assert(stored !== undefined, `the reveal of order ${order.id} is stored as an etching`);
  return signedStanding(stored, name, await faultOfSigned(tx, network, stored, name));
}

/**
 * The progress of an etching without a stored reveal that may be mined. Looks up the name if the order is about to be
 * signed.
 */
async function unsignedStanding(
  tx: pg.ClientBase,
  network: NetworkParameters,
  { state }: Pick<Order, 'state'>,
  name: NameFacts,
  all: readonly StoredEtching[],
): Promise<EtchingStanding> {
  const [newest] = all;
  if (newest !== undefined && newest.fault !== null)
    return { ...unsigned, isGivenUp: true, fault: newest.fault };
  if (state !== 'prep') return unsigned;
  const { tip, orderId } = name;
  if (tip === null) return { ...unsigned, isUnknown: true };
  return { ...unsigned, fault: await unsignedNameFault(tx, network, name, tip, orderId) };
}

/**
 * The reason why a stored reveal cannot etch its name. Null if the reveal can etch its name, or if it is too early to
 * decide.
 */
async function faultOfSigned(
  tx: pg.ClientBase,
  network: NetworkParameters,
  stored: StoredEtching,
  name: NameFacts,
): Promise<string | null> {
  const { tip, etched, rune } = name;
  if (tip === null || minedHeightOf(stored, name) !== null) return null;
  // a rival's block above `tip` is ignored, because the payments do not know this block yet, and it may contain our
  // reveal, too
  const isTaken = etched !== null && etched.height <= tip;
  if (!isTaken && (stored.isReleased || !isRipe(stored, tip))) return null;
  return nameFaultOfReveal(name, await nameRivals(tx, network, rune), tip, stored.reveal);
}

/** The progress of an etching with a stored reveal. Pure. */
function signedStanding(stored: StoredEtching, name: NameFacts, fault: string | null): EtchingStanding {
  const { tip, etched } = name;
  const minedHeight = minedHeightOf(stored, name);
  const isMined = minedHeight !== null;
  return {
    isUnknown: tip === null,
    isHeld: !stored.isReleased && !isMined && !(tip !== null && isRipe(stored, tip)),
    minedHeight,
    isNameLost: isMined && tip !== null && etched !== null && !isSame(etched.txid, stored.reveal),
    isGivenUp: !isMined && stored.fault !== null,
    fault: isMined ? null : (stored.fault ?? fault),
  };
}

const minedHeightOf = (stored: StoredEtching, { etched }: NameFacts): Height | null =>
  etched !== null && isSame(etched.txid, stored.reveal) ? etched.height : stored.revealHeight;

/** Whether the next block may contain the reveal, because its commit is deep enough. */
const isRipe = ({ commitHeight }: StoredEtching, tip: Height): boolean =>
  commitHeight !== null && tip >= commitHeight + releasedAboveCommit;

const isSame = (a: Txid, b: Txid): boolean => Buffer.compare(a, b) === 0;
