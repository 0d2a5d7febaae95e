import { insertKey, listKeys, revokeKeys, type StoredKey, type WhichKeys } from '#accounts/account.store.ts';
import { apiKeyHash, newApiKey, type Scope, scopes } from '#accounts/api-key.ts';
import { feeMax, parseDiscounts, reservedMaxMost, termsInWords } from '#accounts/key-terms.ts';
import { burstMax, parseRate, type Rate, rateInWords } from '#accounts/rate.ts';
import { type UsageLine, usageSince } from '#accounts/usage.store.ts';
import type { Discount, KeyTerms } from '#kernel/contracts/asking-key.ts';
import { type Command, type CommandContext, UsageError, wrongSubcommand } from '#src/app/command-context.ts';
import { ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag, shownTime, withService } from '#src/commands/service-database.ts';

/**
 * Default rate of a key: ten requests per second. A person or a page needs less, and a machine can serve a hundred
 * times as many.
 */
const rateDefault = '600';
const dayMs = 86_400_000;
const daysDefault = 30;
/** Maximum number of days: a hundred years, which includes all days. */
const daysMax = 36_500;

export const keysCommand: Command = {
  name: 'keys',
  object: null,
  operands: 'create|list|revoke',
  summary: 'create, list and revoke the keys of accounts',
  details: `Actions:

  create  creates a key and prints it on stdout. The key is shown only once, because the database stores
          only a hash.
  list    shows the first characters of keys, and how the keys were used.
  revoke  revokes the key of --key, or all keys of the account. With --scope, only keys that have this scope
          are revoked. Running processes notice this within 5 seconds.

No scope includes another scope, so name every scope that the key needs:

  search             searches, if SEARCH_ACCESS requires a key (docs/access.md)
  orders             uploads of files, and orders of collections without a solved challenge
                     (docs/orders-api.md)
  tokenpay           orders that are paid in runes, and the balance of the account (docs/tokenpay.md)
  tokenpay-withdraw  withdrawals of the account's sats and runes (docs/tokenpay.md, "Withdrawals")
  admin              changes of all collections

--base-fee is a price in sats. It replaces ORDER_BASE_FEE for a file of a managed order, and
TOKENPAY_BASE_FEE for a token order. 0 means no fee.

  satscribe keys create --account alice --rate 1200
  satscribe keys create --account shop --scope search,orders --rate 20/10
  satscribe keys create --account shop --scope orders --direct-base-fee 1500 --discount rareSatsFee:10%
  satscribe keys create --account shop --scope tokenpay --base-fee 0
  satscribe keys list --account alice
  satscribe keys revoke --account alice --key satscribe_0123abcd`,
  flags: [
    ownFlag('account', 'A', 'owner of the keys; list without it shows the keys of all accounts'),
    ownFlag('scope', 'LIST', `what the key may do: ${scopes.join(',')} (create, unset: search)`),
    ownFlag(
      'rate',
      'N[/S]',
      'create: at most N requests at once and in S seconds (default 60); 0: no limit',
      rateDefault,
    ),
    ownFlag(
      'base-fee',
      'SATS',
      'create: price of a file of a managed order, and of a token order (see below)',
    ),
    ownFlag(
      'direct-base-fee',
      'SATS',
      'create: price of a file of a direct order, instead of ORDER_BASE_FEE_DIRECT',
    ),
    ownFlag(
      'discount',
      'LIST',
      'create: discount on fees, as in baseFee:500,rareSatsFee:12.5% (sats, or a percentage)',
    ),
    ownFlag(
      'reserved-max',
      'N',
      'create: sats of the inventory that its unpaid orders may have, in place of ORDER_RESERVED_MAX',
    ),
    ownFlag('key', 'KEY', 'revoke: only this key, written in full or as list shows it'),
    ownFlag('days', 'N', 'list: number of days of usage to show', String(daysDefault)),
    jsonFlag,
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runKeys,
};

/** Flags of each action. They are added to the flags of all actions. */
const flagsOf: Readonly<Record<string, readonly string[]>> = {
  create: ['account', 'scope', 'rate', 'base-fee', 'direct-base-fee', 'discount', 'reserved-max', 'json'],
  list: ['account', 'days', 'json'],
  revoke: ['account', 'scope', 'key', 'json'],
};

async function runKeys(context: CommandContext): Promise<void> {
  const { flags, words } = context;
  const [action = '', extra] = words;
  const allowed = Object.hasOwn(flagsOf, action) ? flagsOf[action] : undefined;
  if (allowed === undefined) {
    throw wrongSubcommand(action, 'satscribe keys create, list or revoke');
  }
  if (extra !== undefined)
    throw new UsageError(`unexpected word ${extra}; satscribe keys --help shows the usage`);
  const wrong = Object.keys(flags).find((name) => !allowed.includes(name));
  if (wrong !== undefined) throw new UsageError(`--${wrong} is not a flag of satscribe keys ${action}`);
  if (action === 'create') return create(context);
  return action === 'list' ? list(context) : revoke(context);
}

async function create(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const terms = {
    account: accountOf(flags),
    scopes: scopesOf(flags) ?? ['search' as const],
    rate: rateOf(flags),
    terms: termsOf(flags),
  };
  await withService(context, async (pool) => {
    const { key, prefix, hash } = newApiKey();
    const stored = await insertKey(pool, { prefix, hash }, terms);
    if (flags['json'] !== undefined) {
      await print(`${JSON.stringify({ key, ...jsonOf(stored) })}\n`);
      return;
    }
    // print only the key to stdout, so that scripts can use the output directly
    const own = termsInWords(stored.terms);
    process.stderr.write(
      `key for ${stored.scopes.join(', ')}; requests: ${rateText(stored.rate)}; ${own === null ? '' : `${own}; `}the key is shown only once:\n`,
    );
    await print(`${key}\n`);
  });
}

async function list(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const account = flags['account'] ?? null;
  const days = wholeNumber(flags, 'days', daysMax) ?? daysDefault;
  await withService(context, async (pool) => {
    const keys = await listKeys(pool, account);
    const since = new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10);
    const usage = await usageSince(
      pool,
      keys.map(({ id }) => id),
      since,
    );
    const withUsage = keys.map((key) => ({ key, usage: usage.filter(({ keyId }) => keyId === key.id) }));
    await print(
      flags['json'] === undefined
        ? withUsage.map(({ key, usage: of }) => keyText(key, of, days)).join('')
        : `${JSON.stringify(withUsage.map(({ key, usage: of }) => ({ ...jsonOf(key), usage: of.map(usageJson) })))}\n`,
    );
  });
}

async function revoke(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const which: WhichKeys = { account: accountOf(flags), scopes: scopesOf(flags) ?? [], key: keyOf(flags) };
  await withService(context, async (pool) => {
    const revoked = await revokeKeys(pool, which);
    if (flags['json'] !== undefined) await print(`${JSON.stringify(revoked.map(jsonOf))}\n`);
    else if (revoked.length === 0) await print('nothing to revoke\n');
    else await print(revoked.map(({ prefix }) => `revoked ${prefix}\n`).join(''));
  });
}

type Flags = CommandContext['flags'];

function accountOf(flags: Flags): string {
  const { account } = flags;
  if (account === undefined || account === '')
    throw new UsageError('missing account; name it with --account NAME');
  return account;
}

function scopesOf(flags: Flags): Scope[] | null {
  const text = flags['scope'];
  if (text === undefined) return null;
  const named = new Set(text.split(',').map((name) => name.trim()));
  const known = scopes.filter((scope) => named.delete(scope));
  const [unknown] = named;
  if (unknown !== undefined)
    throw new UsageError(`--scope ${unknown} is not a scope; scopes are ${scopes.join(', ')}`);
  return known;
}

function rateOf(flags: Flags): Rate | null {
  const text = flags['rate'] ?? rateDefault;
  const read = parseRate(text);
  if (read === null) {
    throw new UsageError(
      `--rate ${text} must be N or N/S, with N from 0 to ${burstMax} and S from 1 to 86400 seconds`,
    );
  }
  return read.rate;
}

function termsOf(flags: Flags): KeyTerms {
  return {
    baseFee: wholeNumber(flags, 'base-fee', feeMax, 0),
    directBaseFee: wholeNumber(flags, 'direct-base-fee', feeMax, 0),
    discounts: discountsOf(flags),
    reservedMax: wholeNumber(flags, 'reserved-max', reservedMaxMost),
  };
}

function discountsOf(flags: Flags): readonly Discount[] {
  const text = flags['discount'];
  if (text === undefined) return [];
  const read = parseDiscounts(text);
  if (read.kind === 'refused') throw new UsageError(`--discount ${read.reason}`);
  return read.discounts;
}

function rateText(rate: Rate | null): string {
  return rate === null ? 'no limit' : rateInWords(rate);
}

function keyOf(flags: Flags): WhichKeys['key'] {
  const text = flags['key'];
  if (text === undefined) return null;
  const [, prefix] = /^(satscribe_[0-9a-f]{8})…?$/u.exec(text) ?? [];
  if (prefix !== undefined) return { prefix };
  const hash = apiKeyHash(text);
  // the message does not quote the value, because it may be a mistyped key
  if (hash === null)
    throw new UsageError('--key is not a key; write it in full, or in the form that list shows');
  return { hash };
}

function wholeNumber(flags: Flags, name: string, maximum: number, least = 1): number | null {
  const text = flags[name];
  if (text === undefined) return null;
  const value = /^\d{1,9}$/u.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= maximum) return value;
  throw new UsageError(`--${name} ${text} must be a whole number from ${least} to ${maximum}`);
}

function jsonOf({ id: _id, terms, ...key }: StoredKey): Omit<StoredKey, 'id' | 'terms'> & KeyTerms {
  return { ...key, ...terms };
}

function usageJson({ keyId: _keyId, ...line }: UsageLine): Omit<UsageLine, 'keyId'> {
  return line;
}

function keyText(key: StoredKey, usage: readonly UsageLine[], days: number): string {
  const times = [
    `created ${shownTime(key.createdAt)}`,
    key.lastUsedAt === null ? 'never used' : `last used ${shownTime(key.lastUsedAt)}`,
    ...(key.revokedAt === null ? [] : [`revoked ${shownTime(key.revokedAt)}`]),
  ];
  const head = `${key.prefix}…  ${key.account}  ${key.scopes.join(',')}  ${rateText(key.rate)}  ${times.join('  ')}\n`;
  const own = termsInWords(key.terms);
  const terms = own === null ? '' : `  ${own}\n`;
  const total = usage.reduce((sum, { requests }) => sum + requests, 0);
  const lines = usage.map(
    ({ day, endpoints, requests, refused }) =>
      `  ${day}  ${endpoints}  ${requests}${refused === 0 ? '' : `  refused ${refused}`}\n`,
  );
  return `${head}${terms}  requests in ${days} days: ${total}\n${lines.join('')}`;
}
