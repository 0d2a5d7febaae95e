import { requireAccount } from '#accounts/account.store.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { shownTime, withService } from '#src/commands/service-database.ts';
import { type ListedBalances, listTokenBalances } from '#tokenpay/operator/listed-balances.ts';
import {
  type ListedCredit,
  type ListedOrder,
  type ListedOrders,
  listTokenOrders,
} from '#tokenpay/operator/listed-orders.ts';
import { tokenOrderStates } from '#tokenpay/order/charge-state.ts';
import { type ChargeKind, chargeKinds, type TokenRune } from '#tokenpay/order/token-order.ts';
import { assetsOf, bitcoinToken, displayed, tokenNames } from '#tokenpay/telling/token-order-answer.ts';

const limitDefault = 50;
const limitMost = 10_000;
/** Number of decimals of an amount in BTC. */
const coinDecimals = 8;

/** Lists orders of shops, the newest first. */
export async function orders(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const limit = Number(flags['limit'] ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMost)
    throw new UsageError(`--limit must be a number from 1 to ${limitMost}`);
  const state = tokenOrderStates.find((name) => name === flags['state']) ?? null;
  if (flags['state'] !== undefined && state === null)
    throw new UsageError(`--state ${flags['state']} must be one of ${tokenOrderStates.join(', ')}`);
  const wanted = {
    state,
    account: flags['account'] ?? null,
    withAside: flags['aside'] !== undefined,
    limit,
  };
  await withService(context, async (pool) => {
    if (wanted.account !== null) await requireAccount(pool, wanted.account);
    const listed = await listTokenOrders(pool, wanted);
    if (flags['json'] !== undefined)
      return print(
        `${JSON.stringify(listed.orders.map((each) => orderJson(each, tokensOfOrder(each, listed))))}\n`,
      );
    if (listed.orders.length === 0)
      return print('no such orders; shops make orders with POST /tokenpay/user/order/rune\n');
    await print(listed.orders.map((each) => orderText(each, tokensOfOrder(each, listed))).join(''));
  });
}

/** Returns the token that has a number. */
type Tokens = (asset: number) => Pick<TokenRune, 'name' | 'divisibility'>;

/** The tokens of one order or account. No two tokens have the same name. */
function tokensOf(
  assets: readonly number[],
  { runes }: Pick<ListedOrders, 'runes'>,
  own: TokenRune | null,
): Tokens {
  const names = tokenNames(assets, runes, own);
  return (asset) =>
    asset === satsAsset
      ? { name: bitcoinToken, divisibility: coinDecimals }
      : { name: names.get(asset) ?? String(asset), divisibility: runes.get(asset)?.divisibility ?? 0 };
}

const tokensOfOrder = ({ order, credits }: ListedOrder, listed: Pick<ListedOrders, 'runes'>): Tokens =>
  tokensOf(assetsOf(credits), listed, order.rune);

const missingOf = ({ order, credited }: ListedOrder, kind: ChargeKind): bigint => {
  const left = order.charges[kind].amount - credited[kind];
  return left > 0n ? left : 0n;
};

function orderJson(listed: ListedOrder, tokens: Tokens): object {
  const { order, credited, credits } = listed;
  const chargeJson = (kind: ChargeKind): object => {
    const { amount, address, state, txid } = order.charges[kind];
    const shown = (units: bigint): object =>
      kind === 'fee' ? { sats: Number(units) } : displayed(units, order.rune.divisibility);
    return {
      ...shown(amount),
      credited: shown(credited[kind]),
      missing: shown(missingOf(listed, kind)),
      state,
      address,
      txid: txid === null ? null : displayHash(txid),
    };
  };
  return {
    id: order.id,
    account: order.account,
    createdAt: order.createdAt,
    expiresAt: order.expiresAt,
    state: order.state,
    token: order.rune.name,
    charges: { fee: chargeJson('fee'), token: chargeJson('token') },
    received: credits.map(({ charge, block, sats, runes: held, aside, decision, ...coin }) => ({
      output: outpointOf(coin),
      charge,
      height: block.height,
      sats: Number(sats),
      tokens: held.map(({ asset, amount }) => {
        const { name, divisibility } = tokens(asset);
        return { token: name, ...displayed(amount, divisibility) };
      }),
      aside,
      decision:
        decision === null
          ? null
          : {
              kind: decision.kind,
              by: decision.decidedBy,
              at: decision.decidedAt,
              reason: decision.reason,
              found: decision.found,
            },
    })),
  };
}

function orderText(listed: ListedOrder, tokens: Tokens): string {
  const { order, credited, credits } = listed;
  const charge = (kind: ChargeKind): string => {
    const { amount, state, address } = order.charges[kind];
    const shown = (units: bigint): string =>
      kind === 'fee'
        ? `${units} sats`
        : `${shownAmount(trustedU128(units), order.rune.divisibility)} ${order.rune.name}`;
    const missing = missingOf(listed, kind);
    const left = missing === 0n ? '' : `, ${shown(missing)} missing`;
    return `  ${kind.padEnd(5)} ${state.padEnd(15)} ${shown(credited[kind])} of ${shown(amount)}${left}\n        ${address}\n`;
  };
  const head = `${shownTime(order.createdAt)} ${order.state.padEnd(9)} ${terminalText(order.account)}\n  ${order.id}\n`;
  return `${head}${chargeKinds.map(charge).join('')}${credits.map((each) => creditText(each, tokens)).join('')}`;
}

function creditText(credit: ListedCredit, tokens: Tokens): string {
  const { charge, block, sats, runes: held, aside, decision } = credit;
  const came = held.map(({ asset, amount }) => {
    const { name, divisibility } = tokens(asset);
    return `, ${shownAmount(trustedU128(amount), divisibility)} ${name}`;
  });
  const became = aside === null ? 'credited' : `set aside: ${aside}`;
  const decided =
    decision === null
      ? ''
      : `    ${decision.kind} by ${terminalText(decision.decidedBy)}, ${shownTime(decision.decidedAt)}: ${terminalText(decision.reason)}\n`;
  return `    ${outpointOf(credit)}\n    at ${charge}, block ${block.height}: ${sats} sats${came.join('')}; ${became}\n${decided}`;
}

/** Shows the balances of accounts, and the outputs that were set aside for them. */
export async function balances(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const account = flags['account'] ?? null;
  await withService(context, async (pool) => {
    if (account !== null) await requireAccount(pool, account);
    const listed = await listTokenBalances(pool, account);
    if (flags['json'] !== undefined) return print(`${JSON.stringify(balancesJson(listed))}\n`);
    if (listed.balances.length === 0)
      return print(
        `${account === null ? 'no account holds' : `the account ${terminalText(account)} holds`} ${account === null ? 'anything' : 'nothing'}; payments of shops' orders are credited once they have TOKENPAY_CONFIRMATIONS confirmations\n`,
      );
    await print(
      `${balanceLine(['ACCOUNT', 'AMOUNT', 'RESERVED', 'SET ASIDE', 'TOKEN'])}${linesOf(listed).join('')}`,
    );
  });
}

/** Adds to each balance its token, with the name that its account sees. */
function namedBalances(listed: ListedBalances) {
  const byAccount = Map.groupBy(listed.balances, ({ account }) => account);
  return [...byAccount.values()].flatMap((of) => {
    const tokens = tokensOf(
      of.map(({ asset }) => asset),
      listed,
      null,
    );
    return of.map(({ asset, ...held }) => ({ ...held, ...tokens(asset) }));
  });
}

const balancesJson = (listed: ListedBalances): object[] =>
  namedBalances(listed).map(({ account, amount, reserved, aside, name, divisibility }) => ({
    account,
    token: name,
    ...displayed(amount, divisibility),
    reserved: displayed(reserved, divisibility),
    available: displayed(amount - reserved, divisibility),
    aside: displayed(aside, divisibility),
  }));

const linesOf = (listed: ListedBalances): string[] =>
  namedBalances(listed).map(({ account, amount, reserved, aside, name, divisibility }) => {
    const shown = (units: bigint): string =>
      `${units < 0n ? '-' : ''}${shownAmount(trustedU128(units < 0n ? -units : units), divisibility)}`;
    return balanceLine([terminalText(account), shown(amount), shown(reserved), shown(aside), name]);
  });

const balanceLine = ([
  account = '',
  amount = '',
  reserved = '',
  aside = '',
  token = '',
]: readonly string[]): string =>
  `${account.padEnd(16)} ${amount.padStart(22)} ${reserved.padStart(18)} ${aside.padStart(18)}  ${token}\n`;
