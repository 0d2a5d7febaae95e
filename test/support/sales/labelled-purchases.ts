import { type AddressType, addressTypes, isShared } from '#test/builders/regtest/regtest-address.ts';
import {
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';

/*
 * All kinds of purchases that a signature, an address and a layout can make, with the label that the maker gives to
 * each (docs/marketplace.md). Makers know the owners of addresses; the index does not.
 */

/** Owner numbers. Each party has its own address; the seller and the buyer have two. */
export const parties = { seller: 21, sellersOther: 22, buyer: 23, buyersOther: 24, platform: 25, change: 26 };
export const itemSats = 10_000;
export const dummySats = 600;
/** Value of the first coins of a purchase whose layout no marketplace uses, in sats. */
export const shiftSats = 20_000;
export const moneySats = 1_000_000;
const price = 50_000;
const feeSats = 5_000;
/** Change that is as small as a fee, in sats. The rest of the buyer's coins goes to the miner. */
const littleSats = 5_000;

export const sighashes = {
  DEFAULT: 0x00,
  ALL: 0x01,
  NONE: 0x02,
  SINGLE: 0x03,
  'ALL|ANYONECANPAY': 0x81,
  'NONE|ANYONECANPAY': 0x82,
  'SINGLE|ANYONECANPAY': 0x83,
} as const;
type Sighash = keyof typeof sighashes;

const layouts = ['openordex', 'two-dummies', 'bulk', 'pair', 'ord-offer', 'all-signed'] as const;
type Layout = (typeof layouts)[number];

/** The party that is paid, the party that gets the item, and the party whose coins pay. */
interface Roles {
  readonly payee: 'seller' | 'sellersOther';
  readonly taker: keyof typeof parties;
  readonly payer: keyof typeof parties;
}

const purchases: Readonly<Record<string, Roles>> = {
  'to the address that pays': { payee: 'seller', taker: 'buyer', payer: 'buyer' },
  'to another address of the buyer': { payee: 'seller', taker: 'buyersOther', payer: 'buyer' },
  'paid at another address': { payee: 'sellersOther', taker: 'buyer', payer: 'buyer' },
  'between other addresses': { payee: 'sellersOther', taker: 'buyersOther', payer: 'buyer' },
};
const washTrades: Readonly<Record<string, Roles>> = {
  'back to the seller': { payee: 'seller', taker: 'seller', payer: 'buyer' },
  'by the address that is paid': { payee: 'sellersOther', taker: 'buyersOther', payer: 'sellersOther' },
  'by the address of the item': { payee: 'sellersOther', taker: 'buyersOther', payer: 'seller' },
  'by the only address of the seller': { payee: 'seller', taker: 'buyersOther', payer: 'seller' },
};

/** Names of the outputs that may follow the payouts of a purchase. */
const tails = [
  'fee',
  'change at a new address',
  'little change at a new address',
  'dummies at a new address',
  'fee, then dummies at a new address',
] as const;
type Tail = (typeof tails)[number];

export interface LabelledKind {
  readonly name: string;
  readonly type: AddressType;
  readonly sighash: Sighash;
  readonly layout: Layout;
  readonly roles: Roles;
  readonly tail: Tail;
  /** Number of items that one transaction sells. */
  readonly items: number;
  /** The row of each item. `null` if there is no row; `unseen` for a sale that looks like a transfer. */
  readonly label: SaleLabel | 'unseen' | null;
}

/** The row of an item. */
export interface SaleLabel {
  readonly class: 'sale' | 'offer';
  readonly price: number;
  readonly payout: number;
  /** Scripts, hexadecimal. */
  readonly maker: string;
  readonly taker: string;
  readonly bundle: number;
  readonly wash: boolean;
  readonly fee: number | null;
}

/** The coins of a purchase. */
export interface Purse {
  readonly items: readonly Coin[];
  readonly dummies: readonly Coin[];
  readonly shift: Coin;
  readonly money: Coin;
}

const hexOf = (owner: number, type?: AddressType): string =>
  Buffer.from(scriptOf(owner, type)).toString('hex');

/** Makes all kinds: each signature that fits an address, in each layout, with each way to share the roles. */
export function labelledKinds(): LabelledKind[] {
  const kinds: LabelledKind[] = [];
  for (const type of addressTypes)
    for (const sighash of Object.keys(sighashes) as Sighash[]) {
      if (sighash === 'DEFAULT' && !type.startsWith('p2tr')) continue;
      for (const layout of layouts) {
        const isSingle = bindsOne(sighash);
        // this signature would bind the buyer's change, which no seller signs
        if (isSingle && layout === 'all-signed') continue;
        const isPair = isSingle && bindsPayout(layout);
        for (const [who, roles] of Object.entries({ ...purchases, ...(isPair ? washTrades : {}) })) {
          const tail = tails[kinds.length % tails.length]!;
          kinds.push(
            kindOf(`${type}, ${sighash}, ${layout}, ${who}`, { type, sighash, layout, roles, tail }),
          );
        }
      }
    }
  return kinds;
}

/** Whether the payout of an item has the same index as the item's input. */
const bindsPayout = (layout: Layout): boolean => layout !== 'ord-offer' && layout !== 'all-signed';

function kindOf(
  name: string,
  made: Pick<LabelledKind, 'type' | 'sighash' | 'layout' | 'roles' | 'tail'>,
): LabelledKind {
  const items = made.layout === 'bulk' ? 2 : 1;
  return { name, items, ...made, label: labelOf(made, items) };
}

type Made = Pick<LabelledKind, 'type' | 'sighash' | 'layout' | 'roles' | 'tail'>;

const bindsOne = (sighash: Sighash): boolean => sighashes[sighash] % 0x80 === sighashes.SINGLE;
const bindsNone = (sighash: Sighash): boolean => sighashes[sighash] % 0x80 === sighashes.NONE;
const isListing = (sighash: Sighash): boolean => sighash === 'ALL|ANYONECANPAY';

/** The label that a purchase gets from its maker. */
function labelOf(made: Made, items: number): LabelledKind['label'] {
  const { sighash, layout, roles } = made;
  const isPaidThere = bindsPayout(layout);
  // the holder's signature binds no payment, so nothing is owed
  if (bindsNone(sighash) || (bindsOne(sighash) && !isPaidThere)) return null;
  // the coins of one address return to that address, so they are change
  if (roles.payer !== 'buyer' && roles.payee === 'seller') return null;
  const isBound = isPaidThere && (bindsOne(sighash) || isListing(sighash));
  return isBound || showsPayment(layout, roles) ? rowOf(made, items) : 'unseen';
}

function rowOf({ type, sighash, layout, roles, tail }: Made, items: number): SaleLabel {
  const isPair = bindsOne(sighash);
  // if everything is signed, and the holder is paid for all items together, the row is one offer
  const isTogether = !isPair && roles.payee === 'seller';
  const maker = isShared(type) ? roles.payee : 'seller';
  const payout = payoutOf({ sighash, layout });
  return {
    class: isPair || isListing(sighash) ? 'sale' : 'offer',
    price,
    payout,
    maker: scriptOfParty(type, maker),
    taker: scriptOfParty(type, roles.taker),
    bundle: isTogether ? items : 1,
    wash: roles.taker === 'seller' || roles.payer !== 'buyer',
    fee: isPair && hasFee(tail) ? feeOutputOf(layout) : null,
  };
}

/** Whether the coins show a payment that no signature alone binds. */
function showsPayment(layout: Layout, { payee, taker, payer }: Roles): boolean {
  return payee === 'seller' && (taker === payer || (layout !== 'pair' && layout !== 'all-signed'));
}

function feeOutputOf(layout: Layout): number | null {
  if (layout === 'two-dummies') return 3;
  return layout === 'bulk' ? 5 : null;
}

const scriptOfParty = (type: AddressType, party: keyof typeof parties): string =>
  party === 'seller' ? hexOf(parties.seller, type) : hexOf(parties[party]);

/** Makes the transaction of a kind. */
export function purchaseOf(kind: LabelledKind, purse: Purse): RegtestTransaction {
  const { type, layout, roles, sighash } = kind;
  const code = sighashes[sighash];
  const items = purse.items.map((coin) => ({ ...coin, sighash: code }));
  const to = (role: keyof typeof parties): Pick<NewOutput, 'to' | 'type'> =>
    role === 'seller' ? { to: parties.seller, type } : { to: parties[role] };
  const payouts = items.map(() => ({ value: payoutOf(kind), ...to(roles.payee) }));
  const [inputs, before] = laidOut(layout, { ...purse, items }, { payouts, ...rolesTo(roles, to) });
  const spent = inputs.reduce((sum, { value }) => sum + value, 0);
  const behind = layout === 'two-dummies' || layout === 'bulk' ? tailOf(kind.tail) : [];
  const paid = [...before, ...behind].reduce((sum, { value }) => sum + value, 0);
  // the change goes to a new address, unless only a fee comes before it
  const owner = kind.tail === 'fee' ? to(roles.payer) : { to: parties.change };
  const rest = spent - paid - 1_000;
  const isLittle = kind.tail === 'little change at a new address' && layout !== 'all-signed';
  const change = { value: isLittle ? littleSats : rest, ...owner };
  if (layout !== 'all-signed') return transaction(inputs, [...before, ...behind, change]);
  // the item's output comes after all other sats
  const [payout, item] = before;
  return transaction(inputs, [payout!, change, item!]);
}

/**
 * The value of the payout. It excludes the item's sats only in openordex with a signature for one output, because such
 * a listing gives them away.
 */
const payoutOf = ({ layout, sighash }: Pick<LabelledKind, 'layout' | 'sighash'>): number =>
  layout === 'openordex' && bindsOne(sighash) ? price : price + itemSats;

interface Outputs {
  readonly payouts: readonly NewOutput[];
  /** Receivers of the item and of the dummies. */
  readonly taker: Pick<NewOutput, 'to' | 'type'>;
  readonly payer: Pick<NewOutput, 'to' | 'type'>;
}

const rolesTo = (
  { taker, payer }: Roles,
  to: (role: keyof typeof parties) => Pick<NewOutput, 'to' | 'type'>,
): Pick<Outputs, 'taker' | 'payer'> => ({ taker: to(taker), payer: to(payer) });

/** The inputs of a layout, and its outputs up to and including the payouts. */
function laidOut(
  layout: Layout,
  { items, dummies, shift, money }: Purse,
  { payouts, taker, payer }: Outputs,
): [Coin[], NewOutput[]] {
  const item = { value: itemSats, ...taker };
  const count = items.length;
  switch (layout) {
    case 'openordex':
      return [
        [dummies[0]!, ...items, money],
        [{ ...item, value: dummySats + itemSats }, ...payouts],
      ];
    case 'two-dummies':
    case 'bulk':
      return [
        [...dummies.slice(0, count + 1), ...items, money],
        [{ value: (count + 1) * dummySats, ...payer }, ...items.map(() => item), ...payouts],
      ];
    case 'pair':
      return [
        [shift, dummies[0]!, ...items, money],
        [{ value: shiftSats + dummySats, ...payer }, item, ...payouts],
      ];
    case 'ord-offer':
      return [
        [...items, money],
        [item, ...payouts],
      ];
    case 'all-signed':
      return [
        [money, ...items],
        [...payouts, item],
      ];
  }
}

/** The payments between the payouts and the change. */
function tailOf(tail: Tail): NewOutput[] {
  const dummy = { value: dummySats, to: parties.change };
  return [
    ...(hasFee(tail) ? [{ value: feeSats, to: parties.platform }] : []),
    ...(tail.includes('dummies') ? [dummy, dummy] : []),
  ];
}

const hasFee = (tail: Tail): boolean => tail.startsWith('fee');
