import { displayHash } from '#kernel/primitives/hash.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { exactNumber } from '#kernel/text/exact-number.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import type { TokenBalance } from '#purse/ledger/token-balances.queries.ts';
import { type Credit, inChainOrder } from '#tokenpay/crediting/credit.ts';
import type { Charge, TokenOrder, TokenRune } from '#tokenpay/order/token-order.ts';

/** The protocols of tokens. The protocol bitcoin has one token, BTC. */
export const tokenProtocols = ['bitcoin', 'rune'] as const;

/**
 * The name of sats as a token. Amounts of this token are in bitcoins in balances, and in sats in charges
 * (capability-notes 6.2).
 */
export const bitcoinToken = 'BTC' as const;

/**
 * The names of runes, by asset. If a name was etched again after a reorganisation, two runes have the same name. The
 * rune of the order keeps the name unchanged, or else the rune that was known first. For the other rune, the etching is
 * added to the name.
 *
 * @param own rune of the paid order, or null if the runes do not belong to a single order
 */
export function tokenNames(
  assets: readonly number[],
  runes: ReadonlyMap<number, TokenRune>,
  own: TokenRune | null,
): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const taken = new Set<string>();
  const others = [...new Set(assets)].toSorted((one, other) => one - other).map((asset) => runes.get(asset));
  for (const rune of [own ?? undefined, ...others]) {
    if (rune === undefined || names.has(rune.asset)) continue;
    names.set(rune.asset, taken.has(rune.name) ? nameWithEtching(rune) : rune.name);
    taken.add(rune.name);
  }
  return names;
}

/** A rune's name with its etching, for a name that another transaction has etched, too. */
export const nameWithEtching = ({ name, etching }: TokenRune): string =>
  `${name} (etching ${displayHash(etching)})`;

/** An order with its payments, in the form of responses and webhooks (client-compat 3.14). */
export function tokenOrderAnswer(
  order: TokenOrder,
  credits: readonly Credit[],
  runes: ReadonlyMap<number, TokenRune>,
) {
  const { id, createdAt, account, charges, webhookUrl, successUrl, state, description, rune } = order;
  const names = tokenNames(assetsOf(credits), runes, rune);
  return {
    id,
    createdAt: createdAt.getTime(),
    accountId: account,
    feeCharge: {
      amount: Number(charges.fee.amount),
      token: bitcoinToken,
      ...chargeFields(order, charges.fee),
      protocol: 'bitcoin' as const,
      additionalFee: Number(order.additionalFee),
    },
    tokenCharge: {
      ...displayed(charges.token.amount, rune.divisibility),
      token: rune.name,
      ...chargeFields(order, charges.token),
      protocol: 'rune' as const,
      additionalFee: 0,
    },
    webhookUrl,
    successUrl,
    state,
    description,
    expiresAt: order.expiresAt.getTime(),
    received: inChainOrder(credits).map((credit) => receivedAnswer(credit, runes, names)),
  };
}

const chargeFields = ({ createdAt }: TokenOrder, { address, state, txid }: Charge) => ({
  address,
  state,
  txid: txid === null ? null : displayHash(txid),
  createdAt: createdAt.getTime(),
});

/** An amount of a token in two forms: as an exact number in display units, however long, and in base units. */
export const displayed = (amount: bigint, divisibility: number) => ({
  amount: exactNumber(signed(amount, (units) => shownAmount(trustedU128(units), divisibility))),
  amountBase: String(amount),
});

/** The text of an amount that may be negative. */
const signed = (amount: bigint, shown: (units: bigint) => string): string =>
  amount < 0n ? `-${shown(-amount)}` : shown(amount);

/** A confirmed output at an address of the order, and the units that were credited to the order's account. */
function receivedAnswer(
  { txid, vout, charge, block, sats, runes: held, aside }: Credit,
  runes: ReadonlyMap<number, TokenRune>,
  names: ReadonlyMap<number, string>,
): object {
  return {
    txid: displayHash(txid),
    vout,
    charge,
    height: block.height,
    sats: Number(sats),
    tokens: held.map(({ asset, amount }) => ({
      token: names.get(asset) ?? String(asset),
      protocol: 'rune',
      ...displayed(amount, runes.get(asset)?.divisibility ?? 0),
    })),
    isAside: aside !== null,
  };
}

/** The assets of the runes in credits. An asset may be listed more than once. */
export const assetsOf = (credits: readonly Pick<Credit, 'runes'>[]): number[] =>
  credits.flatMap(({ runes }) => runes.map(({ asset }) => asset));

/** Number of decimals of BTC amounts in balances. */
export const coinDecimals = 8;

/**
 * Balances by protocol and token, in display units (interface 2.8). Each balance also has the units that withdrawals
 * reserve, and the units that can be withdrawn. All amounts are also in base units.
 */
export function balanceAnswer(
  balances: readonly TokenBalance[],
  runes: ReadonlyMap<number, TokenRune>,
): object {
  const names = tokenNames(
    balances.map(({ asset }) => asset),
    runes,
    null,
  );
  const of = balances.map(({ asset, amount, reserved }) => {
    const isBitcoin = asset === satsAsset;
    const decimals = isBitcoin ? coinDecimals : (runes.get(asset)?.divisibility ?? 0);
    return {
      protocol: isBitcoin ? 'bitcoin' : 'rune',
      token: isBitcoin ? bitcoinToken : (names.get(asset) ?? String(asset)),
      held: displayed(amount, decimals),
      reserved: displayed(reserved, decimals),
      available: displayed(amount - reserved, decimals),
    };
  });
  const by = <Value>(value: (one: (typeof of)[number]) => Value) =>
    Object.fromEntries(
      tokenProtocols.map((protocol) => [
        protocol,
        Object.fromEntries(
          of.filter((one) => one.protocol === protocol).map((one) => [one.token, value(one)]),
        ),
      ]),
    );
  return {
    ...by(({ held }) => held.amount),
    amountBase: by(({ held }) => held.amountBase),
    reserved: by(({ reserved }) => reserved.amount),
    reservedBase: by(({ reserved }) => reserved.amountBase),
    available: by(({ available }) => available.amount),
    availableBase: by(({ available }) => available.amountBase),
  };
}
