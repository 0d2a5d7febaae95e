import { bitcoin, type OrderEnd } from './order-model.ts';
import { addUnits, type RuneState, type Units } from './rune-model.ts';
import { type ModelWithdrawal, satsToReceiver, takenBy } from './withdrawal-model.ts';

/** A credit according to its row. Runes are named by the txid of their etching. */
export interface SeenCredit {
  readonly outpoint: string;
  readonly order: string;
  readonly account: string;
  readonly sats: bigint;
  readonly runes: Units;
  readonly isAside: boolean;
  /**
   * Whether the payment is in another block, or in no block. A reorganisation has then taken it back, and the credit is
   * about to be deleted.
   */
  readonly isStale: boolean;
}

/** A withdrawal according to its row. */
export interface SeenWithdrawal extends ModelWithdrawal {
  readonly state: string;
  /** Txids of the withdrawal's batch, in display order. At most one of these transactions is mined. */
  readonly txids: readonly string[];
}

/** Units of a rune according to the service's audit. */
export interface SeenParts {
  /** Sum of the balances of accounts. */
  readonly owed: bigint;
  readonly aside: bigint;
  readonly waiting: bigint;
  readonly held: bigint;
}

/** The money of shops in one snapshot of the database. */
export interface TokenLook {
  /** Whether index and payments have the same last block. If so, holdings can be compared with debts. */
  readonly isAtOneBlock: boolean;
  /** Balances by account and token (`balanceKey`). */
  readonly balances: ReadonlyMap<string, bigint>;
  /** Reserved units of balances by the same keys. Balances without reserved units are left out. */
  readonly reserved: ReadonlyMap<string, bigint>;
  readonly withdrawals: readonly SeenWithdrawal[];
  /** Sats that batches in blocks paid to miners, according to the ledger. */
  readonly minerFees: bigint;
  /** Base fees in the ledger, plus prices of withdrawals, minus the fees of miners. */
  readonly fees: bigint;
  readonly credits: readonly SeenCredit[];
  readonly parts: ReadonlyMap<string, SeenParts>;
  /** Units of all unspent outputs, according to the index. `burned` are the burned units. */
  readonly supply: Units;
  readonly burned: Units;
  readonly states: ReadonlyMap<string, string>;
}

export const balanceKey = (account: string, token: string): string => `${account} ${token}`;

/** Faults of the money of shops. There must be no faults at any moment. Pure. */
export function ledgerFaults({
  balances,
  reserved,
  fees,
  credits,
  withdrawals,
  minerFees,
}: TokenLook): string[] {
  const outpoints = credits.map(({ outpoint }) => outpoint);
  const twice = new Set(outpoints.filter((outpoint, place) => outpoints.indexOf(outpoint) !== place));
  const money = credits.filter(({ isAside }) => !isAside);
  const credited = new Map<string, bigint>();
  for (const { account, runes } of money)
    for (const [rune, amount] of runes) addUnits(credited, balanceKey(account, rune), amount);
  const completed = withdrawals.filter(({ state }) => state === 'completed');
  for (const [key, units] of takenFrom(completed)) if (!isOfSats(key)) addUnits(credited, key, -units);
  const outside = completed.reduce((sum, each) => sum + satsToReceiver(each), minerFees);
  const sats = money.reduce((sum, credit) => sum + credit.sats, -outside);
  const ofRunes = [...balances].filter(([key]) => !isOfSats(key));
  const coins = [...balances].reduce((sum, [key, amount]) => (isOfSats(key) ? sum + amount : sum), 0n);
  return [
    ...[...twice].map((outpoint) => `${outpoint} is credited twice`),
    ...ofRunes
      .filter(([key, amount]) => amount !== (credited.get(key) ?? 0n))
      .map(
        ([key, amount]) =>
          `the balance ${key} is ${amount}, but its credits less its withdrawals are ${credited.get(key) ?? 0n}`,
      ),
    ...[...credited]
      .filter(([key, amount]) => amount !== 0n && !balances.has(key))
      .map(([key, amount]) => `credits of ${amount} have no balance ${key}`),
    ...(coins + fees === sats
      ? []
      : [
          `balances of ${coins} sats and fees of ${fees} are not the ${sats} sats of credits less withdrawals`,
        ]),
    ...reservedFaults(reserved, withdrawals),
  ];
}

/** Balances whose reserved units differ from the units that open withdrawals reserve. */
function reservedFaults(reserved: TokenLook['reserved'], withdrawals: readonly SeenWithdrawal[]): string[] {
  const open = takenFrom(withdrawals.filter(({ state }) => state === 'pending' || state === 'processing'));
  return [...new Set([...reserved.keys(), ...open.keys()])]
    .filter((key) => (reserved.get(key) ?? 0n) !== (open.get(key) ?? 0n))
    .map(
      (key) =>
        `the balance ${key} reserves ${reserved.get(key) ?? 0n}, and open withdrawals ${open.get(key) ?? 0n}`,
    );
}

/** Units that withdrawals take, by account and token. */
function takenFrom(withdrawals: readonly ModelWithdrawal[]): Map<string, bigint> {
  const taken = new Map<string, bigint>();
  for (const each of withdrawals)
    for (const [token, units] of takenBy(each)) addUnits(taken, balanceKey(each.account, token), units);
  return taken;
}

/**
 * Whether withdrawals agree with blocks: a withdrawal must be completed if and only if one of its transactions is
 * mined. They do not agree between a block and the service's next round. Pure.
 */
export const areFollowed = (
  { withdrawals }: Pick<TokenLook, 'withdrawals'>,
  mined: ReadonlySet<string>,
): boolean =>
  withdrawals.every(({ state, txids }) => (state === 'completed') === txids.some((txid) => mined.has(txid)));

const isOfSats = (key: string): boolean => key.endsWith(` ${bitcoin}`);

/**
 * Runes whose units in the ledger, set aside and waiting differ from the units at addresses of charges. Credits that
 * are about to be deleted are left out. Their outputs count again if another block has them. Pure.
 *
 * @param made runes that outputs got according to the model, including spent outputs
 */
export function heldFaults(
  { isAtOneBlock, credits, parts }: TokenLook,
  { made }: Pick<RuneState, 'made'>,
): string[] {
  if (!isAtOneBlock) return [];
  const leaving = new Map<string, bigint>();
  for (const { outpoint, isStale, isAside, runes } of credits) {
    if (!isStale || isAside) continue;
    for (const [rune, amount] of runes) addUnits(leaving, rune, amount);
    for (const [rune, amount] of made.get(outpoint) ?? []) addUnits(leaving, rune, -amount);
  }
  return [...parts].flatMap(([rune, { owed, aside, waiting, held }]) => {
    const noted = owed - (leaving.get(rune) ?? 0n) + aside + waiting;
    return noted === held
      ? []
      : [
          `${rune}: ${owed} owed, ${aside} aside and ${waiting} waiting (${leaving.get(rune) ?? 0n} leave) are not the ${held} held`,
        ];
  });
}

/**
 * Differences between the index, the credits and the model of the same block. Pure.
 *
 * @param own scripts of all charges, and of change of withdrawals, in hex
 */
export function chainFaults(look: TokenLook, model: RuneState, own: ReadonlySet<string>): string[] {
  const wanted = new Map<string, bigint>();
  const atOwn = new Map<string, bigint>();
  for (const { script, runes } of model.unspent.values()) {
    for (const [rune, amount] of runes) {
      addUnits(wanted, rune, amount);
      if (own.has(script)) addUnits(atOwn, rune, amount);
    }
  }
  const held = new Map([...look.parts].map(([rune, part]) => [rune, part.held]));
  return [
    ...unitFaults('the index has', look.supply, wanted),
    ...unitFaults('the index has burned', look.burned, model.burned),
    ...(look.isAtOneBlock ? unitFaults('addresses of the service hold', held, atOwn) : []),
    ...(look.isAtOneBlock ? creditFaults(look.credits, model) : []),
  ];
}

function unitFaults(words: string, is: Units, wanted: Units): string[] {
  return [...new Set([...is.keys(), ...wanted.keys()])]
    .filter((rune) => (is.get(rune) ?? 0n) !== (wanted.get(rune) ?? 0n))
    .map((rune) => `${words} ${is.get(rune) ?? 0n} of ${rune}, and the model ${wanted.get(rune) ?? 0n}`);
}

/** Credits whose runes differ from the runes of their output in the model. */
function creditFaults(credits: readonly SeenCredit[], { made }: RuneState): string[] {
  return credits
    .filter(({ isStale }) => !isStale)
    .flatMap(({ outpoint, order, runes }) =>
      unitFaults(`the credit ${outpoint} of ${order} has`, runes, made.get(outpoint) ?? new Map()),
    );
}

/** Differences of an order at the end between the service and the model. Pure. */
export function endFaults(id: string, is: OrderEnd, wanted: OrderEnd): string[] {
  const fields = (['state', 'fee', 'token'] as const)
    .filter((field) => is[field] !== wanted[field])
    .map((field) => `the order ${id} has ${field} ${is[field]}, and the model ${wanted[field]}`);
  const [got, paid] = [new Set(is.received), new Set(wanted.received)];
  return [
    ...fields,
    ...(is.received.length === got.size ? [] : [`the order ${id} shows an output twice`]),
    ...[...got.difference(paid)].map(
      (line) => `the order ${id} shows ${line}, which the chain does not have`,
    ),
    ...[...paid.difference(got)].map((line) => `the order ${id} does not show ${line}`),
  ];
}

/** Balances that differ from the gains of the model. Pure. */
export function balanceFaults(
  balances: ReadonlyMap<string, bigint>,
  gains: ReadonlyMap<string, bigint>,
): string[] {
  return [...new Set([...balances.keys(), ...gains.keys()])]
    .filter((key) => (balances.get(key) ?? 0n) !== (gains.get(key) ?? 0n))
    .map(
      (key) =>
        `the balance ${key} is ${balances.get(key) ?? 0n} at the end, and the model ${gains.get(key) ?? 0n}`,
    );
}

/** Messages about an order that its shop received. */
export interface ToldOrder {
  readonly id: string;
  /** Sequence numbers of messages in the order of arrival, without repetitions. */
  readonly sequences: readonly number[];
  /** The last sequence number that was stored. */
  readonly last: number;
  /** States in the messages, by sequence number. */
  readonly states: readonly string[];
  /** States that the checks saw, in order. */
  readonly seen: readonly string[];
  readonly end: string;
  /** Number of messages with a wrong signature or a wrong secret. */
  readonly forged: number;
}

/** Faults in the messages about an order to a shop. Pure. */
export function toldFaults({ id, sequences, last, states, seen, end, forged }: ToldOrder): string[] {
  const wanted = Array.from({ length: last }, (_, place) => place + 1).join();
  const toldEnd = states.at(-1) ?? 'pending';
  let place = 0;
  for (const state of ['pending', ...states]) if (seen[place] === state) place++;
  return [
    ...(sequences.join() === wanted ? [] : [`the order ${id} sent ${sequences.join()} and not ${wanted}`]),
    ...(toldEnd === end ? [] : [`the order ${id} sent ${toldEnd} last, and is ${end}`]),
    ...(place === seen.length
      ? []
      : [`the order ${id} was ${seen.join(', ')}, and sent ${states.join(', ')}`]),
    ...(forged === 0 ? [] : [`${forged} messages of the order ${id} have a wrong signature or secret`]),
  ];
}
