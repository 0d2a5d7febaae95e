import { insertAccount, listAccounts } from '#accounts/account.store.ts';
import { type Command, type CommandContext, UsageError, wrongSubcommand } from '#src/app/command-context.ts';
import { settingFlag } from '#src/commands/flags.ts';
import { jsonFlag, shownTime, withService } from '#src/commands/service-database.ts';

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/u;

export const accountsCommand: Command = {
  name: 'accounts',
  object: null,
  operands: 'create|list [NAME]',
  actions: ['create', 'list'],
  summary: 'create and list accounts, the owners of keys',
  details: `A name has 1 to 64 letters, digits, dots, dashes, underscores and @. The command uses the database of a
running service, or starts the database of the data folder.

  satscribe accounts create alice
  satscribe accounts list --json`,
  flags: [jsonFlag, settingFlag('dataDir', 'DIR'), settingFlag('logLevel', 'LEVEL', 'warn')],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runAccounts,
};

async function runAccounts(context: CommandContext): Promise<void> {
  const [action, name, ...rest] = context.words;
  if (action === 'create') return create(context, onlyName([name, ...rest]));
  if (action === 'list' && name === undefined) return list(context);
  if (action === 'list') throw new UsageError('accounts list takes no name');
  throw wrongSubcommand(action, 'satscribe accounts create NAME, or satscribe accounts list');
}

function onlyName(words: readonly (string | undefined)[]): string {
  const [name, extra] = words;
  if (name === undefined || extra !== undefined) {
    throw new UsageError('missing name; use satscribe accounts create NAME');
  }
  if (!namePattern.test(name)) {
    throw new UsageError(
      `${name} is not a valid name: a name has 1 to 64 letters, digits, dots, dashes, underscores and @`,
    );
  }
  return name;
}

async function create(context: CommandContext, name: string): Promise<void> {
  await withService(context, async (pool) => {
    const { createdAt } = await insertAccount(pool, name);
    await context.print(
      context.flags['json'] === undefined
        ? `account ${name} was created\n`
        : `${JSON.stringify({ name, createdAt })}\n`,
    );
  });
}

async function list(context: CommandContext): Promise<void> {
  await withService(context, async (pool) => {
    const accounts = await listAccounts(pool);
    const lines = accounts.map(
      ({ name, createdAt, keys }) => `${name}  created ${shownTime(createdAt)}  keys ${keys}\n`,
    );
    await context.print(
      context.flags['json'] === undefined ? lines.join('') : `${JSON.stringify(accounts)}\n`,
    );
  });
}
