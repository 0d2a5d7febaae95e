import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import { type Command, type CommandContext, UsageError, wrongSubcommand } from '#src/app/command-context.ts';
import { ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag, shownTime, withService } from '#src/commands/service-database.ts';
import { replaceKeys } from '#webhooks/key.store.ts';
import { replayWebhooks } from '#webhooks/outbox.ts';
import { type WebhookState, webhookStates } from '#webhooks/webhook.ts';
import { shownPublicKey } from '#webhooks/webhook-keys.ts';
import { listDeliveries, type WebhookDelivery } from '#webhooks/webhooks.queries.ts';

const limitDefault = 100;
const limitMax = 100_000;

export const webhooksCommand: Command = {
  name: 'webhooks',
  object: null,
  operands: 'list|replay|rekey',
  summary: 'list webhook messages, or send them again',
  details: `Actions:

  list    shows messages, the newest first, with the number of attempts and the time of the next attempt.
  replay  sends the messages of a subject again, from a sequence number on, in the same order and with the
          same ids. It also sends to a URL that answered 410.
  rekey   lets the services of this database sign with the present secret if the earlier secret is lost.
          Receivers must then take the new key from /webhooks/keys (docs/webhooks.md).

  satscribe webhooks list --state waiting
  satscribe webhooks list --subject "order 6ba7b810-9dad-41d1-80b4-00c04fd430c8" --json
  satscribe webhooks replay --subject "order 6ba7b810-9dad-41d1-80b4-00c04fd430c8" --from 3`,
  flags: [
    ownFlag('subject', 'TEXT', 'subject of the messages, as "order ID"; required for replay'),
    ownFlag('state', 'STATE', `list: one of ${webhookStates.join(', ')}`),
    ownFlag('limit', 'N', 'list: maximum number of messages', String(limitDefault)),
    ownFlag('from', 'N', 'replay: sequence number of the first message', '1'),
    jsonFlag,
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runWebhooks,
};

const actions: Readonly<
  Record<
    string,
    { readonly flags: readonly string[]; readonly run: (context: CommandContext) => Promise<void> }
  >
> = {
  list: { flags: ['subject', 'state', 'limit', 'json'], run: list },
  replay: { flags: ['subject', 'from', 'json'], run: replay },
  rekey: { flags: ['json'], run: rekey },
};

async function runWebhooks(context: CommandContext): Promise<void> {
  const { flags, words } = context;
  const [action = '', extra] = words;
  const found = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (found === undefined) throw wrongSubcommand(action, 'satscribe webhooks list, replay or rekey');
  if (extra !== undefined)
    throw new UsageError(`unexpected word ${extra}; satscribe webhooks --help shows the usage`);
  const wrong = Object.keys(flags).find((name) => !found.flags.includes(name));
  if (wrong !== undefined) throw new UsageError(`--${wrong} is not a flag of satscribe webhooks ${action}`);
  await found.run(context);
}

async function list(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const state = flags['state'];
  if (state !== undefined && !isState(state))
    throw new UsageError(`--state ${state} must be one of ${webhookStates.join(', ')}`);
  const which = { subject: flags['subject'], state, limit: numberOf(flags, 'limit', limitDefault, limitMax) };
  await withService(context, async (pool) => {
    const listed = await listDeliveries(pool, which);
    if (flags['json'] !== undefined) await print(`${JSON.stringify(listed)}\n`);
    else await print(listed.map(listedText).join(''));
  });
}

async function replay(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const { subject } = flags;
  if (subject === undefined)
    throw new UsageError('missing subject; use satscribe webhooks replay --subject "order ID" [--from N]');
  const from = numberOf(flags, 'from', 1, Number.MAX_SAFE_INTEGER);
  await withService(context, async (pool) => {
    const replayed = await withTransaction(pool, (tx) => replayWebhooks(tx, subject, from));
    if (replayed === 0) {
      const message = `There is no message of "${subject}" that has a URL and the sequence number ${from} or higher.`;
      throw new AppError('webhooks_unknown', message, { subject, from });
    }
    if (flags['json'] !== undefined) await print(`${JSON.stringify({ subject, from, replayed })}\n`);
    else await print(`${replayed} message${replayed === 1 ? '' : 's'} will be sent again\n`);
  });
}

async function rekey(context: CommandContext): Promise<void> {
  const { flags, config, print } = context;
  const { openWebhookKeys } = await import('#src/app/ordering/webhooks.ts');
  const { publicKeys } = await openWebhookKeys(config);
  await withService(context, async (pool) => {
    await withTransaction(pool, (tx) => replaceKeys(tx, publicKeys));
    const keys = publicKeys.map(shownPublicKey);
    if (flags['json'] !== undefined) await print(`${JSON.stringify({ keys })}\n`);
    else await print(`webhooks are signed with ${keys.join(' and ')}\n`);
  });
}

const isState = (text: string): text is WebhookState => (webhookStates as readonly string[]).includes(text);

function numberOf(flags: CommandContext['flags'], name: string, fallback: number, max: number): number {
  const text = flags[name];
  if (text === undefined) return fallback;
  const number = Number(text);
  if (/^\d{1,16}$/u.test(text) && number >= 1 && number <= max) return number;
  throw new UsageError(`--${name} ${text} must be an integer from 1 to ${max}`);
}

function listedText(delivery: WebhookDelivery): string {
  const { subject, sequence, createdAt, state, tries, status, error, nextTryAt, url, id } = delivery;
  const last = tries === 0 ? '' : `, last ${status ?? terminalText(error ?? '')}`;
  const next = nextTryAt === null ? '' : `, next ${shownTime(nextTryAt)}`;
  const tried = `${tries} ${tries === 1 ? 'try' : 'tries'}${last}${next}`;
  return `${terminalText(subject)} #${sequence}  ${shownTime(createdAt)}  ${state}  ${tried}  ${id}  ${terminalText(url ?? '-')}\n`;
}
