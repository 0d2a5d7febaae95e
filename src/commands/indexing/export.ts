import type { ClientBase } from 'pg';
import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import { exportInscriptions } from '#chain/inscriptions/export-inscriptions.ts';
import { exportBalances } from '#chain/runes/export-balances.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { heightFlag, ownFlag, settingFlag } from '#src/commands/flags.ts';

export const exportCommand: Command = {
  name: 'export',
  object: 'inscriptions|balances',
  summary: 'write the indexed inscriptions or the balances of runes to stdout, as JSON',
  details: `  inscriptions  One line of JSON for each inscription, in the order of application. An unknown field is null
                (docs/schema.md).
  balances      The balance of each rune in every unspent output at the tip, exactly as \`ord balances\`
                prints it. Amounts go up to 2^128 - 1.

All data is from one moment, even while a service continues to index. Memory use does not grow with the
index.

  satscribe export inscriptions --from 767430 --to 767430 --data ./data/demo
  satscribe export balances`,
  flags: [
    ownFlag('from', 'HEIGHT', 'height of the first block of inscriptions; unset: the lowest'),
    ownFlag('to', 'HEIGHT', 'height of the last block of inscriptions; unset: the tip'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runExport,
};

async function runExport(context: CommandContext): Promise<void> {
  const from = heightFlag(context.flags, 'from');
  const to = heightFlag(context.flags, 'to');
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError(`--from ${from} is above --to ${to}`);
  }
  const isOfBalances = context.words[0] === 'balances';
  if (isOfBalances && (from ?? to) !== undefined) {
    throw new UsageError(
      '--from and --to are only for inscriptions, because balances are always those of the tip',
    );
  }
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const { isAnythingIndexed, openDatabase } = await import('#src/app/database/database.ts');
  const database = await openDatabase(context, 'existing');
  if (!(await isAnythingIndexed(database))) {
    throw new AppError('nothing_indexed', 'There is nothing to export, because no block is indexed.');
  }
  const { readers } = database;
  await context.lifecycle.run('export', (signal) =>
    withSnapshot(
      readers,
      async ({ client }) => {
        const pieces = isOfBalances ? await balancesOf(client) : exportInscriptions(client, range);
        for await (const text of pieces) {
          signal.throwIfAborted();
          await context.print(text, 'exact');
        }
      },
      signal,
    ),
  );
}

async function balancesOf(client: ClientBase): Promise<AsyncGenerator<string>> {
  await requireNotBehind(client, 'runes');
  const { state } = await runeStanding(client);
  const nothing = 'There is nothing to export, because ';
  if (state === 'absent')
    throw new AppError('runes_not_indexed', `${nothing}runes are not indexed (INDEX_RUNES).`);
  if (state === 'gap')
    throw new AppError('history_incomplete', `${nothing}blocks since the first rune height are missing.`);
  return exportBalances(client);
}
