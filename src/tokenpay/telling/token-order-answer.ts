import { displayHash } from '#kernel/primitives/hash.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { exactNumber } from '#kernel/text/exact-number.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { type Credit, inChainOrder } from '#tokenpay/crediting/credit.ts';
import type { Charge, TokenOrder, TokenRune } from '#tokenpay/order/token-order.ts';

/** The protocols of tokens: bitcoin has one, BTC. */
const tokenProtocols = ['bitcoin', 'rune'] as const;

/** The name of sats as a token. Amounts of it are coins in balances, and sats in charges (capability-notes 6.2). */
export const bitcoinToken = 'BTC';

/** An order as answers and webhooks show it (client-compat 3.14), with what came for it. */
export function tokenOrderAnswer(
  order: TokenOrder,
  credits: readonly Credit[],
  runes: ReadonlyMap<number, TokenRune>,
): object {
  const { id, createdAt, account, charges, webhookUrl, successUrl, state, description, rune } = order;
  return {
    id,
    createdAt: createdAt.getTime(),
    accountId: account,
    feeCharge: {
      amount: Number(charges.fee.amount),
      token: bitcoinToken,
      ...chargeFields(order, charges.fee),
      protocol: 'bitcoin',
      additionalFee: Number(order.additionalFee),
    },
    tokenCharge: {
      ...displayed(charges.token.amount, rune.divisibility),
      token: rune.name,
      ...chargeFields(order, charges.token),
      protocol: 'rune',
      additionalFee: 0,
    },
    webhookUrl,
    successUrl,
    state,
    description,
    expiresAt: order.expiresAt.getTime(),
    received: inChainOrder(credits).map((credit) => receivedAnswer(credit, runes)),
  };
}

const chargeFields = ({ createdAt }: TokenOrder, { address, state, txid }: Charge) => ({
  address,
  state,
  txid: txid === null ? null : displayHash(txid),
  createdAt: createdAt.getTime(),
});

/** An amount of a token as a number in display units, however long, and in base units. */
export const displayed = (amount: bigint, divisibility: number) => ({
  amount: exactNumber(signed(amount, (units) => shownAmount(trustedU128(units), divisibility))),
  amountBase: String(amount),
});

/** The text of an amount that may be less than nothing. */
const signed = (amount: bigint, shown: (units: bigint) => string): string =>
  amount < 0n ? `-${shown(-amount)}` : shown(amount);

/** A confirmed output at an address of the order, and what its account was credited with. */
function receivedAnswer(
  { txid, vout, charge, block, sats, runes: held, aside }: Credit,
  runes: ReadonlyMap<number, TokenRune>,
): object {
  return {
    txid: displayHash(txid),
    vout,
    charge,
    height: block.height,
    sats: Number(sats),
    tokens: held.map(({ asset, amount }) => tokenAnswer(asset, amount, runes)),
    isAside: aside !== null,
  };
}

function tokenAnswer(asset: number, amount: bigint, runes: ReadonlyMap<number, TokenRune>): object {
  const rune = runes.get(asset);
  return {
    token: rune?.name ?? String(asset),
    protocol: 'rune',
    ...displayed(amount, rune?.divisibility ?? 0),
  };
}

/** Decimals of BTC in balances. */
const coinDecimals = 8;

/**
 * The names of runes in balances, by asset. A name that was etched again after a reorganisation is two runes: the one
 * that was known first has it, and the other also has its etching.
 */
function namesOf(
  assets: readonly number[],
  runes: ReadonlyMap<number, TokenRune>,
): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const taken = new Set<string>();
  for (const asset of assets.toSorted((one, other) => one - other)) {
    const rune = runes.get(asset);
    if (rune === undefined) continue;
    const { name, etching } = rune;
    names.set(asset, taken.has(name) ? `${name} (etching ${displayHash(etching)})` : name);
    taken.add(name);
  }
  return names;
}

/** Balances by protocol and token, in display units (interface 2.8), and in base units beside (`amountBase`). */
export function balanceAnswer(
  balances: readonly { readonly asset: number; readonly amount: bigint }[],
  runes: ReadonlyMap<number, TokenRune>,
): object {
  const names = namesOf(
    balances.map(({ asset }) => asset),
    runes,
  );
  const of = balances.map(({ asset, amount }) => {
    const rune = runes.get(asset);
    if (asset === satsAsset)
      return { protocol: 'bitcoin', token: bitcoinToken, ...displayed(amount, coinDecimals) };
    return {
      protocol: 'rune',
      token: names.get(asset) ?? String(asset),
      ...displayed(amount, rune?.divisibility ?? 0),
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
  return { ...by(({ amount }) => amount), amountBase: by(({ amountBase }) => amountBase) };
}
