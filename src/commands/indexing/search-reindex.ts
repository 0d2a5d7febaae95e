import { AppError } from '#kernel/errors/app-error.ts';
import type { Command, CommandContext } from '#src/app/command-context.ts';
import { settingFlag } from '#src/commands/flags.ts';

export const searchReindexCommand: Command = {
  name: 'search',
  object: 'reindex',
  summary: 'rebuild the Elasticsearch index, while the old index still answers searches',
  details: `Reads everything from Postgres, catches up with new blocks, switches searches to the new index in one step,
and deletes the old index. After an interruption, the next run continues where this run stopped. The command
may run beside everything else, and needs ELASTICSEARCH_URL. Progress goes to stderr, and a JSON summary to
stdout.

  ELASTICSEARCH_URL=http://127.0.0.1:9200 satscribe search reindex --data ./data`,
  flags: [settingFlag('dataDir', 'DIR'), settingFlag('logLevel', 'LEVEL', 'warn')],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runReindex,
};

async function runReindex(context: CommandContext): Promise<void> {
  if (context.config.elasticsearchUrl === undefined) {
    throw new AppError(
      'config_invalid',
      'ELASTICSEARCH_URL is not set, so there is no server to build an index in.',
    );
  }
  const [{ isAnythingIndexed, networkOf, openDatabase }, { reindexSearch }] = await Promise.all([
    import('#src/app/database/database.ts'),
    import('#src/app/searching/search.ts'),
  ]);
  const database = await openDatabase(context, 'existing');
  const network = await networkOf(database);
  if (network === null || !(await isAnythingIndexed(database))) {
    throw new AppError('nothing_indexed', 'There is nothing to search, because no block is indexed.');
  }
  const summary = await reindexSearch(context, database, network);
  await context.print(`${JSON.stringify(summary)}\n`);
}
