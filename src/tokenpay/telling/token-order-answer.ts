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

/** Balances by protocol and token, in display units, and the same in base units (interface 2.8). */
export function balanceAnswer(
  balances: readonly { readonly asset: number; readonly amount: bigint }[],
  runes: ReadonlyMap<number, TokenRune>,
): object {
  const of = balances.map(({ asset, amount }) => {
    const rune = runes.get(asset);
    if (asset === satsAsset)
      return { protocol: 'bitcoin', token: bitcoinToken, ...displayed(amount, coinDecimals) };
    return {
      protocol: 'rune',
      token: rune?.name ?? String(asset),
      ...displayed(amount, rune?.divisibility ?? 0),
    };
  });
  return Object.fromEntries(
    tokenProtocols.map((protocol) => [
      protocol,
      Object.fromEntries(
        of.filter((one) => one.protocol === protocol).map(({ token, amount }) => [token, amount]),
      ),
    ]),
  );
}
